/** What a message with its parts says on its own, as drafts of messages. */
import {
  type Fields,
  fieldsOf,
  isObject,
  listOf,
  nonEmptyStringOf,
  numberOf,
  stringOf,
  toJsonText,
} from '../../lib/unknown-values.ts'
import { validCountOf, validExitCodeOf } from '../../model/checked-numbers.ts'
import { type Attachment, type Metadata, metadataFromSource } from '../../model/metadata.ts'
import type { Channel, MessageSegment, Mutable, ToolCall } from '../../model/normalized.ts'
import { cacheWrites, NO_USAGE, type Usage } from '../../model/usage.ts'
import { type MessageDraft, NO_SEGMENTS } from '../kit/place-message.ts'

/** Stands for a model, provider or agent that the source of a converted conversation does not name: OpenCode requires one. */
export const UNKNOWN = 'unknown'

export const knownName = (value: unknown): string | undefined => {
  const name = nonEmptyStringOf(value)
  return name === UNKNOWN ? undefined : name
}

export const infoOf = (record: Fields): Fields => fieldsOf(record['info']) ?? {}

export const partsOf = (record: Fields): readonly Fields[] => listOf(record['parts']).filter(isObject)

/** The session itself. */
export const isHeader = (record: Fields): boolean => 'info' in record && !('parts' in record)

export const isMessage = (record: Fields): boolean => 'parts' in record && 'info' in record

/** What was taken back but not deleted yet. It is part of the header. */
export const isRevert = (record: Fields): boolean => 'revert' in record

export const roleOf = (record: Fields): unknown => infoOf(record)['role']

/** While OpenCode works on an answer, its rows change. */
export function isOpen(record: Fields): boolean {
  if (roleOf(record) !== 'assistant') return false
  if (numberOf(fieldsOf(infoOf(record)['time'])?.['completed']) === undefined) return true
  return partsOf(record).some((part) => part['type'] === 'tool' && !hasEnded(stateOf(part)))
}

const stateOf = (part: Fields): Fields => fieldsOf(part['state']) ?? {}
const hasEnded = ({ status }: Fields): boolean => status === 'completed' || status === 'error'
const timeOf = (part: Fields): Fields => fieldsOf(part['time']) ?? {}

export function draftsOf(record: Fields): readonly MessageDraft[] {
  if (isRevert(record)) return [revertDraft(record)]
  if (isHeader(record)) return [sessionDraft(infoOf(record))]
  const drafts = roleOf(record) === 'assistant' ? answerDrafts(record) : promptDrafts(record)
  return drafts.length > 0 ? drafts : [eventDraft('message', infoOf(record))]
}

/** Only what does not change with every message. */
function sessionDraft({ version, projectID, agent, permission, metadata: own, share }: Fields): MessageDraft {
  const values = { version, projectID, agent, permission, session_metadata: own, share }
  const metadata = metadataFromSource(withoutUndefined(values))
  return { role: 'meta', source_type: 'session', payload_type: 'session', segments: NO_SEGMENTS, metadata }
}

const revertDraft = ({ revert }: Fields): MessageDraft => eventDraft('revert', fieldsOf(revert) ?? {})

const withoutUndefined = (values: Fields): Fields =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))

function eventDraft(kind: string, values: Fields, more: Metadata = {}): MessageDraft {
  const { id: _, sessionID: __, messageID: ___, type: ____, role: _____, time: ______, ...own } = values
  const metadata: Metadata = { ...metadataFromSource(own), event_kind: kind, ...more }
  return { role: 'meta', source_type: 'meta', payload_type: kind, segments: NO_SEGMENTS, metadata }
}

const isText = ({ type, text }: Fields): boolean => type === 'text' && typeof text === 'string'

function promptDrafts(record: Fields): readonly MessageDraft[] {
  const parts = partsOf(record)
  const typed = parts.filter((part) => !(isText(part) && (part['synthetic'] === true || part['ignored'] === true)))
  const drafts: MessageDraft[] = []
  const segments = typed.flatMap((part) => segmentOf(part, 'input') ?? [])
  const attachments = typed.flatMap(attachmentsOf)
  if (segments.length + attachments.length > 0)
    drafts.push({
      role: 'user',
      source_type: 'message',
      payload_type: 'user',
      segments,
      ...(attachments.length > 0 && { metadata: { attachments } }),
    })
  for (const part of parts) drafts.push(...addedDrafts(part))
  return drafts
}

/** What the program adds to a prompt. */
function addedDrafts(part: Fields): readonly MessageDraft[] {
  const text = stringOf(part['text'])
  if (part['type'] === 'compaction') return [eventDraft('compaction', part, { kind: 'compaction' })]
  if (isUnknown(part)) return [eventDraft(String(part['type']), part)]
  if (!isText(part) || text === undefined) return []
  const segments = [textSegment('input', text)]
  // Shown to the person, and never sent.
  if (part['ignored'] === true) return text.trim() === '' ? [] : [{ ...eventDraft('ignored', {}), segments }]
  if (part['synthetic'] !== true) return []
  return [{ role: 'user', source_type: 'message', payload_type: 'synthetic', segments, metadata: { injected: true } }]
}

const textSegment = (channel: Channel, text: string): MessageSegment => ({
  channel,
  type: 'text',
  format: 'text',
  text,
})

function segmentOf(part: Fields, channel: Channel): MessageSegment | undefined {
  const text = stringOf(part['text'])
  if (isText(part) && text !== undefined) return textSegment(channel, text)
  const [mime_type, url] = [stringOf(part['mime']), nonEmptyStringOf(part['url'])]
  if (part['type'] !== 'file' || !mime_type?.startsWith('image/') || url === undefined) return undefined
  const media = url.startsWith('data:') ? { data_uri: url, mime_type } : { url, mime_type }
  return { channel, type: 'image', format: 'file', media }
}

/** Files that are no images, agents that were called by name, and tasks for another agent. */
function attachmentsOf(part: Fields): readonly Attachment[] {
  const { id: _, sessionID: __, messageID: ___, type, ...rest } = part
  if (segmentOf(part, 'input') || !ATTACHED.has(type)) return []
  const { mime, url, ...own } = rest
  const isData = stringOf(url)?.startsWith('data:') === true
  const address = url !== undefined && !isData ? { url } : {}
  return [{ ...own, format: type, ...(mime !== undefined && { mime_type: mime }), ...address }]
}

const ATTACHED: ReadonlySet<unknown> = new Set(['file', 'agent', 'subtask'])

function answerDrafts(record: Fields): readonly MessageDraft[] {
  const info = infoOf(record)
  const isSummary = info['summary'] === true
  const drafts: MessageDraft[] = []
  let results: MessageDraft[] = []
  // Calls of one response come before the results of any of them.
  for (const part of partsOf(record)) {
    if (STEP_ENDS.has(part['type'])) drafts.push(...results.splice(0))
    else if (part['type'] === 'tool') {
      drafts.push(callDraft(part))
      if (hasEnded(stateOf(part))) results = [...results, resultDraft(part)]
    } else drafts.push(...saidDrafts(part, isSummary))
  }
  drafts.push(...results)
  const model = knownName(info['modelID'])
  const own: Metadata = model === undefined ? {} : { model }
  const [first, ...rest] = drafts
  const whole = { ...answerValues(info), ...own }
  if (!first) {
    const event_kind =
      nonEmptyStringOf(fieldsOf(info['error'])?.['name']) ?? nonEmptyStringOf(info['finish']) ?? 'assistant'
    const metadata = { ...whole, event_kind }
    return [{ role: 'meta', source_type: 'meta', payload_type: 'assistant', segments: NO_SEGMENTS, metadata }]
  }
  return [
    { ...first, metadata: { ...first.metadata, ...whole } },
    ...rest.map((draft) => ({ ...draft, metadata: { ...draft.metadata, ...own } })),
  ]
}

const STEP_ENDS: ReadonlySet<unknown> = new Set(['step-start', 'step-finish'])

/** What concerns the whole answer. Tokens are also in its steps, and added up in the session. */
function answerValues(info: Fields): Metadata {
  const { providerID, mode, agent, cost, finish, error, variant, structured } = info
  const provider = knownName(providerID)
  const mode_name = knownName(agent) ?? knownName(mode)
  const failure = fieldsOf(error)
  const name = nonEmptyStringOf(failure?.['name'])
  const values = metadataFromSource(
    withoutUndefined({
      provider,
      mode: mode_name,
      cost: cost === 0 ? undefined : cost,
      finish,
      variant,
      structured,
      error,
    }),
  )
  const usage = usageOf(info['tokens'])
  return {
    ...values,
    ...(name !== undefined && { interrupted: name === 'MessageAbortedError' ? 'aborted' : name }),
    ...(usage && { usage }),
  }
}

function saidDrafts(part: Fields, isSummary: boolean): readonly MessageDraft[] {
  const stamp = timeOf(part)['start']
  const at = stamp === undefined ? {} : { stamp }
  switch (part['type']) {
    case 'text':
    case 'file': {
      const segment = segmentOf(part, 'output')
      const attachments = attachmentsOf(part)
      const metadata: Metadata = attachments.length > 0 ? { attachments } : {}
      if (attachments.length === 0 && (!segment || segment.text?.trim() === '')) return []
      const segments = segment ? [segment] : NO_SEGMENTS
      if (!isSummary)
        return [{ role: 'assistant', source_type: 'message', payload_type: 'text', segments, metadata, ...at }]
      const said = segments.map((one) => ({ ...one, channel: 'system' as const }))
      return [
        {
          role: 'system',
          source_type: 'message',
          payload_type: 'summary',
          segments: said,
          metadata: { kind: 'summary' },
          ...at,
        },
      ]
    }
    case 'reasoning': {
      const text = stringOf(part['text']) ?? ''
      const secret = encryptedIn(part['metadata'])
      if (text.trim() === '' && secret === undefined) return []
      const metadata = text.trim() === '' ? {} : { reasoning_text: text }
      return [
        {
          role: 'meta',
          source_type: 'meta',
          payload_type: 'reasoning',
          segments: NO_SEGMENTS,
          metadata,
          secret,
          ...at,
        },
      ]
    }
    case 'patch':
    case 'retry':
    case 'agent':
    case 'subtask':
      return [eventDraft(String(part['type']), part)]
    default:
      return isUnknown(part) ? [eventDraft(String(part['type']), part)] : []
  }
}

/** Of a later version. The others are said, attached, or repeat what the message says. */
const isUnknown = ({ type }: Fields): boolean => typeof type === 'string' && !PART_TYPES.has(type)
const PART_TYPES: ReadonlySet<string> = new Set([
  ...['text', 'file', 'reasoning', 'tool', 'agent', 'subtask', 'patch', 'retry', 'compaction'],
  ...['step-start', 'step-finish', 'snapshot', 'source-url', 'tool-invocation'],
])

/** Ciphertext of reasoning, below the name of its provider. */
function encryptedIn(metadata: unknown): string | undefined {
  for (const values of Object.values(fieldsOf(metadata) ?? {})) {
    const fields = fieldsOf(values)
    for (const key of ['reasoningEncryptedContent', 'signature', 'redactedData', 'thoughtSignature']) {
      const text = nonEmptyStringOf(fields?.[key])
      if (text !== undefined) return text
    }
  }
  return undefined
}

function callDraft(part: Fields): MessageDraft {
  const state = stateOf(part)
  const input = state['input'] ?? {}
  const raw = state['status'] === 'pending' ? nonEmptyStringOf(state['raw']) : undefined
  const tool_call: Mutable<ToolCall> = {
    call_id: nonEmptyStringOf(part['callID']) ?? null,
    name: nonEmptyStringOf(part['tool']) ?? null,
    status: 'pending',
    arguments: raw ?? stringOf(input) ?? toJsonText(input),
  }
  if (typeof input === 'object' && raw === undefined) tool_call.arguments_json = input
  const stamp = timeOf(state)['start']
  return {
    role: 'tool',
    source_type: 'tool_call',
    payload_type: 'tool',
    segments: NO_SEGMENTS,
    tool_call,
    ...(stamp !== undefined && { stamp }),
  }
}

/** OpenCode records a call that it could not make as a completed one of this tool. */
const FAILED_CALL = 'invalid'

function resultDraft(part: Fields): MessageDraft {
  const state = stateOf(part)
  const { status, output, error, metadata: details, title } = state
  const { start, end, compacted } = timeOf(state)
  const isError = status === 'error' || part['tool'] === FAILED_CALL
  const tool_call: Mutable<ToolCall> = {
    call_id: nonEmptyStringOf(part['callID']) ?? null,
    name: nonEmptyStringOf(part['tool']) ?? null,
    status: isError ? 'error' : 'success',
    source_status: String(status),
    output: stringOf(status === 'error' ? error : output) ?? '',
  }
  const exit_code = validExitCodeOf(fieldsOf(details)?.['exit'])
  if (exit_code !== undefined) tool_call.exit_code = exit_code
  const duration = (numberOf(end) ?? Number.NaN) - (numberOf(start) ?? Number.NaN)
  if (duration >= 0) tool_call.duration_ms = duration
  const files = listOf(state['attachments']).filter(isObject)
  const attachments = files.flatMap(attachmentsOf)
  const shown = nonEmptyStringOf(title)
  const metadata: Metadata = {
    ...metadataFromSource(withoutUndefined({ title: shown, compacted, child_session: childSession(details) })),
    ...(attachments.length > 0 && { attachments }),
  }
  return {
    role: 'tool',
    source_type: 'tool_result',
    payload_type: 'tool',
    segments: files.flatMap((file) => segmentOf(file, 'output') ?? []),
    tool_call,
    metadata,
    ...(end !== undefined && { stamp: end }),
  }
}

/** The session of the agent that a task started. */
const childSession = (details: unknown): string | undefined => nonEmptyStringOf(fieldsOf(details)?.['sessionId'])

/** `input` does not include what was read from the cache or written to it, nor `output` the reasoning. */
export function usageOf(given: unknown): Usage | undefined {
  const fields = fieldsOf(given)
  if (!fields) return undefined
  const cache = fieldsOf(fields['cache'])
  const [read, written] = [validCountOf(cache?.['read']) ?? 0, validCountOf(cache?.['write']) ?? 0]
  const reasoning = validCountOf(fields['reasoning']) ?? 0
  const input_tokens = (validCountOf(fields['input']) ?? 0) + read + written
  const output_tokens = (validCountOf(fields['output']) ?? 0) + reasoning
  if (input_tokens + output_tokens === 0) return undefined
  return {
    ...NO_USAGE,
    input_tokens,
    cached_input_tokens: read,
    ...cacheWrites(written, 0),
    output_tokens,
    reasoning_output_tokens: reasoning,
    total_tokens: input_tokens + output_tokens,
  }
}
