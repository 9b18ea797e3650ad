/** Checks single lines of a rollout: headers, events, turns, compactions, and items sent to the model. */
import { type Fields, isObject, listOf, numberOf, parseStructure, stringOf } from '../../../lib/unknown-values.ts'
import { isUuid, toInstant } from '../../../model/ids.ts'
import { type Phrase, phrase } from '../../../model/phrase.ts'
import { type CodexReport, shouldBe } from './rules.ts'

/** Only some versions write `session_state` and `token_usage_record`. */
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
    if (typeof payload[name] !== 'string') report('header_fields', `${place}.${name}`)
  if (typeof payload['id'] === 'string' && !isUuid(payload['id']))
    report('header_fields', `${place}.id`, phrase('A session id must be a UUID.', '会話の ID は UUID です。'))
  if (typeof payload['timestamp'] === 'string' && !toInstant(payload['timestamp']))
    report('header_fields', `${place}.timestamp`, shouldBe('a time', '時刻'))
  const provider = payload['model_provider']
  if (typeof provider === 'string' && provider !== 'openai') report('model_provider', `${place}.model_provider`)
  if (isObject(payload['history_base'])) report('base_elsewhere', `${place}.history_base`)
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
    if (typeof payload[name] !== 'string') report('turn_context_fields', `${place}.${name}`)
  if (typeof payload['approval_policy'] !== 'string' && !isObject(payload['approval_policy']))
    report('turn_context_fields', `${place}.approval_policy`, shouldBe('a text or an object', '文字列かオブジェクト'))
  if (!isObject(payload['sandbox_policy']))
    report('turn_context_fields', `${place}.sandbox_policy`, shouldBe('an object', 'オブジェクト'))
}

export function checkCompacted(payload: Fields, place: string, report: CodexReport): void {
  if (typeof payload['message'] !== 'string') report('compacted_fields', `${place}.message`)
  const replacement = payload['replacement_history']
  if (replacement === undefined || replacement === null) return
  if (!Array.isArray(replacement))
    return report('compacted_fields', `${place}.replacement_history`, shouldBe('a list', '一覧'))
  replacement.forEach((item, at) => {
    checkItem(isObject(item) ? item : {}, `${place}.replacement_history[${at}]`, report)
  })
}

/** Events that any version writes to its logs. */
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

/** @returns whether Codex reads the line */
export function checkEvent(payload: Fields, place: string, report: CodexReport): boolean {
  const type = stringOf(payload['type']) ?? ''
  if (!LOGGED_EVENTS.has(type) && !/^collab_\w+_end$/.test(type)) {
    report('event_type', `${place}.type`)
    return false
  }
  const name = Object.hasOwn(EVENT_TEXT_FIELDS, type) ? EVENT_TEXT_FIELDS[type] : undefined
  const isValid =
    type === 'thread_rolled_back'
      ? Number.isInteger(numberOf(payload['num_turns']))
      : name === undefined || typeof payload[name] === 'string'
  if (!isValid)
    report('event_fields', `${place}.${name ?? 'num_turns'}`, name ? undefined : shouldBe('a number', '数値'))
  return isValid
}

type FieldKind = 'text' | 'text?' | 'list' | 'list?' | 'object' | 'any' | 'output'

/** Fields that Codex requires. It skips a line without one of them. */
const ITEM_FIELDS: Readonly<Record<string, Readonly<Record<string, FieldKind>>>> = {
  message: { role: 'text', content: 'list' },
  additional_tools: { role: 'text?', tools: 'list' },
  reasoning: { summary: 'list', content: 'list?', encrypted_content: 'text?' },
  local_shell_call: { call_id: 'text?', status: 'text', action: 'object' },
  function_call: { name: 'text', arguments: 'text', call_id: 'text' },
  function_call_output: { call_id: 'text?', output: 'output' },
  custom_tool_call: { name: 'text', input: 'text', call_id: 'text' },
  custom_tool_call_output: { call_id: 'text', output: 'output' },
  web_search_call: {},
  image_generation_call: { status: 'text', result: 'text' },
  tool_search_call: { call_id: 'text?', execution: 'text', arguments: 'any' },
  tool_search_output: { call_id: 'text?', status: 'text', execution: 'text', tools: 'list' },
  agent_message: { author: 'text', recipient: 'text', content: 'list' },
  ghost_snapshot: { ghost_commit: 'object' },
  compaction: { encrypted_content: 'text' },
  compaction_summary: { encrypted_content: 'text' },
  context_compaction: { encrypted_content: 'text?' },
}

const MESSAGE_ROLES = new Set(['user', 'assistant', 'developer', 'system'])
const MESSAGE_PARTS = new Set(['input_text', 'input_image', 'input_audio', 'output_text'])
const OUTPUT_PARTS = new Set(['input_text', 'input_image', 'input_audio', 'encrypted_content'])
const AGENT_PARTS = new Set(['input_text', 'encrypted_content'])
/** Allows `container.exec`, a name that Codex itself has used. */
const TOOL_NAME_PATTERN = /^[\w.-]{1,128}$/

/** @returns whether Codex reads the line */
export function checkItem(item: Fields, place: string, report: CodexReport): boolean {
  const type = stringOf(item['type']) ?? ''
  const fields = Object.hasOwn(ITEM_FIELDS, type) ? ITEM_FIELDS[type] : undefined
  if (!fields) {
    report('item_type', `${place}.type`)
    return false
  }
  const wrong = Object.entries(fields).filter(([name, kind]) => !matchesKind(item[name], kind))
  for (const [name, kind] of wrong) report('item_fields', `${place}.${name}`, KIND_MESSAGES[kind])
  if (wrong.length > 0) return false
  checkContent(item, type, place, report)
  return true
}

const KIND_MESSAGES: { readonly [kind in FieldKind]: Phrase } = {
  text: shouldBe('a text', '文字列'),
  'text?': shouldBe('a text or null', '文字列か null'),
  list: shouldBe('a list', '一覧'),
  'list?': shouldBe('a list or null', '一覧か null'),
  object: shouldBe('an object', 'オブジェクト'),
  any: phrase('This field is required.', '必要な項目です。'),
  output: shouldBe('a text or a list of parts', '文字列か、部分の一覧'),
}

function matchesKind(value: unknown, kind: FieldKind): boolean {
  switch (kind) {
    case 'text':
      return typeof value === 'string'
    case 'text?':
      return value === undefined || value === null || typeof value === 'string'
    case 'list':
      return Array.isArray(value)
    case 'list?':
      return value === undefined || value === null || Array.isArray(value)
    case 'object':
      return isObject(value)
    case 'any':
      return value !== undefined
    case 'output':
      return typeof value === 'string' || Array.isArray(value)
  }
}

function checkContent(item: Fields, type: string, place: string, report: CodexReport): void {
  if (type === 'message') checkMessageItem(item, place, report)
  else if (type === 'agent_message') checkParts(item['content'], AGENT_PARTS, `${place}.content`, report)
  else if (Array.isArray(item['output'])) checkParts(item['output'], OUTPUT_PARTS, `${place}.output`, report)
  if (type === 'reasoning' && listOf(item['content']).length > 0) report('reasoning_plain', `${place}.content`)
  if (type === 'function_call' || type === 'custom_tool_call') {
    if (!TOOL_NAME_PATTERN.test(stringOf(item['name']) ?? '')) report('tool_name', `${place}.name`)
  }
  if (type === 'function_call' && !isJson(stringOf(item['arguments']) ?? ''))
    report('arguments_json', `${place}.arguments`)
}

function isJson(text: string): boolean {
  if (parseStructure(text)) return true
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function checkMessageItem(item: Fields, place: string, report: CodexReport): void {
  const role = stringOf(item['role']) ?? ''
  if (!MESSAGE_ROLES.has(role)) report('role', `${place}.role`)
  if (role === 'system') report('role_system', `${place}.role`)
  checkParts(item['content'], MESSAGE_PARTS, `${place}.content`, report)
  listOf(item['content']).forEach((part, at) => {
    const type = isObject(part) ? part['type'] : undefined
    if (typeof type !== 'string' || !MESSAGE_PARTS.has(type) || (type === 'output_text') === (role === 'assistant'))
      return
    report(
      'part_role',
      `${place}.content[${at}].type`,
      phrase(
        `A message with role ${role} cannot have this part.`,
        `ロール ${role} のメッセージに、この種類の部分は置けません。`,
      ),
    )
  })
}

function checkParts(parts: unknown, types: ReadonlySet<string>, place: string, report: CodexReport): void {
  listOf(parts).forEach((part, at) => {
    checkPart(isObject(part) ? part : {}, types, `${place}[${at}]`, report)
  })
}

function checkPart(part: Fields, types: ReadonlySet<string>, place: string, report: CodexReport): void {
  const type = stringOf(part['type']) ?? ''
  if (!types.has(type)) return report('part_type', place)
  const name = (Object.hasOwn(PART_TEXT_FIELDS, type) ? PART_TEXT_FIELDS[type] : undefined) ?? 'text'
  const value = part[name]
  if (typeof value !== 'string') report('item_fields', `${place}.${name}`)
  else if (type === 'input_image' && !/^(?:data:|https?:)/i.test(value)) report('image_address', `${place}.image_url`)
  else if (type === 'input_image' && !isImageData(value)) report('image_data', `${place}.image_url`)
}

/** Base64 of a file that begins as a PNG, JPEG, GIF, BMP or WebP does. */
const isImageData = (url: string): boolean =>
  /^data:image\/[\w.+-]+;base64,(?:iVBORw0KGgo|\/9j\/|R0lGOD|Qk|UklGR)/i.test(url.slice(0, 200))

const PART_TEXT_FIELDS: Readonly<Record<string, string>> = {
  input_image: 'image_url',
  input_audio: 'audio_url',
  encrypted_content: 'encrypted_content',
}
