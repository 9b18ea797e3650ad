/** What stays when all words are replaced, because it is the format's and not anybody's. */

/** Keys whose values are words of a format, wherever they stand. */
const EVERYWHERE = new Set([
  ...[
    'type',
    'role',
    'status',
    'kind',
    'mode',
    'phase',
    'format',
    'object',
    'detail',
    'mime_type',
    'encoding',
    'channel',
    'source_status',
  ],
])
/** Keys whose values are words of a program, in what it says about a message or a session. */
const ABOUT = new Set([
  ...['event_type', 'payload_type', 'payload_role', 'event_kind', 'item_kind', 'source_type', 'what'],
  ...['agent_version', 'cli_version', 'originator', 'origin', 'source', 'relation', 'model', 'models', 'model_id'],
  ...['model_name', 'model_provider', 'effort', 'approval_policy', 'sandbox_policy', 'finish_reason', 'stop_reason'],
  ...['history_mode', 'memory_mode', 'collaboration_mode_kind', 'multi_agent_version', 'operating_system', 'blocks'],
  ...['change', 'chat_conversation_type', 'message_meta_tags', 'reason', 'rate_unit'],
])
/** The tools that the programs bring along. Others may be named after what they are for. */
const TOOLS = new Set([
  ...['shell', 'container.exec', 'local_shell', 'shell_command', 'exec_command', 'write_stdin', 'update_plan', 'exec'],
  ...['view_image', 'apply_patch', 'request_user_input', 'spawn_agent', 'wait_agent', 'send_input', 'close_agent'],
  ...['list_mcp_resources', 'web_search', 'tool_search', 'image_generation', 'fs_read', 'fs_write', 'execute_bash'],
  ...[
    'execute_cmd',
    'use_aws',
    'report_issue',
    'introspect',
    'thinking',
    'knowledge',
    'todo_list',
    'delegate',
    'dummy',
  ],
])
const TOOL_KEYS = new Set(['name', 'orig_name', 'tool'])

const FORMAT_WORD = /^[A-Za-z][\w./-]{0,39}$|^\d+(?:\.\d+)*[\w.-]{0,20}$/
/** A time, also as the beginning of a message's id. */
const TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?(?:#\d+(?:\.\d+)?)?$/
/** A key that is a name in a program; others are data. */
const NAME = /^[A-Za-z_$][\w$]{0,39}$/

export const isStructureKey = (key: string): boolean => NAME.test(key)

export type Where = 'about' | 'said'

export function isStructure(text: string, key: string | undefined, where: Where): boolean {
  if (TIME.test(text)) return true
  if (key === undefined) return false
  if (TOOL_KEYS.has(key) && TOOLS.has(text)) return true
  return (EVERYWHERE.has(key) || (where === 'about' && ABOUT.has(key))) && FORMAT_WORD.test(text)
}

const SESSION_KEYS = new Set(['id', 'session_id', 'parent', 'ancestors'])

/** The agent before a session's id, and the mark of a tool that comes from a server. */
export function originOf(text: string, key: string | undefined, where: Where): string {
  if (key !== undefined && TOOL_KEYS.has(key) && text.startsWith(SERVER_TOOL)) return SERVER_TOOL
  if (where === 'said' || key === undefined || !SESSION_KEYS.has(key)) return ''
  return /^[a-z][a-z-]*:(?=\S+$)/.exec(text)?.[0] ?? ''
}

const SERVER_TOOL = 'mcp__'
