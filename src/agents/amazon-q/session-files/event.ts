/** What an event of Kiro's version 3 says on its own, as drafts of messages. */
import {
  type Fields,
  fieldsOf,
  isObject,
  listOf,
  nonEmptyStringOf,
  stringOf,
  toJsonText,
} from '../../../lib/unknown-values.ts'
import { type Metadata, metadataFromSource } from '../../../model/metadata.ts'
import type { Channel, MessageSegment, Mutable, ToolCall } from '../../../model/normalized.ts'
import { callDraft } from '../../kit/content-parts.ts'
import { type MessageDraft, NO_SEGMENTS } from '../../kit/place-message.ts'

export const isEvent = (record: Fields): boolean =>
  typeof fieldsOf(record['payload'])?.['type'] === 'string' &&
  'timestamp' in record &&
  'id' in record &&
  !('type' in record)

/** The first versions wrote role and content without a payload. */
export const isPlainMessage = (record: Fields): boolean =>
  'role' in record && 'content' in record && typeof record['id'] === 'string' && 'timestamp' in record

export const payloadOf = (record: Fields): Fields => fieldsOf(record['payload']) ?? record

export function eventTypeOf(record: Fields): string {
  const payload = payloadOf(record)
  return stringOf(payload['type']) ?? stringOf(payload['role']) ?? 'event'
}

export function eventDrafts(record: Fields): readonly MessageDraft[] {
  const payload = payloadOf(record)
  switch (eventTypeOf(record)) {
    case 'user':
      return wordDrafts(payload, 'user', 'input', record)
    case 'assistant':
      return payload['operationType'] === 'Reasoning'
        ? [reasoningDraft(payload)]
        : wordDrafts(payload, 'assistant', 'output', record)
    case 'tool_call':
      return [callDraft(payload['toolCallId'], payload['toolName'] ?? payload['name'], payload['args'], 'tool_call')]
    case 'tool_result':
      return [resultDraft(payload)]
    default:
      return [eventDraft(record)]
  }
}

function eventDraft(record: Fields): MessageDraft {
  const { type: _, ...values } = payloadOf(record)
  const kind = eventTypeOf(record)
  const metadata: Metadata = { ...metadataFromSource(values), event_kind: kind }
  return { role: 'meta', source_type: 'meta', payload_type: kind, segments: NO_SEGMENTS, metadata }
}

function wordDrafts(
  payload: Fields,
  role: 'user' | 'assistant',
  channel: Channel,
  record: Fields,
): readonly MessageDraft[] {
  const segments = textsIn(payload['content']).map(
    (text): MessageSegment => ({ channel, type: 'text', format: 'text', text }),
  )
  if (!segments.some(({ text }) => text?.trim())) return [eventDraft(record)]
  const { type: _, role: __, content: ___, id: ____, timestamp: _____, ...values } = payload
  return [{ role, source_type: 'message', payload_type: role, segments, metadata: metadataFromSource(values) }]
}

/** A text, or parts that are texts or hold one. */
const textsIn = (content: unknown): readonly string[] =>
  (Array.isArray(content) ? listOf(content) : [content]).flatMap((part) => {
    const text = stringOf(part) ?? stringOf(fieldsOf(part)?.['text'])
    return text === undefined ? [] : [text]
  })

function reasoningDraft(payload: Fields): MessageDraft {
  const { type: _, operationType: __, content, id: ___, timestamp: ____, ...values } = payload
  const text = textsIn(content).join('\n')
  const metadata = { ...metadataFromSource(values), ...(text.trim() !== '' && { reasoning_text: text }) }
  return { role: 'meta', source_type: 'meta', payload_type: 'reasoning', segments: NO_SEGMENTS, metadata }
}

function resultDraft(payload: Fields): MessageDraft {
  const { content, success } = payload
  const tool_call: Mutable<ToolCall> = {
    call_id: nonEmptyStringOf(payload['toolCallId']) ?? null,
    name: null,
    status: success === false ? 'error' : 'success',
    output: isObject(content) ? toJsonText(content) : textsIn(content).join('\n'),
  }
  return { role: 'tool', source_type: 'tool_result', payload_type: 'tool_result', segments: NO_SEGMENTS, tool_call }
}
