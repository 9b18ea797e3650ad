/** Events: what Codex showed on its screen or counted. All become meta messages. */

import { mergeFields } from '../../../lib/merge-fields.ts'
import { type Fields, fieldsOf, isObject, listOf, nonEmptyStringOf, stringOf } from '../../../lib/unknown-values.ts'
import { NumberCheck } from '../../../model/checked-numbers.ts'
import type { Metadata } from '../../../model/metadata.ts'
import type { MessageSegment } from '../../../model/normalized.ts'
import type { Enrichment } from '../../kit/call-pairing.ts'
import { NO_SEGMENTS } from '../../kit/place-message.ts'
import { mediaOf } from './content.ts'
import { metaDraft, type RecordDraft, type RecordFact, type TextAuthor, withFaults } from './draft.ts'
import { unknownMetadata } from './items.ts'
import { parseTokenReport } from './tokens.ts'
import { changedFiles, parseDuration } from './tools.ts'

type EventParser = (payload: Fields, type: string) => RecordDraft

const EVENT_PARSERS: ReadonlyMap<string, EventParser> = new Map(
  Object.entries<EventParser>({
    user_message: userMessageDraft,
    agent_message: (payload, type) => textEventDraft(payload, type, 'assistant', stringOf(payload['message'])),
    agent_reasoning: reasoningDraft,
    agent_reasoning_raw_content: reasoningDraft,
    token_count: tokenCountDraft,
    entered_review_mode: (payload, type) => reviewDraft(payload, type, true),
    exited_review_mode: (payload, type) => reviewDraft(payload, type, false),
    task_complete: taskCompleteDraft,
    turn_complete: taskCompleteDraft,
    thread_rolled_back: rollbackDraft,
    item_completed: completedItemDraft,
    exec_command_end: commandEndDraft,
    patch_apply_end: (payload, type) => enrichmentDraft(payload, type, { failed: payload['success'] === false }, []),
    mcp_tool_call_end: (payload, type) => enrichmentDraft(payload, type, mcpOutcome(payload), []),
    web_search_end: (payload, type) => enrichmentDraft(payload, type, {}, ['action']),
    image_generation_end: (payload, type) => enrichmentDraft(payload, type, {}, []),
    view_image_tool_call: (payload, type) => enrichmentDraft(payload, type, {}, []),
    dynamic_tool_call_response: (payload, type) => enrichmentDraft(payload, type, dynamicToolOutcome(payload), []),
    thread_settings_applied: (payload, type) => metaDraft(type, eventMetadata(payload, type, ['thread_settings'])),
    thread_goal_updated: (payload, type) => metaDraft(type, eventMetadata(payload, type, ['goal'])),
    guardian_assessment: (payload, type) => metaDraft(type, eventMetadata(payload, type, ['action'])),
    collab_waiting_end: (payload, type) =>
      metaDraft(type, eventMetadata(payload, type, ['statuses', 'agent_statuses'])),
    error: (payload, type) =>
      metaDraft(
        type,
        eventMetadata(payload, type, ['codex_error_info', 'error']),
        systemSegments(payload['message'], type),
      ),
  }),
)

/** Known events that need nothing but their plain values. */
const PLAIN_EVENTS = [
  'turn_aborted',
  'undo_completed',
  'context_compacted',
  'task_started',
  'turn_started',
  'thread_name_updated',
  'sub_agent_activity',
  'collab_agent_spawn_end',
  'collab_agent_interaction_end',
  'collab_close_end',
  'collab_resume_end',
  'dynamic_tool_call_request',
]

export const EVENT_TYPES: ReadonlySet<string> = new Set([...EVENT_PARSERS.keys(), ...PLAIN_EVENTS])

export function eventDraft(payload: Fields): RecordDraft {
  // No known log names the event `kind`, but the specification allows it.
  const type = stringOf(payload['type']) ?? stringOf(payload['kind']) ?? null
  if (type === null) return metaDraft(null, { event_kind: null, ...unknownMetadata(payload) })
  return EVENT_PARSERS.get(type)?.(payload, type) ?? metaDraft(type, eventMetadata(payload, type, []))
}

/** The plain values, and the nested ones that are named. */
function eventMetadata(payload: Fields, type: string, nested: readonly string[]): Metadata {
  const metadata: Record<string, unknown> = { event_kind: type, ...unknownMetadata(payload) }
  for (const key of nested) if (payload[key] !== undefined) metadata[key] = payload[key]
  return metadata
}

function userMessageDraft(payload: Fields, type: string): RecordDraft {
  const text = stringOf(payload['message'])
  const images = listOf(payload['images']).flatMap((url) => imageSegment(url, type))
  const draft = textEventDraft(payload, type, 'user', text)
  const local = listOf(payload['local_images'])
  return {
    ...draft,
    segments: [...draft.segments, ...images],
    metadata: local.length > 0 ? { ...draft.metadata, local_images: local } : draft.metadata,
  }
}

function imageSegment(url: unknown, format: string): readonly MessageSegment[] {
  const address = nonEmptyStringOf(url)
  return address === undefined ? [] : [{ channel: 'input', type: 'image', format, media: mediaOf(address) }]
}

function textEventDraft(payload: Fields, type: string, who: TextAuthor, text: string | undefined): RecordDraft {
  const metadata: Record<string, unknown> = { event_kind: type }
  const phase = nonEmptyStringOf(payload['phase'])
  if (phase !== undefined) metadata['phase'] = phase
  if (text === undefined) return metaDraft(type, metadata)
  const channel = who === 'user' ? 'input' : 'output'
  return metaDraft(type, metadata, [{ channel, type: 'text', format: type, text }], {
    kind: 'said',
    who,
    by: 'event',
    texts: [text],
  })
}

function reasoningDraft(payload: Fields, type: string): RecordDraft {
  const text = stringOf(payload['text'])
  if (text === undefined) return metaDraft(type, { event_kind: type })
  const fact: RecordFact = { kind: 'said', who: 'reasoning', by: 'event', texts: [text] }
  const key = type === 'agent_reasoning' ? 'reasoning_summary' : 'reasoning_text'
  return metaDraft(type, { event_kind: type, [key]: text }, NO_SEGMENTS, fact)
}

function tokenCountDraft(payload: Fields, type: string): RecordDraft {
  const { type: _, x_conv: __, ...counts } = payload
  const report = parseTokenReport(payload)
  const draft = metaDraft(
    type,
    { event_kind: type, token_count: counts },
    NO_SEGMENTS,
    report && { kind: 'tokens', report },
  )
  return report?.faults ? { ...draft, faults: report.faults } : draft
}

function reviewDraft(payload: Fields, type: string, open: boolean): RecordDraft {
  const fact: RecordFact = { kind: 'review', open }
  const output = fieldsOf(payload['review_output'])
  return metaDraft(
    type,
    eventMetadata(payload, type, ['target', 'review_output']),
    systemSegments(output?.['overall_explanation'], type),
    fact,
  )
}

function taskCompleteDraft(payload: Fields, type: string): RecordDraft {
  const { last_agent_message: last, ...rest } = payload
  const text = nonEmptyStringOf(last)
  return metaDraft(
    type,
    eventMetadata(rest, type, ['error']),
    systemSegments(text, type),
    text === undefined ? undefined : { kind: 'closing', text },
  )
}

function rollbackDraft(payload: Fields, type: string): RecordDraft {
  const check = new NumberCheck()
  const turns = check.count(payload['num_turns'], 'num_turns') ?? 0
  return withFaults(metaDraft(type, eventMetadata(payload, type, []), NO_SEGMENTS, { kind: 'rollback', turns }), check)
}

/** Facts about a call that its result may lack. The output is left out: the result has it. */
function enrichmentDraft(
  payload: Fields,
  type: string,
  found: Enrichment,
  nested: readonly string[],
  check = new NumberCheck(),
): RecordDraft {
  const { stdout: _o, stderr: _e, aggregated_output: _a, formatted_output: _f, result: _r, ...rest } = payload
  const metadata: Record<string, unknown> = { ...eventMetadata(rest, type, nested) }
  const invocation = fieldsOf(payload['invocation'])
  if (invocation) metadata['invocation'] = { server: invocation['server'], tool: invocation['tool'] }
  const duration = found.duration_ms ?? parseDuration(payload['duration'], check)
  if (duration !== undefined) metadata['duration_ms'] = duration
  if (payload['changes'] !== undefined) metadata['files'] = changedFiles(payload['changes'])
  const call_id = nonEmptyStringOf(payload['call_id']) ?? nonEmptyStringOf(payload['callId'])
  if (call_id === undefined) return withFaults(metaDraft(type, metadata), check)
  const fact: RecordFact = {
    kind: 'enrichment',
    call_id,
    found: duration === undefined ? found : mergeFields(found, { duration_ms: duration }),
  }
  return withFaults(metaDraft(type, metadata, NO_SEGMENTS, fact), check)
}

function commandEndDraft(payload: Fields, type: string): RecordDraft {
  const check = new NumberCheck()
  const exit_code = check.exitCode(payload['exit_code'], 'exit_code')
  const found = exit_code === undefined ? {} : { exit_code, failed: exit_code !== 0 }
  return enrichmentDraft(payload, type, found, ['parsed_cmd', 'command'], check)
}

/** `{"Ok": {…, isError}}` or `{"Err": "text"}`. */
function mcpOutcome(payload: Fields): Enrichment {
  const result = fieldsOf(payload['result'])
  const ok = fieldsOf(result?.['Ok'])
  return { failed: result?.['Err'] !== undefined || ok?.['isError'] === true || ok?.['is_error'] === true }
}

function dynamicToolOutcome(payload: Fields): Enrichment {
  return { failed: payload['success'] === false || isObject(payload['error']) }
}

function systemSegments(text: unknown, format: string): readonly MessageSegment[] {
  const content = nonEmptyStringOf(text)
  return content === undefined ? NO_SEGMENTS : [{ channel: 'system', type: 'text', format, text: content }]
}

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

function completedItemDraft(payload: Fields, type: string): RecordDraft {
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
    return metaDraft(type, mergeFields(metadata, { reasoning_summary: texts.join('\n\n') }), NO_SEGMENTS, fact)
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
