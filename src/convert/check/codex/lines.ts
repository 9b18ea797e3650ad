/** The lines of a rollout that are no items: headers, events, turns, compactions. */
import { type Fields, isObject, numberOf, stringOf } from '../../../lib/unknown-values.ts'
import { isUuid, toInstant } from '../../../model/ids.ts'
import { phrase } from '../../../model/phrase.ts'
import { checkItem } from './items.ts'
import { type CodexReport, SHOULD_BE_TEXT, shouldBe } from './rules.ts'

/** `session_state` and `token_usage_record` were or will be written by some versions only. */
export const LINE_TYPES: ReadonlySet<string> = new Set([
  'session_meta',
  'response_item',
  'event_msg',
  'turn_context',
  'compacted',
  'world_state',
  'session_state',
  'inter_agent_communication',
  'inter_agent_communication_metadata',
  'security_risk_score',
  'token_usage_record',
])

export function checkSessionMeta(payload: Fields, place: string, report: CodexReport): void {
  for (const name of ['id', 'timestamp', 'cwd', 'originator', 'cli_version'])
    if (typeof payload[name] !== 'string') report('header_fields', `${place}.${name}`, SHOULD_BE_TEXT)
  if (typeof payload['id'] === 'string' && !isUuid(payload['id']))
    report('header_fields', `${place}.id`, phrase('The id of a session is a UUID.', '会話の ID は UUID です。'))
  if (typeof payload['timestamp'] === 'string' && !toInstant(payload['timestamp']))
    report('header_fields', `${place}.timestamp`, shouldBe('a time', '時刻'))
  const source = payload['source']
  if (source !== undefined && typeof source !== 'string' && !(isObject(source) && Object.keys(source).length === 1))
    report(
      'header_fields',
      `${place}.source`,
      shouldBe('a text or an object of one key', '文字列か、キーが 1 つのオブジェクト'),
    )
}

export function checkTurnContext(payload: Fields, place: string, report: CodexReport): void {
  for (const name of ['cwd', 'model'])
    if (typeof payload[name] !== 'string') report('turn_context_fields', `${place}.${name}`, SHOULD_BE_TEXT)
  if (typeof payload['approval_policy'] !== 'string' && !isObject(payload['approval_policy']))
    report('turn_context_fields', `${place}.approval_policy`, shouldBe('a text or an object', '文字列かオブジェクト'))
  if (!isObject(payload['sandbox_policy']))
    report('turn_context_fields', `${place}.sandbox_policy`, shouldBe('an object', 'オブジェクト'))
}

export function checkCompacted(payload: Fields, place: string, report: CodexReport): void {
  if (typeof payload['message'] !== 'string') report('compacted_fields', `${place}.message`, SHOULD_BE_TEXT)
  const replacement = payload['replacement_history']
  if (replacement === undefined || replacement === null) return
  if (!Array.isArray(replacement))
    return report('compacted_fields', `${place}.replacement_history`, shouldBe('a list', '一覧'))
  replacement.forEach((item, at) => {
    checkItem(isObject(item) ? item : {}, `${place}.replacement_history[${at}]`, report)
  })
}

/** Those that any version keeps in its logs. */
const LOGGED_EVENTS = new Set([
  ...['user_message', 'agent_message', 'agent_reasoning', 'agent_reasoning_raw_content', 'token_count', 'error'],
  ...['entered_review_mode', 'exited_review_mode', 'turn_aborted', 'undo_completed', 'context_compacted'],
  ...['thread_rolled_back', 'item_completed', 'task_started', 'task_complete', 'turn_started', 'turn_complete'],
  ...['exec_command_end', 'view_image_tool_call', 'guardian_assessment', 'patch_apply_end', 'mcp_tool_call_end'],
  ...['dynamic_tool_call_request', 'dynamic_tool_call_response', 'web_search_end', 'image_generation_end'],
  ...['thread_name_updated', 'thread_goal_updated', 'sub_agent_activity', 'thread_settings_applied'],
])

const EVENT_TEXT_FIELDS: Readonly<Record<string, string>> = {
  user_message: 'message',
  agent_message: 'message',
  agent_reasoning: 'text',
}

/** @returns whether the line is read */
export function checkEvent(payload: Fields, place: string, report: CodexReport): boolean {
  const type = stringOf(payload['type']) ?? ''
  if (!LOGGED_EVENTS.has(type) && !/^collab_\w+_end$/.test(type)) {
    report(
      'event_type',
      `${place}.type`,
      phrase(
        'No such event is kept in logs; it is passed over.',
        'このイベントはログに残らないため、読み飛ばされます。',
      ),
    )
    return false
  }
  const name = Object.hasOwn(EVENT_TEXT_FIELDS, type) ? EVENT_TEXT_FIELDS[type] : undefined
  const isValid =
    type === 'thread_rolled_back'
      ? Number.isInteger(numberOf(payload['num_turns']))
      : name === undefined || typeof payload[name] === 'string'
  if (!isValid)
    report('event_fields', `${place}.${name ?? 'num_turns'}`, name ? SHOULD_BE_TEXT : shouldBe('a number', '数値'))
  return isValid
}
