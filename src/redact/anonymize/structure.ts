/** What stays when all words are replaced, because it is the format's and not anybody's. */

/** Keys whose values are words of a format, wherever they stand. */
const FORMAT_KEYS = new Set([
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
const METADATA_KEYS = new Set([
  ...['event_type', 'payload_type', 'payload_role', 'event_kind', 'item_kind', 'source_type', 'what'],
  ...['agent_version', 'cli_version', 'originator', 'origin', 'source', 'relation', 'model', 'models', 'model_id'],
  ...['model_name', 'model_provider', 'effort', 'approval_policy', 'sandbox_policy', 'finish_reason', 'stop_reason'],
  ...['history_mode', 'memory_mode', 'collaboration_mode_kind', 'multi_agent_version', 'operating_system', 'blocks'],
  ...['change', 'chat_conversation_type', 'message_meta_tags', 'reason', 'rate_unit'],
])
/** The tools that the programs bring along. Others may be named after what they are for. */
const BUILT_IN_TOOLS = new Set([
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
const TOOL_NAME_KEYS = new Set(['name', 'orig_name', 'tool'])

const FORMAT_WORD = /^[A-Za-z][\w./-]{0,39}$|^\d+(?:\.\d+)*[\w.-]{0,20}$/
/** A time, also as the beginning of a message's id. */
const TIMESTAMP = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?(?:#\d+(?:\.\d+)?)?$/
/** A key that is a name in a program; others are data. */
const IDENTIFIER = /^[A-Za-z_$][\w$]{0,39}$/

export const isStructureKey = (key: string): boolean => IDENTIFIER.test(key)

export type RewriteScope = 'about' | 'said'

export function isStructure(text: string, key: string | undefined, scope: RewriteScope): boolean {
  if (TIMESTAMP.test(text)) return true
  if (key === undefined) return false
  if (TOOL_NAME_KEYS.has(key) && BUILT_IN_TOOLS.has(text)) return true
  return (FORMAT_KEYS.has(key) || (scope === 'about' && METADATA_KEYS.has(key))) && FORMAT_WORD.test(text)
}

const SESSION_ID_KEYS = new Set(['id', 'session_id', 'parent', 'ancestors'])

/** The agent before a session's id, and the mark of a tool that comes from a server. */
export function structuralPrefixOf(text: string, key: string | undefined, scope: RewriteScope): string {
  if (key !== undefined && TOOL_NAME_KEYS.has(key) && text.startsWith(SERVER_TOOL_PREFIX)) return SERVER_TOOL_PREFIX
  if (scope === 'said' || key === undefined || !SESSION_ID_KEYS.has(key)) return ''
  return /^[a-z][a-z-]*:(?=\S+$)/.exec(text)?.[0] ?? ''
}

const SERVER_TOOL_PREFIX = 'mcp__'
