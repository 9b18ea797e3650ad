/** Events: what Codex showed on its screen or counted while the conversation went on. All are meta. */
import { type Fields, fieldsOf, isObject, listOf, stringOf, wordOf } from '../../../lib/object.ts'
import type { MessageSegment, Metadata } from '../../../model/normalized.ts'
import { NumberCheck } from '../../../model/numbers.ts'
import { reportOf } from '../count/tokens.ts'
import { mediaOf } from './content.ts'
import { type Draft, type Enrichment, type Fact, meta, NO_SEGMENTS, type Speaker, withFaults } from './draft.ts'
import { completedItem } from './item-completed.ts'
import { unknownMetadata } from './items.ts'
import { durationOf, filesOf } from './output.ts'

type Maker = (payload: Fields, type: string) => Draft

const MAKERS: ReadonlyMap<string, Maker> = new Map(
  Object.entries<Maker>({
    user_message: userMessage,
    agent_message: (payload, type) => spoken(payload, type, 'assistant', stringOf(payload['message'])),
    agent_reasoning: thought,
    agent_reasoning_raw_content: thought,
    token_count: tokenCount,
    entered_review_mode: (payload, type) => review(payload, type, true),
    exited_review_mode: (payload, type) => review(payload, type, false),
    task_complete: taskComplete,
    turn_complete: taskComplete,
    thread_rolled_back: rolledBack,
    item_completed: completedItem,
    exec_command_end: commandEnd,
    patch_apply_end: (payload, type) => enrichment(payload, type, { failed: payload['success'] === false }, []),
    mcp_tool_call_end: (payload, type) => enrichment(payload, type, mcpEnd(payload), []),
    web_search_end: (payload, type) => enrichment(payload, type, {}, ['action']),
    image_generation_end: (payload, type) => enrichment(payload, type, {}, []),
    view_image_tool_call: (payload, type) => enrichment(payload, type, {}, []),
    dynamic_tool_call_response: (payload, type) => enrichment(payload, type, dynamicEnd(payload), []),
    thread_settings_applied: (payload, type) => meta(type, keep(payload, type, ['thread_settings'])),
    thread_goal_updated: (payload, type) => meta(type, keep(payload, type, ['goal'])),
    guardian_assessment: (payload, type) => meta(type, keep(payload, type, ['action'])),
    collab_waiting_end: (payload, type) => meta(type, keep(payload, type, ['statuses', 'agent_statuses'])),
    error: (payload, type) =>
      meta(type, keep(payload, type, ['codex_error_info', 'error']), said(payload['message'], type)),
  }),
)

/** Known events that need nothing but their plain values. */
const PLAIN = [
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

export const EVENT_TYPES: ReadonlySet<string> = new Set([...MAKERS.keys(), ...PLAIN])

export function eventDraft(payload: Fields): Draft {
  // `kind` names the event in no log that was ever seen, but the specification says it could.
  const type = stringOf(payload['type']) ?? stringOf(payload['kind']) ?? null
  if (type === null) return meta(null, { event_kind: null, ...unknownMetadata(payload) })
  return MAKERS.get(type)?.(payload, type) ?? meta(type, keep(payload, type, []))
}

/** The plain values, and the nested ones that are named. */
function keep(payload: Fields, type: string, nested: readonly string[]): Metadata {
  const metadata: Record<string, unknown> = { event_kind: type, ...unknownMetadata(payload) }
  for (const key of nested) if (payload[key] !== undefined) metadata[key] = payload[key]
  return metadata
}

function userMessage(payload: Fields, type: string): Draft {
  const text = stringOf(payload['message'])
  const images = listOf(payload['images']).flatMap((url) => imageSegment(url, type))
  const draft = spoken(payload, type, 'user', text)
  const local = listOf(payload['local_images'])
  return {
    ...draft,
    segments: [...draft.segments, ...images],
    metadata: local.length > 0 ? { ...draft.metadata, local_images: local } : draft.metadata,
  }
}

function imageSegment(url: unknown, format: string): readonly MessageSegment[] {
  const address = wordOf(url)
  return address === undefined ? [] : [{ channel: 'input', type: 'image', format, media: mediaOf(address) }]
}

function spoken(payload: Fields, type: string, who: Speaker, text: string | undefined): Draft {
  const metadata: Record<string, unknown> = { event_kind: type }
  const phase = wordOf(payload['phase'])
  if (phase !== undefined) metadata['phase'] = phase
  if (text === undefined) return meta(type, metadata)
  const channel = who === 'user' ? 'input' : 'output'
  return meta(type, metadata, [{ channel, type: 'text', format: type, text }], {
    kind: 'said',
    who,
    by: 'event',
    texts: [text],
  })
}

function thought(payload: Fields, type: string): Draft {
  const text = stringOf(payload['text'])
  if (text === undefined) return meta(type, { event_kind: type })
  const fact: Fact = { kind: 'said', who: 'reasoning', by: 'event', texts: [text] }
  const key = type === 'agent_reasoning' ? 'reasoning_summary' : 'reasoning_text'
  return meta(type, { event_kind: type, [key]: text }, NO_SEGMENTS, fact)
}

function tokenCount(payload: Fields, type: string): Draft {
  const { type: _, x_conv: __, ...counts } = payload
  const report = reportOf(payload)
  const draft = meta(type, { event_kind: type, token_count: counts }, NO_SEGMENTS, report && { kind: 'tokens', report })
  return report?.faults ? { ...draft, faults: report.faults } : draft
}

function review(payload: Fields, type: string, open: boolean): Draft {
  const fact: Fact = { kind: 'review', open }
  const output = fieldsOf(payload['review_output'])
  return meta(type, keep(payload, type, ['target', 'review_output']), said(output?.['overall_explanation'], type), fact)
}

function taskComplete(payload: Fields, type: string): Draft {
  const { last_agent_message: last, ...rest } = payload
  const text = wordOf(last)
  return meta(
    type,
    keep(rest, type, ['error']),
    said(text, type),
    text === undefined ? undefined : { kind: 'closing', text },
  )
}

function rolledBack(payload: Fields, type: string): Draft {
  const check = new NumberCheck()
  const turns = check.count(payload['num_turns'], 'num_turns') ?? 0
  return withFaults(meta(type, keep(payload, type, []), NO_SEGMENTS, { kind: 'rollback', turns }), check)
}

/** Facts about a call that its own result may not tell. The output is not repeated: the result holds it. */
function enrichment(
  payload: Fields,
  type: string,
  found: Enrichment,
  nested: readonly string[],
  check = new NumberCheck(),
): Draft {
  const { stdout: _o, stderr: _e, aggregated_output: _a, formatted_output: _f, result: _r, ...rest } = payload
  const metadata: Record<string, unknown> = { ...keep(rest, type, nested) }
  const invocation = fieldsOf(payload['invocation'])
  if (invocation) metadata['invocation'] = { server: invocation['server'], tool: invocation['tool'] }
  const duration = found.duration_ms ?? durationOf(payload['duration'], check)
  if (duration !== undefined) metadata['duration_ms'] = duration
  if (payload['changes'] !== undefined) metadata['files'] = filesOf(payload['changes'])
  const call_id = wordOf(payload['call_id']) ?? wordOf(payload['callId'])
  if (call_id === undefined) return withFaults(meta(type, metadata), check)
  const fact: Fact = {
    kind: 'enrichment',
    call_id,
    found: duration === undefined ? found : { ...found, duration_ms: duration },
  }
  return withFaults(meta(type, metadata, NO_SEGMENTS, fact), check)
}

function commandEnd(payload: Fields, type: string): Draft {
  const check = new NumberCheck()
  const exit_code = check.exitCode(payload['exit_code'], 'exit_code')
  const found = exit_code === undefined ? {} : { exit_code, failed: exit_code !== 0 }
  return enrichment(payload, type, found, ['parsed_cmd', 'command'], check)
}

/** `{"Ok": {…, isError}}` or `{"Err": "text"}`. */
function mcpEnd(payload: Fields): Enrichment {
  const result = fieldsOf(payload['result'])
  const ok = fieldsOf(result?.['Ok'])
  return { failed: result?.['Err'] !== undefined || ok?.['isError'] === true || ok?.['is_error'] === true }
}

function dynamicEnd(payload: Fields): Enrichment {
  return { failed: payload['success'] === false || isObject(payload['error']) }
}

function said(text: unknown, format: string): readonly MessageSegment[] {
  const words = wordOf(text)
  return words === undefined ? NO_SEGMENTS : [{ channel: 'system', type: 'text', format, text: words }]
}
