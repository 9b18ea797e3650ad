/** What a line of Kiro's journal says on its own, as drafts of messages. */
import { type Fields, fieldsOf, isObject, nonEmptyStringOf, stringOf, toJsonText } from '../../../lib/unknown-values.ts'
import { validExitCodeOf } from '../../../model/checked-numbers.ts'
import { type Metadata, metadataFromSource } from '../../../model/metadata.ts'
import type { Channel, MessageSegment, Mutable, ToolCall } from '../../../model/normalized.ts'
import { callDraft, listOfFields } from '../../kit/content-parts.ts'
import { joinAnswers } from '../../kit/join-answers.ts'
import { type MessageDraft, NO_SEGMENTS } from '../../kit/place-message.ts'

export const isEntry = (record: Fields): boolean =>
  typeof record['kind'] === 'string' &&
  typeof record['version'] === 'string' &&
  (isObject(record['data']) || !('data' in record))

export const kindOf = (record: Fields): string => stringOf(record['kind']) ?? 'entry'
export const dataOf = (record: Fields): Fields => fieldsOf(record['data']) ?? {}
export const contentOf = (record: Fields): readonly Fields[] => listOfFields(dataOf(record)['content'])

export function entryDrafts(record: Fields): readonly MessageDraft[] {
  const drafts = draftsOfKind(record)
  const [first, ...rest] = drafts
  const message_id = nonEmptyStringOf(dataOf(record)['message_id'])
  if (!first) return [eventDraft(record)]
  return message_id === undefined ? drafts : [{ ...first, metadata: { ...first.metadata, message_id } }, ...rest]
}

function draftsOfKind(record: Fields): readonly MessageDraft[] {
  switch (kindOf(record)) {
    case 'Prompt':
      return promptDrafts(record)
    case 'AssistantMessage':
      return answerDrafts(record)
    case 'ToolResults':
      return resultDrafts(record)
    case 'Compaction':
      return [...summaryDrafts(dataOf(record)), eventDraft(record)]
    default:
      return [eventDraft(record)]
  }
}

/** What the conversation is replaced by repeats its messages. */
function eventDraft(record: Fields): MessageDraft {
  const { message_id: _, content: __, messages_snapshot: snapshot, ...values } = dataOf(record)
  const kind = kindOf(record)
  const counts = Array.isArray(snapshot) ? { messages: snapshot.length } : {}
  const metadata: Metadata = {
    ...metadataFromSource({ ...values, ...counts }),
    event_kind: kind,
    ...((kind === 'Compaction' || kind === 'Clear') && { kind: 'compaction' }),
  }
  return { role: 'meta', source_type: 'meta', payload_type: kind, segments: NO_SEGMENTS, metadata }
}

function promptDrafts(record: Fields): readonly MessageDraft[] {
  const segments = contentOf(record).flatMap((block) => segmentOf(block, 'input') ?? [])
  if (segments.length === 0) return []
  const { timestamp: _, additionalContext, ...meta } = fieldsOf(dataOf(record)['meta']) ?? {}
  const context = nonEmptyStringOf(additionalContext)
  const metadata: Metadata = {
    ...metadataFromSource(meta),
    ...(context !== undefined && { additional_context: context }),
  }
  return [{ role: 'user', source_type: 'message', payload_type: 'Prompt', segments, metadata }]
}

function segmentOf({ kind, data }: Fields, channel: Channel): MessageSegment | undefined {
  if (kind === 'text' && typeof data === 'string') return { channel, type: 'text', format: 'text', text: data }
  const image = kind === 'image' ? fieldsOf(data) : undefined
  if (!image) return undefined
  const mime_type = `image/${(stringOf(image['format']) ?? 'png').toLowerCase().replace(/^jpg$/, 'jpeg')}`
  const base64 = base64Of(fieldsOf(image['source'])?.['data'])
  const media = base64 === undefined ? { mime_type } : { data_uri: `data:${mime_type};base64,${base64}`, mime_type }
  return { channel, type: 'image', format: 'image', media }
}

function base64Of(bytes: unknown): string | undefined {
  if (typeof bytes === 'string') return bytes
  const isBytes = Array.isArray(bytes) && bytes.every((one) => Number.isInteger(one) && one >= 0 && one <= 255)
  return isBytes ? Buffer.from(bytes as number[]).toString('base64') : undefined
}

function answerDrafts(record: Fields): readonly MessageDraft[] {
  const drafts = contentOf(record).flatMap((block): readonly MessageDraft[] => {
    const { kind } = block
    if (kind === 'toolUse') {
      const { toolUseId, name, input } = fieldsOf(block['data']) ?? {}
      return [callDraft(toolUseId, name, input, 'toolUse')]
    }
    if (kind === 'thinking') return [thoughtDraft(block['data'])]
    const segment = segmentOf(block, 'output')
    if (!segment && kind !== 'text') return [blockDraft(block)]
    if (!segment || segment.text?.trim() === '') return []
    return [{ role: 'assistant', source_type: 'message', payload_type: 'AssistantMessage', segments: [segment] }]
  })
  return joinAnswers(drafts)
}

/** Of a kind that later versions may add. */
function blockDraft({ kind, ...values }: Fields): MessageDraft {
  const name = stringOf(kind) ?? 'block'
  const metadata: Metadata = { ...metadataFromSource(values), event_kind: name }
  return { role: 'meta', source_type: 'meta', payload_type: name, segments: NO_SEGMENTS, metadata }
}

/** The fields of a thought are not documented: they stay as they are. */
function thoughtDraft(data: unknown): MessageDraft {
  const metadata = metadataFromSource(fieldsOf(data) ?? { data })
  return { role: 'meta', source_type: 'meta', payload_type: 'thinking', segments: NO_SEGMENTS, metadata }
}

function resultDrafts(record: Fields): readonly MessageDraft[] {
  const told = fieldsOf(dataOf(record)['results'])
  const blocks = contentOf(record)
  const results = blocks.flatMap(({ kind, data }) => (kind === 'toolResult' && isObject(data) ? [data] : []))
  const drafts = results.map((result) => resultDraft(result, fieldsOf(told?.[String(result['toolUseId'])])))
  // Kiro may send words along with results.
  const segments = blocks.flatMap((block) => segmentOf(block, 'input') ?? [])
  if (segments.length === 0) return drafts
  const metadata = { injected: true } as const
  return [...drafts, { role: 'user', source_type: 'message', payload_type: 'ToolResults', segments, metadata }]
}

/** `told` names the tool that Kiro ran, and repeats its output. */
function resultDraft(result: Fields, told: Fields | undefined): MessageDraft {
  const parts = listOfFields(result['content'])
  const status = stringOf(result['status'])
  const outcome = Object.keys(fieldsOf(told?.['result']) ?? {})[0] ?? stringOf(told?.['result'])
  const tool_call: Mutable<ToolCall> = {
    call_id: nonEmptyStringOf(result['toolUseId']) ?? null,
    name: null,
    status: outcome === 'Cancelled' ? 'cancelled' : status === 'error' ? 'error' : 'success',
    output: parts
      .filter(({ kind }) => kind !== 'image')
      .map(({ data }) => stringOf(data) ?? toJsonText(data ?? ''))
      .join('\n'),
  }
  if (status !== undefined) tool_call.source_status = status
  const json = parts.length === 1 ? fieldsOf(parts[0]?.['data']) : undefined
  if (json && parts[0]?.['kind'] === 'json') {
    tool_call.output_json = json
    const exit_code = exitCodeOf(json['exit_status'])
    if (exit_code !== undefined) tool_call.exit_code = exit_code
  }
  const segments = parts.flatMap((part) => (part['kind'] === 'image' ? (segmentOf(part, 'output') ?? []) : []))
  const tool = toolNameIn(told)
  return {
    role: 'tool',
    source_type: 'tool_result',
    payload_type: 'ToolResults',
    segments,
    tool_call,
    ...(tool !== undefined && { metadata: { tool } }),
  }
}

/** `exit status: 0`, or the number alone. */
function exitCodeOf(status: unknown): number | undefined {
  const found = typeof status === 'string' ? /^(?:exit (?:status|code): )?(-?\d{1,10})$/.exec(status)?.[1] : status
  return validExitCodeOf(typeof found === 'string' ? Number(found) : found)
}

/** Kiro's own name of a built-in tool, or of the server that has it. */
function toolNameIn(told: Fields | undefined): string | undefined {
  const kind = fieldsOf(fieldsOf(told?.['tool'])?.['kind'])
  const [[family, tool] = []] = Object.entries(kind ?? {})
  if (family === 'BuiltIn') return Object.keys(fieldsOf(tool) ?? {})[0] ?? stringOf(tool)
  return family
}

function summaryDrafts({ summary }: Fields): readonly MessageDraft[] {
  const text = nonEmptyStringOf(summary)
  if (text === undefined) return []
  const segments = [{ channel: 'system', type: 'text', format: 'text', text }] as const
  return [
    { role: 'system', source_type: 'message', payload_type: 'Compaction', segments, metadata: { kind: 'summary' } },
  ]
}
