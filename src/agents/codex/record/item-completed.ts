/** `item_completed`: how a paginated thread says what events said before it. */
import { type Fields, fieldsOf, listOf, nonEmptyStringOf, stringOf } from '../../../lib/object.ts'
import type { MessageSegment } from '../../../model/normalized.ts'
import { NumberCheck } from '../../../model/numbers.ts'
import {
  type Enrichment,
  metaDraft,
  NO_SEGMENTS,
  type RecordDraft,
  type RecordFact,
  type TextAuthor,
  withFaults,
} from './draft.ts'
import { unknownMetadata } from './items.ts'
import { changedFiles, parseDuration } from './output.ts'

/** Item types whose words also stand in an item of the conversation. */
const TEXT_ITEMS: ReadonlyMap<string, TextAuthor> = new Map([
  ['UserMessage', 'user'],
  ['AgentMessage', 'assistant'],
  ['Reasoning', 'reasoning'],
])

/** Item types that belong to a call: their id is the call's. */
const CALL_ITEMS: ReadonlySet<string> = new Set([
  'CommandExecution',
  'FileChange',
  'McpToolCall',
  'WebSearch',
  'ImageView',
  'ImageGeneration',
  'DynamicToolCall',
  'CollabAgentToolCall',
])

export function completedItemDraft(payload: Fields, type: string): RecordDraft {
  const item = fieldsOf(payload['item']) ?? {}
  const kind = stringOf(item['type']) ?? null
  const metadata: Record<string, unknown> = { event_kind: type, item_kind: kind }
  for (const key of ['thread_id', 'turn_id', 'started_at_ms', 'completed_at_ms']) {
    if (payload[key] !== undefined) metadata[key] = payload[key]
  }
  const author = kind === null ? undefined : TEXT_ITEMS.get(kind)
  if (author) return textItemDraft(item, type, author, metadata)
  if (kind !== null && CALL_ITEMS.has(kind)) return callItemDraft(item, type, metadata)
  const review = kind === 'EnteredReviewMode' || kind === 'ExitedReviewMode'
  const fact: RecordFact | undefined = review ? { kind: 'review', open: kind === 'EnteredReviewMode' } : undefined
  const { text, review: found, ...rest } = item
  const itemText = nonEmptyStringOf(text) ?? nonEmptyStringOf(found)
  metadata['item'] = unknownMetadata(rest)
  return metaDraft(type, metadata, segmentsOf(itemText, type, 'assistant'), fact)
}

function textItemDraft(item: Fields, type: string, who: TextAuthor, metadata: Record<string, unknown>): RecordDraft {
  const texts =
    who === 'reasoning'
      ? listOf(item['summary_text']).flatMap(textsOfPart)
      : listOf(item['content']).flatMap(textsOfPart)
  if (texts.length === 0) return metaDraft(type, metadata)
  const fact: RecordFact = { kind: 'said', who, by: 'event', texts }
  if (who === 'reasoning')
    return metaDraft(type, { ...metadata, reasoning_summary: texts.join('\n\n') }, NO_SEGMENTS, fact)
  const phase = nonEmptyStringOf(item['phase'])
  if (phase !== undefined) metadata['phase'] = phase
  return metaDraft(
    type,
    metadata,
    texts.flatMap((text) => segmentsOf(text, type, who)),
    fact,
  )
}

function callItemDraft(item: Fields, type: string, metadata: Record<string, unknown>): RecordDraft {
  const { stdout: _o, stderr: _e, aggregated_output: _a, formatted_output: _f, result: _r, type: _t, ...rest } = item
  const check = new NumberCheck()
  const duration =
    parseDuration(item['duration'], check) ??
    check.duration(item['duration_ms'], 'duration_ms') ??
    check.duration(item['durationMs'], 'durationMs')
  metadata['item'] = unknownMetadata(rest)
  if (duration !== undefined) metadata['duration_ms'] = duration
  if (item['receiver_thread_ids'] !== undefined) metadata['receiver_thread_ids'] = item['receiver_thread_ids']
  if (item['changes'] !== undefined) metadata['files'] = changedFiles(item['changes'])
  const call_id = nonEmptyStringOf(item['call_id']) ?? nonEmptyStringOf(item['id'])
  if (call_id === undefined) return withFaults(metaDraft(type, metadata), check)
  const exit = check.exitCode(item['exit_code'], 'exit_code') ?? check.exitCode(item['exitCode'], 'exitCode')
  const failed = item['status'] === 'failed' || fieldsOf(item['result'])?.['isError'] === true || (exit ?? 0) !== 0
  const found: Enrichment = {
    ...(exit === undefined ? {} : { exit_code: exit }),
    ...(duration === undefined ? {} : { duration_ms: duration }),
    failed,
  }
  return withFaults(metaDraft(type, metadata, NO_SEGMENTS, { kind: 'enrichment', call_id, found }), check)
}

const textsOfPart = (part: unknown): readonly string[] => {
  const text = nonEmptyStringOf(part) ?? nonEmptyStringOf(fieldsOf(part)?.['text'])
  return text === undefined ? [] : [text]
}

function segmentsOf(text: string | undefined, format: string, who: TextAuthor): readonly MessageSegment[] {
  if (text === undefined) return NO_SEGMENTS
  return [{ channel: who === 'user' ? 'input' : 'output', type: 'text', format, text }]
}
