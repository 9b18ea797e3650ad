/** What an entry of a session says on its own, as drafts of messages. */
import {
  type Fields,
  fieldsOf,
  isObject,
  listOf,
  nonEmptyStringOf,
  stringOf,
  toJsonText,
} from '../../lib/unknown-values.ts'
import { validCountOf, validExitCodeOf } from '../../model/checked-numbers.ts'
import { type Metadata, metadataFromSource } from '../../model/metadata.ts'
import type { Channel, MessageSegment, Mutable, ToolCall } from '../../model/normalized.ts'
import { cacheWrites, NO_USAGE, type Usage } from '../../model/usage.ts'
import { joinAnswers } from '../kit/join-answers.ts'
import { type MessageDraft, NO_SEGMENTS } from '../kit/place-message.ts'

/** Stands for a model or provider that the source of a converted conversation does not name: pi requires one. */
export const UNKNOWN = 'unknown'

export const knownName = (value: unknown): string | undefined => {
  const name = nonEmptyStringOf(value)
  return name === UNKNOWN ? undefined : name
}

export const isHeader = (record: Fields): boolean => record['type'] === 'session' && typeof record['id'] === 'string'

const ENTRY_TYPES: ReadonlySet<unknown> = new Set([
  ...['message', 'model_change', 'thinking_level_change', 'compaction', 'branch_summary'],
  ...['custom', 'custom_message', 'label', 'session_info'],
])

export const isEntry = (record: Fields): boolean => ENTRY_TYPES.has(record['type'])

export function draftsOf(record: Fields): readonly MessageDraft[] {
  const message = fieldsOf(record['message'])
  switch (record['type']) {
    case 'message':
      return message ? messageDrafts(message) : [eventDraft(record)]
    case 'custom_message':
      return [insertedDraft(record, record['content'])]
    case 'compaction':
    case 'branch_summary':
      return [eventDraft(record), ...summaryDraft(record['summary'], String(record['type']))]
    default:
      return [eventDraft(record)]
  }
}

function messageDrafts(message: Fields): readonly MessageDraft[] {
  const { role } = message
  switch (role) {
    case 'user':
      return [promptDraft(message)]
    case 'assistant':
      return answerDrafts(message)
    case 'toolResult':
      return [resultDraft(message)]
    case 'bashExecution':
      return [insertedDraft(message, commandText(message))]
    case 'custom':
    case 'hookMessage':
      return [insertedDraft(message, message['content'])]
    case 'branchSummary':
    case 'compactionSummary': {
      const summary = summaryDraft(message['summary'], role)
      return summary.length > 0 ? summary : [eventDraft({ ...message, type: role })]
    }
    default:
      return [eventDraft({ ...message, type: stringOf(role) ?? 'message' })]
  }
}

/** Text and images of a content, which may be a text. */
function segmentsOf(content: unknown, channel: Channel): readonly MessageSegment[] {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content).filter(isObject)
  return blocks.flatMap((block: Fields): readonly MessageSegment[] => {
    const { type } = block
    const text = stringOf(block['text'])
    if (type === 'text' && text !== undefined) return [{ channel, type: 'text', format: 'text', text }]
    const [data, mime_type] = [stringOf(block['data']), stringOf(block['mimeType'])]
    if (type !== 'image' || data === undefined || mime_type === undefined) return []
    const media = { data_uri: `data:${mime_type};base64,${data}`, mime_type }
    return [{ channel, type: 'image', format: 'image', media }]
  })
}

const promptDraft = (message: Fields): MessageDraft => ({
  role: 'user',
  source_type: 'message',
  payload_type: 'user',
  segments: segmentsOf(message['content'], 'input'),
})

/** Sent to the model as the user's, but written by pi or an extension. */
function insertedDraft(message: Fields, content: unknown): MessageDraft {
  const { type, role, content: _, output: __, timestamp: ___, ...values } = message
  const { id: ____, parentId: _____, ...own } = values
  return {
    role: 'user',
    source_type: 'message',
    payload_type: stringOf(role) ?? stringOf(type) ?? null,
    segments: segmentsOf(content, 'input'),
    metadata: { ...metadataFromSource(own), injected: true },
  }
}

/** A command that the person ran, as pi tells the model. */
function commandText({ command, output, exitCode, cancelled }: Fields): string {
  const shown = nonEmptyStringOf(output)
  const end = cancelled === true ? '\n\n(command cancelled)' : exitText(validExitCodeOf(exitCode))
  return `Ran \`${stringOf(command) ?? ''}\`\n${shown === undefined ? '(no output)' : `\`\`\`\n${shown}\n\`\`\``}${end}`
}

const exitText = (code: number | undefined): string => (code ? `\n\nCommand exited with code ${code}` : '')

/** Marks the draft of an answer that gets its tokens. */
const COUNTS = { item: '', what: 'usage' } as const

function answerDrafts(message: Fields): readonly MessageDraft[] {
  const { model, provider, stopReason, errorMessage, responseId } = message
  const name = knownName(model)
  const ended = stopReason === 'aborted' || stopReason === 'error' ? { interrupted: String(stopReason) } : {}
  const error = nonEmptyStringOf(errorMessage)
  const values = metadataFromSource({
    ...(knownName(provider) !== undefined && { provider }),
    ...(nonEmptyStringOf(responseId) !== undefined && { responseId }),
    ...(isObject(fieldsOf(message['usage'])?.['cost']) && { cost: fieldsOf(message['usage'])?.['cost'] }),
    ...(error !== undefined && { errorMessage: error }),
  })
  const own: Metadata = name === undefined ? {} : { model: name }
  const drafts = listOf(message['content']).filter(isObject).flatMap(blockDrafts)
  const [first, ...rest] = joinAnswers(drafts)
  const whole: Metadata = { ...values, ...own, ...ended }
  if (!first) {
    const metadata = { ...whole, event_kind: stringOf(stopReason) ?? 'assistant' }
    const payload_type = 'assistant'
    return [{ role: 'meta', source_type: 'meta', payload_type, segments: NO_SEGMENTS, metadata, key: COUNTS }]
  }
  return [
    { ...first, metadata: { ...first.metadata, ...whole }, key: COUNTS },
    ...rest.map((draft) => ({ ...draft, metadata: { ...draft.metadata, ...own } })),
  ]
}

function blockDrafts(block: Fields): readonly MessageDraft[] {
  switch (block['type']) {
    case 'thinking': {
      const text = stringOf(block['thinking']) ?? ''
      const signature = nonEmptyStringOf(block['thinkingSignature'])
      const secret = signature?.includes('encrypted_content') || (signature?.length ?? 0) > 64 ? signature : undefined
      if (text.trim() === '' && secret === undefined) return []
      const metadata = text.trim() === '' ? {} : { reasoning_text: text }
      return [{ role: 'meta', source_type: 'meta', payload_type: 'reasoning', segments: NO_SEGMENTS, metadata, secret }]
    }
    case 'text': {
      const segments = segmentsOf([block], 'output').filter(({ text }) => text?.trim())
      if (segments.length === 0) return []
      return [{ role: 'assistant', source_type: 'message', payload_type: 'text', segments }]
    }
    case 'toolCall': {
      const input = block['arguments'] ?? {}
      const tool_call: Mutable<ToolCall> = {
        call_id: nonEmptyStringOf(block['id']) ?? null,
        name: nonEmptyStringOf(block['name']) ?? null,
        status: 'pending',
        arguments: stringOf(input) ?? toJsonText(input),
      }
      if (typeof input === 'object') tool_call.arguments_json = input
      return [{ role: 'tool', source_type: 'tool_call', payload_type: 'toolCall', segments: NO_SEGMENTS, tool_call }]
    }
    default: {
      // Of a kind that later versions may add. Its bytes stay in the log.
      const { data, ...values } = block
      return [eventDraft(typeof data === 'string' ? { ...values, size: data.length } : block)]
    }
  }
}

const EXIT_CODE = /(?:^|\n)Command exited with code (\d{1,10})\s*$/

function resultDraft(message: Fields): MessageDraft {
  const segments = segmentsOf(message['content'], 'output')
  const output = segments.flatMap(({ text }) => text ?? []).join('\n')
  const tool_call: Mutable<ToolCall> = {
    call_id: nonEmptyStringOf(message['toolCallId']) ?? null,
    name: nonEmptyStringOf(message['toolName']) ?? null,
    status: message['isError'] === true ? 'error' : 'success',
    output,
  }
  const exit_code = validExitCodeOf(Number(EXIT_CODE.exec(output)?.[1] ?? Number.NaN))
  if (exit_code !== undefined) tool_call.exit_code = exit_code
  const details = fieldsOf(message['details'])
  const isTold = details !== undefined && Object.keys(details).length > 0
  return {
    role: 'tool',
    source_type: 'tool_result',
    payload_type: 'toolResult',
    segments: segments.filter(({ type }) => type === 'image'),
    tool_call,
    ...(isTold && { metadata: metadataFromSource({ details }) }),
  }
}

function summaryDraft(summary: unknown, payload_type: string): readonly MessageDraft[] {
  const text = nonEmptyStringOf(summary)
  if (text === undefined) return []
  const segments = [{ channel: 'system', type: 'text', format: 'text', text }] as const
  return [{ role: 'system', source_type: 'message', payload_type, segments, metadata: { kind: 'summary' } }]
}

/** The header, and entries that are not conversation. */
function eventDraft(record: Fields): MessageDraft {
  const kind = stringOf(record['type']) ?? 'entry'
  const { type: _, id: __, parentId: ___, timestamp: ____, summary: _____, ...values } = record
  const isSession = isHeader(record)
  return {
    role: 'meta',
    source_type: isSession ? 'session' : 'meta',
    payload_type: kind,
    segments: NO_SEGMENTS,
    metadata: { ...metadataFromSource(values), ...(!isSession && { event_kind: kind }) },
  }
}

/** `input` does not include what was read from the cache or written to it. */
export function usageOf(given: unknown): Usage | undefined {
  const fields = fieldsOf(given)
  if (!fields) return undefined
  const count = (key: string): number => validCountOf(fields[key]) ?? 0
  const [read, written] = [count('cacheRead'), count('cacheWrite')]
  const input_tokens = count('input') + read + written
  const output_tokens = count('output')
  if (input_tokens + output_tokens === 0) return undefined
  return {
    ...NO_USAGE,
    input_tokens,
    cached_input_tokens: read,
    ...cacheWrites(written, 0),
    output_tokens,
    total_tokens: input_tokens + output_tokens,
  }
}
