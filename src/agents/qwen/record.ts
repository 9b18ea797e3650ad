/** What a record of Qwen Code says on its own, as drafts of messages. */
import { type Fields, fieldsOf, isObject, listOf, nonEmptyStringOf, stringOf } from '../../lib/unknown-values.ts'
import { type Metadata, metadataFromSource } from '../../model/metadata.ts'
import type { ToolStatus } from '../../model/normalized.ts'
import type { Usage } from '../../model/usage.ts'
import {
  attachmentsIn,
  callDraft,
  callPartsOf,
  hasContent,
  partsOf,
  plainTextOf,
  responseDraft,
  responsePartsOf,
  segmentsOf,
  thoughtDraft,
  thoughtTextsOf,
  usageFrom,
  withoutMark,
} from '../kit/content-parts.ts'
import { type MessageDraft, NO_SEGMENTS } from '../kit/place-message.ts'

/** Claude Code has the same ids, but other messages. */
export const isRecord = (record: Fields): boolean =>
  typeof record['uuid'] === 'string' &&
  typeof record['sessionId'] === 'string' &&
  (Array.isArray(fieldsOf(record['message'])?.['parts']) ||
    (record['type'] === 'system' && 'systemPayload' in record) ||
    record['type'] === 'tool_result')

export function draftsOf(record: Fields): readonly MessageDraft[] {
  const parts = partsOf(fieldsOf(record['message'])?.['parts'] ?? [])
  const drafts = partDrafts(record, parts)
  return drafts.length > 0 ? drafts : [eventDraft(record)]
}

function partDrafts(record: Fields, parts: readonly Fields[]): readonly MessageDraft[] {
  switch (record['type']) {
    case 'user':
      return [...responseDrafts(parts, record), ...promptDrafts(record, parts)]
    case 'tool_result':
      return responseDrafts(parts, record)
    case 'assistant':
      return answerDrafts(record, parts)
    case 'system':
      return record['subtype'] === 'chat_compression' ? [eventDraft(record), ...summaryDrafts(record)] : []
    default:
      return []
  }
}

export const startsLikeCommand = (text: string): boolean => /^\s*[/?]/.test(text)

/** Qwen writes some prompts itself: of a schedule, and notes of agents in the background. */
function promptDrafts(record: Fields, parts: readonly Fields[]): readonly MessageDraft[] {
  const own = withoutMark(parts)
  const segments = segmentsOf(own, 'input')
  const attachments = attachmentsIn(own)
  if (!hasContent(segments) && attachments.length === 0) return []
  const subtype = nonEmptyStringOf(record['subtype'])
  const isInjected = subtype !== undefined || startsLikeCommand(plainTextOf(parts))
  const metadata: Metadata = {
    ...(attachments.length > 0 && { attachments }),
    ...(isInjected && { injected: true }),
    ...(subtype !== undefined && { subtype }),
  }
  return [{ role: 'user', source_type: 'message', payload_type: 'user', segments, metadata }]
}

function answerDrafts(record: Fields, parts: readonly Fields[]): readonly MessageDraft[] {
  const segments = segmentsOf(parts, 'output')
  const attachments = attachmentsIn(parts)
  const model = nonEmptyStringOf(record['model'])
  const own: Metadata = model === undefined ? {} : { model }
  const drafts: readonly MessageDraft[] = [
    ...thoughtTextsOf(parts).map((text) => thoughtDraft(text, 'thought')),
    ...(hasContent(segments) || attachments.length > 0
      ? [
          {
            role: 'assistant',
            source_type: 'message',
            payload_type: 'assistant',
            segments,
            ...(attachments.length > 0 && { metadata: { attachments } }),
          } as const,
        ]
      : []),
    ...callPartsOf(parts).map(({ id, name, args }) => callDraft(id, name, args, 'functionCall')),
  ]
  return drafts.map((draft) => ({ ...draft, metadata: { ...draft.metadata, ...own } }))
}

const STATUSES: Readonly<Record<string, ToolStatus>> = { success: 'success', error: 'error', cancelled: 'cancelled' }

function responseDrafts(parts: readonly Fields[], record: Fields): readonly MessageDraft[] {
  const info = fieldsOf(record['toolCallResult'])
  const source_status = stringOf(info?.['status'])
  const status =
    source_status !== undefined && Object.hasOwn(STATUSES, source_status) ? STATUSES[source_status] : undefined
  const display = info?.['resultDisplay']
  const responses = responsePartsOf(parts)
  const beside = parts.filter((part) => !part['functionResponse'] && record['type'] === 'tool_result')
  if (responses.length === 0 && info === undefined) return []
  const each = responses.length > 0 ? responses : [{ id: info?.['callId'] }]
  return each.map((response, at) => {
    const own = responses.length > 0 ? [{ functionResponse: response }] : []
    const draft = responseDraft(at === 0 ? [...own, ...beside] : own, {
      id: response['id'] ?? info?.['callId'],
      payload_type: 'functionResponse',
      // The record tells what became of one call.
      ...(each.length === 1 && { status, source_status, shown: stringOf(display) }),
    })
    const shown = at === 0 && isObject(display) ? metadataFromSource({ resultDisplay: display }) : {}
    return { ...draft, metadata: { ...draft.metadata, ...shown } }
  })
}

/** The history with which the model continues. Its first text is the summary. */
function summaryDrafts(record: Fields): readonly MessageDraft[] {
  const history = listOf(fieldsOf(record['systemPayload'])?.['compressedHistory']).filter(isObject)
  const text = plainTextOf(history.find(({ role }) => role === 'user')?.['parts'] ?? [])
  if (text.trim() === '') return []
  return [
    {
      role: 'system',
      source_type: 'message',
      payload_type: 'chat_compression',
      segments: [{ channel: 'system', type: 'text', format: 'text', text }],
      metadata: { kind: 'summary' },
    },
  ]
}

/** A record that is not conversation, with its values. */
function eventDraft(record: Fields): MessageDraft {
  const kind = nonEmptyStringOf(record['subtype']) ?? stringOf(record['type']) ?? 'record'
  const { compressedHistory: _, ...payload } = fieldsOf(record['systemPayload']) ?? {}
  return {
    role: 'meta',
    source_type: 'meta',
    payload_type: kind,
    segments: NO_SEGMENTS,
    metadata: { ...metadataFromSource(payload), event_kind: kind },
  }
}

/** Thoughts are part of the output. */
export const usageOf = (record: Fields): Usage | undefined =>
  usageFrom(record['usageMetadata'], {
    input: 'promptTokenCount',
    output: 'candidatesTokenCount',
    cached: 'cachedContentTokenCount',
    thoughts: 'thoughtsTokenCount',
    tool: 'toolUsePromptTokenCount',
    total: 'totalTokenCount',
    outputHasThoughts: true,
  })

export interface Response {
  readonly usage: Usage
  readonly model: string | undefined
}

/** Telemetry of a request: every request has it, also those of sub-agents, which no other record holds. */
export function responseOf(record: Fields): Response | undefined {
  if (record['subtype'] !== 'ui_telemetry') return undefined
  const event = fieldsOf(fieldsOf(record['systemPayload'])?.['uiEvent'])
  if (event?.['event.name'] !== 'qwen-code.api_response') return undefined
  const usage = usageFrom(event, {
    input: 'input_token_count',
    output: 'output_token_count',
    cached: 'cached_content_token_count',
    thoughts: 'thoughts_token_count',
    tool: 'tool_token_count',
    total: 'total_token_count',
    outputHasThoughts: true,
  })
  return usage && { usage, model: nonEmptyStringOf(event['model']) }
}
