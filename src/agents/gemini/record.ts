/** What a record of a session says on its own, as drafts of messages. */

import { checksum } from '../../lib/hash.ts'
import { type Fields, fieldsOf, isObject, nonEmptyStringOf, stringOf } from '../../lib/unknown-values.ts'
import { type Metadata, metadataFromSource } from '../../model/metadata.ts'
import type { MessageSegment, ToolStatus } from '../../model/normalized.ts'
import type { Usage } from '../../model/usage.ts'
import {
  attachmentsIn,
  callDraft,
  callPartsOf,
  hasContent,
  listOfFields,
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

const MESSAGE_TYPES: ReadonlySet<unknown> = new Set(['user', 'gemini', 'info', 'error', 'warning'])

export const isMessage = (record: Fields): boolean =>
  MESSAGE_TYPES.has(record['type']) && typeof record['id'] === 'string'

export const isHeader = (record: Fields): boolean =>
  typeof record['sessionId'] === 'string' && typeof record['projectHash'] === 'string'

/** The messages of a record that holds the whole list: `$set.messages`, or a header in front of them. */
export function listedMessages(record: Fields): readonly Fields[] | undefined {
  const list = fieldsOf(record['$set'])?.['messages'] ?? (isHeader(record) ? record['messages'] : undefined)
  return Array.isArray(list) ? listOfFields(list) : undefined
}

export function draftsOf(record: Fields): readonly MessageDraft[] {
  if (isMessage(record)) return messageDrafts(record, false)
  const listed = listedMessages(record) ?? []
  const drafts = listed.flatMap((message, at) =>
    messageDrafts(message, isSummary(listed[at - 1])).map((draft) => ({
      ...draft,
      stamp: draft.stamp ?? message['timestamp'],
    })),
  )
  return [stateDraft(record), ...drafts]
}

/** The header, and changes of the session that are not conversation. */
function stateDraft(record: Fields): MessageDraft {
  const state = fieldsOf(record['$set'])
  const { messages: _, lastUpdated: __, ...values } = state ?? record
  const isSession = isHeader(record)
  const kind = state ? '$set' : '$rewindTo' in record ? '$rewindTo' : '$patch' in record ? '$patch' : 'record'
  return {
    role: 'meta',
    source_type: isSession ? 'session' : 'meta',
    payload_type: isSession ? 'session' : kind,
    segments: NO_SEGMENTS,
    metadata: { ...metadataFromSource(values), ...(!isSession && { event_kind: kind }) },
  }
}

/**
 * The last draft stands for the record itself: a log repeats messages, and where a record says nothing new, it is what
 * remains of it.
 * @param followsSummary the program's own answer to a summary
 */
function messageDrafts(message: Fields, followsSummary: boolean): readonly MessageDraft[] {
  const item = String(message['id'])
  const type = String(message['type'])
  const said = type === 'gemini' ? answerDrafts(message, followsSummary) : othersDrafts(message, type)
  const rest: MessageDraft = {
    role: 'meta',
    source_type: 'meta',
    payload_type: type,
    segments: NO_SEGMENTS,
    metadata: { event_kind: 'update', message_id: item, ...modelOf(message) },
    key: { item, what: '' },
  }
  return [...said.map((draft) => ({ ...draft, key: keyOf(draft, item) })), rest]
}

/** Calls and results are the same wherever they stand: a result is recorded with its call and once more as a message. */
function keyOf({ source_type, tool_call, segments, metadata, role }: MessageDraft, item: string) {
  if (tool_call?.call_id) return { item, what: `${source_type} ${tool_call.call_id}` }
  const texts = tool_call?.output ?? metadata?.reasoning_summary ?? textKey(segments)
  return { item, what: `${role} ${checksum(Buffer.from(texts))}` }
}

const textKey = (segments: readonly MessageSegment[]): string =>
  segments.map(({ text, media }) => text ?? media?.data_uri ?? media?.url ?? '').join('')

function othersDrafts(message: Fields, type: string): readonly MessageDraft[] {
  const parts = withoutMark(partsOf(message['content']))
  const segments = segmentsOf(parts, type === 'user' ? 'input' : 'system')
  if (type === 'user') {
    const results = responsePartsOf(parts).map((response) =>
      responseDraft([{ functionResponse: response }], { id: response['id'], payload_type: 'functionResponse' }),
    )
    const attachments = attachmentsIn(parts)
    const isEmpty = !hasContent(segments) && attachments.length === 0
    return isEmpty ? results : [...results, promptDraft(message, segments, attachments)]
  }
  return [{ role: 'meta', source_type: 'meta', payload_type: type, segments, metadata: { event_kind: type } }]
}

const PROGRAM_TEXT = /^\s*<(?:session_context|hook_context)\b/
const COMMAND = /^\s*[/?]/
export const startsLikeCommand = (text: string): boolean => COMMAND.test(text) || PROGRAM_TEXT.test(text)
const SUMMARY = /^\s*<state_snapshot>/

/** The first text of a history that was compressed. */
const isSummary = (message: Fields | undefined): boolean =>
  message?.['type'] === 'user' && SUMMARY.test(plainTextOf(message['content']))

function promptDraft(
  message: Fields,
  segments: readonly MessageSegment[],
  attachments: Metadata['attachments'] & {},
): MessageDraft {
  const text = plainTextOf(message['content'])
  const metadata: Metadata = {
    ...(attachments.length > 0 && { attachments }),
    ...(isSummary(message) && { kind: 'summary' }),
    ...((PROGRAM_TEXT.test(text) || COMMAND.test(text)) && { injected: true }),
  }
  const shown = segmentsOf(partsOf(message['displayContent'] ?? []), 'input')
  return {
    role: isSummary(message) ? 'system' : 'user',
    source_type: 'message',
    payload_type: 'user',
    segments: markInjected(segments, shown),
    metadata,
  }
}

/** What the program added to the text that the person sees: the content of files, notes to the model. */
function markInjected(
  segments: readonly MessageSegment[],
  shown: readonly MessageSegment[],
): readonly MessageSegment[] {
  const typed = new Set(shown.map(({ text }) => text))
  if (!segments.some(({ text }) => typed.has(text))) return segments
  return segments.map((segment) => {
    const { text } = segment
    if (text === undefined || typed.has(text)) return segment
    return { ...segment, annotations: [{ kind: 'injected', start: 0, end: text.length, what: 'reference' }] }
  })
}

/**
 * Where the content holds calls or thoughts as parts, it is the whole truth and `toolCalls` adds only what became of
 * them; otherwise thoughts and calls stand beside the text.
 */
function answerDrafts(message: Fields, followsSummary: boolean): readonly MessageDraft[] {
  const parts = partsOf(message['content'])
  const inner = thoughtTextsOf(parts)
  const thoughts = inner.length > 0 ? inner : listOfFields(message['thoughts']).flatMap(thoughtText)
  const tools = listOfFields(message['toolCalls'])
  const known = new Set(tools.map(({ id }) => id))
  const segments = segmentsOf(parts, 'output')
  const attachments = attachmentsIn(parts)
  const own = modelOf(message)
  const words: readonly MessageDraft[] =
    hasContent(segments) || attachments.length > 0
      ? [
          {
            role: followsSummary ? 'meta' : 'assistant',
            source_type: followsSummary ? 'meta' : 'message',
            payload_type: 'gemini',
            segments,
            metadata: {
              ...own,
              ...(attachments.length > 0 && { attachments }),
              ...(followsSummary && { event_kind: 'summary_answer' }),
            },
          },
        ]
      : []
  const calls = callPartsOf(parts)
    .filter(({ id }) => !known.has(id))
    .map(({ id, name, args }) => callDraft(id, name, args, 'functionCall'))
  return [
    ...thoughts.map((text) => thoughtDraft(text, 'thought')),
    ...words,
    ...[...calls, ...tools.map(toolDraft)].map((draft) => ({ ...draft, metadata: { ...draft.metadata, ...own } })),
    ...tools.flatMap(resultDrafts),
  ]
}

const modelOf = (message: Fields): Metadata => {
  const model = nonEmptyStringOf(message['model'])
  return model === undefined ? {} : { model }
}

/** As Gemini CLI sends it, and writes it into a list when a session is resumed. */
function thoughtText({ subject, description }: Fields): readonly string[] {
  const [head, body] = [nonEmptyStringOf(subject), nonEmptyStringOf(description)]
  if (head === undefined) return body === undefined ? [] : [body]
  return [body === undefined ? `**${head}**` : `**${head}** ${body}`]
}

function toolDraft(tool: Fields): MessageDraft {
  const { displayName, description, agentId } = tool
  const values = { displayName, description, agentId }
  const shown = Object.fromEntries(Object.entries(values).filter(([, value]) => typeof value === 'string' && value))
  return { ...callDraft(tool['id'], tool['name'], tool['args'], 'toolCall'), metadata: metadataFromSource(shown) }
}

const ENDED: Readonly<Record<string, ToolStatus>> = { success: 'success', error: 'error', cancelled: 'cancelled' }

/** None while the tool runs or waits for approval. */
function resultDrafts(tool: Fields): readonly MessageDraft[] {
  const source_status = stringOf(tool['status'])
  const ended = source_status !== undefined && Object.hasOwn(ENDED, source_status) ? ENDED[source_status] : undefined
  const parts = partsOf(tool['result'] ?? [])
  const display = tool['resultDisplay']
  if (!ended && parts.length === 0) return []
  const draft = responseDraft(parts, {
    id: tool['id'],
    payload_type: 'toolCall',
    status: ended,
    source_status,
    shown: stringOf(display),
  })
  const shown = isObject(display) ? { resultDisplay: display } : {}
  return [{ ...draft, stamp: tool['timestamp'], metadata: { ...draft.metadata, ...metadataFromSource(shown) } }]
}

/** Cached input is part of the input; thoughts are not part of the output. */
const TOKEN_NAMES = {
  input: 'input',
  output: 'output',
  cached: 'cached',
  thoughts: 'thoughts',
  tool: 'tool',
  total: 'total',
  outputHasThoughts: false,
} as const

export const usageOf = (message: Fields): Usage | undefined => usageFrom(message['tokens'], TOKEN_NAMES)
