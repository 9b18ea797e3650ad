/** `item_completed`: how a paginated thread says what events said before it. */
import { type Fields, fieldsOf, listOf, stringOf, wordOf } from '../../../lib/object.ts'
import type { MessageSegment } from '../../../model/normalized.ts'
import { NumberCheck } from '../../../model/numbers.ts'
import { type Draft, type Enrichment, type Fact, meta, NO_SEGMENTS, type Speaker, withFaults } from './draft.ts'
import { unknownMetadata } from './items.ts'
import { durationOf, filesOf } from './output.ts'

/** Item types whose words also stand in an item of the conversation. */
const SPEAKERS: ReadonlyMap<string, Speaker> = new Map([
  ['UserMessage', 'user'],
  ['AgentMessage', 'assistant'],
  ['Reasoning', 'reasoning'],
])

/** Item types that belong to a call: their id is the call's. */
const CALLS: ReadonlySet<string> = new Set([
  'CommandExecution',
  'FileChange',
  'McpToolCall',
  'WebSearch',
  'ImageView',
  'ImageGeneration',
  'DynamicToolCall',
  'CollabAgentToolCall',
])

export function completedItem(payload: Fields, type: string): Draft {
  const item = fieldsOf(payload['item']) ?? {}
  const kind = stringOf(item['type']) ?? null
  const metadata: Record<string, unknown> = { event_kind: type, item_kind: kind }
  for (const key of ['thread_id', 'turn_id', 'started_at_ms', 'completed_at_ms']) {
    if (payload[key] !== undefined) metadata[key] = payload[key]
  }
  const speaker = kind === null ? undefined : SPEAKERS.get(kind)
  if (speaker) return spokenItem(item, type, speaker, metadata)
  if (kind !== null && CALLS.has(kind)) return callItem(item, type, metadata)
  const review = kind === 'EnteredReviewMode' || kind === 'ExitedReviewMode'
  const fact: Fact | undefined = review ? { kind: 'review', open: kind === 'EnteredReviewMode' } : undefined
  const { text, review: found, ...rest } = item
  const words = wordOf(text) ?? wordOf(found)
  metadata['item'] = unknownMetadata(rest)
  return meta(type, metadata, segmentsOf(words, type, 'assistant'), fact)
}

function spokenItem(item: Fields, type: string, who: Speaker, metadata: Record<string, unknown>): Draft {
  const texts =
    who === 'reasoning' ? listOf(item['summary_text']).flatMap(wordsOf) : listOf(item['content']).flatMap(wordsOf)
  if (texts.length === 0) return meta(type, metadata)
  const fact: Fact = { kind: 'said', who, by: 'event', texts }
  if (who === 'reasoning') return meta(type, { ...metadata, reasoning_summary: texts.join('\n\n') }, NO_SEGMENTS, fact)
  const phase = wordOf(item['phase'])
  if (phase !== undefined) metadata['phase'] = phase
  return meta(
    type,
    metadata,
    texts.flatMap((text) => segmentsOf(text, type, who)),
    fact,
  )
}

function callItem(item: Fields, type: string, metadata: Record<string, unknown>): Draft {
  const { stdout: _o, stderr: _e, aggregated_output: _a, formatted_output: _f, result: _r, type: _t, ...rest } = item
  const check = new NumberCheck()
  const duration =
    durationOf(item['duration'], check) ??
    check.duration(item['duration_ms'], 'duration_ms') ??
    check.duration(item['durationMs'], 'durationMs')
  metadata['item'] = unknownMetadata(rest)
  if (duration !== undefined) metadata['duration_ms'] = duration
  if (item['receiver_thread_ids'] !== undefined) metadata['receiver_thread_ids'] = item['receiver_thread_ids']
  if (item['changes'] !== undefined) metadata['files'] = filesOf(item['changes'])
  const call_id = wordOf(item['call_id']) ?? wordOf(item['id'])
  if (call_id === undefined) return withFaults(meta(type, metadata), check)
  const exit = check.exitCode(item['exit_code'], 'exit_code') ?? check.exitCode(item['exitCode'], 'exitCode')
  const failed = item['status'] === 'failed' || fieldsOf(item['result'])?.['isError'] === true || (exit ?? 0) !== 0
  const found: Enrichment = {
    ...(exit === undefined ? {} : { exit_code: exit }),
    ...(duration === undefined ? {} : { duration_ms: duration }),
    failed,
  }
  return withFaults(meta(type, metadata, NO_SEGMENTS, { kind: 'enrichment', call_id, found }), check)
}

const wordsOf = (part: unknown): readonly string[] => {
  const text = wordOf(part) ?? wordOf(fieldsOf(part)?.['text'])
  return text === undefined ? [] : [text]
}

function segmentsOf(text: string | undefined, format: string, who: Speaker): readonly MessageSegment[] {
  if (text === undefined) return NO_SEGMENTS
  return [{ channel: who === 'user' ? 'input' : 'output', type: 'text', format, text }]
}
