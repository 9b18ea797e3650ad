/** Identifies a record by its keys, never by its file name. */

import { type Fields, fieldsOf, isObject, listOf, nonEmptyStringOf, stringOf } from '../../lib/unknown-values.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import type { FileFormat } from './file-conversation.ts'

/** Records that are not a conversation in a supported format. Some belong to another agent. */
export type ForeignShape =
  | 'agent-record'
  | 'chunk'
  | 'message'
  | 'alpaca'
  | 'prompt-completion'
  | 'text-preference'
  | 'json'
  | 'not-an-object'

export type RecordShape = Exclude<FileFormat, 'sft'> | ForeignShape

/** Reasons for people. */
export const SHAPE_TEXTS: Readonly<Record<FileFormat | ForeignShape, Phrase>> = {
  array: phrase('a list of messages, each with a role', 'ロールを持つメッセージのリスト'),
  messages: phrase('objects with messages, each with a role', 'messages を持つオブジェクト。各メッセージにロール'),
  sft: phrase('lines with messages, each with a role', '1 行ごとに messages。各メッセージにロール'),
  dpo: phrase('pairs of a preferred and a rejected answer', '選ばれた応答と選ばれなかった応答の組'),
  'batch-request': phrase(
    'custom_id, method, url and a body with messages',
    'custom_id・method・url と、messages を持つ body',
  ),
  'batch-response': phrase(
    'custom_id and a response whose body has the answer',
    'custom_id と、body に応答を持つ response',
  ),
  'chat.completion': phrase(
    'a chat.completion object; the answers are in choices',
    'object が chat.completion。応答は choices',
  ),
  response: phrase('a response object; the answers are in output', 'object が response。応答は output'),
  sharegpt: phrase('conversations, each entry with from and value', 'conversations。各項目に from と value'),
  llamafactory: phrase('messages whose parts have type and value', '各部分が type と value を持つメッセージ'),
  trajectory: phrase(
    'messages with roles inside a record of another program',
    '別のプログラムの記録に入ったメッセージ',
  ),
  chatgpt: phrase(
    'a tree of messages in mapping, as ChatGPT exports it',
    'ChatGPT のエクスポート（mapping にメッセージの木）',
  ),
  claude: phrase(
    'chat_messages with sender, as Claude.ai exports it',
    'Claude.ai のエクスポート（sender を持つ chat_messages）',
  ),
  'agent-record': phrase('a log record of another program', '別のプログラムのログの記録'),
  chunk: phrase(
    'chunks of a streamed answer (chat.completion.chunk), not complete messages',
    'ストリームの断片（chat.completion.chunk）。完全なメッセージではない',
  ),
  message: phrase(
    'one message per record; a conversation is a list of them: [{…}, {…}]',
    '1 件 1 メッセージ。会話はそのリスト: [{…}, {…}]',
  ),
  alpaca: phrase(
    'Alpaca format (instruction and output): no messages with roles',
    'Alpaca 形式の instruction と output。ロールを持つメッセージではない',
  ),
  'prompt-completion': phrase(
    'prompt and completion as plain text: no messages with roles',
    '文字列の prompt と completion。ロールを持つメッセージではない',
  ),
  'text-preference': phrase(
    'chosen and rejected as plain text: no messages with roles',
    '文字列の chosen と rejected。ロールを持つメッセージではない',
  ),
  json: phrase('JSON without messages that have roles', 'JSON だが、ロールを持つメッセージがない'),
  'not-an-object': phrase('not a JSON object or list', 'JSON のオブジェクトでもリストでもない'),
}

const FOREIGN_SHAPES: ReadonlySet<string> = new Set<ForeignShape>([
  'agent-record',
  'chunk',
  'message',
  'alpaca',
  'prompt-completion',
  'text-preference',
  'json',
  'not-an-object',
])

export const isForeignShape = (shape: RecordShape): shape is ForeignShape => FOREIGN_SHAPES.has(shape)

export function detectRecordShape(value: unknown): RecordShape {
  if (Array.isArray(value)) return isMessageList(value) ? 'array' : 'json'
  if (!isObject(value)) return 'not-an-object'
  if (isTrainingExample(value)) return messagesShape(value) ?? textShape(value)
  return exportShape(value) ?? foreignShape(value) ?? apiShape(value) ?? listShape(value) ?? textShape(value)
}

const EXAMPLE_KEYS: ReadonlySet<string> = new Set(['messages', 'tools', 'functions', 'parallel_tool_calls'])

/** Fast path for records with only fine-tuning fields, which are the most frequent. */
export function isTrainingExample(record: Fields): boolean {
  for (const key in record) if (!EXAMPLE_KEYS.has(key)) return false
  return true
}

function exportShape(record: Fields): RecordShape | undefined {
  if (isObject(record['mapping']) && isTree(record['mapping'])) return 'chatgpt'
  return Array.isArray(record['chat_messages']) ? 'claude' : undefined
}

/** A node has a message, a parent or children. */
function isTree(mapping: Fields): boolean {
  for (const id in mapping) {
    const node = fieldsOf(mapping[id])
    return node !== undefined && ('message' in node || 'parent' in node || 'children' in node)
  }
  return false
}

function foreignShape(record: Fields): RecordShape | undefined {
  if ('conversation_id' in record && Array.isArray(record['history']) && !isMessageList(record['history']))
    return 'agent-record'
  if (typeof record['type'] === 'string' && 'payload' in record) return 'agent-record'
  if (Array.isArray(record['items']) && 'session' in record) return 'agent-record'
  // Lines of agents that chain them, and headers of Gemini CLI and pi. They may carry messages of another format.
  if (AGENT_KEYS.some(([first, second]) => first in record && second in record)) return 'agent-record'
  return typeof record['record_type'] === 'string' ? 'agent-record' : undefined
}

const AGENT_KEYS = [
  ['parentUuid', 'sessionId'],
  ['parentId', 'timestamp'],
  ['sessionId', 'projectHash'],
  ['version', 'cwd'],
] as const

function apiShape(record: Fields): RecordShape | undefined {
  if (nonEmptyStringOf(record['custom_id']) !== undefined) {
    if ('response' in record) return 'batch-response'
    if ('body' in record || 'url' in record) return 'batch-request'
  }
  switch (record['object']) {
    case 'chat.completion':
      return Array.isArray(record['choices']) ? 'chat.completion' : undefined
    case 'chat.completion.chunk':
      return 'chunk'
    case 'response':
      return Array.isArray(record['output']) ? 'response' : undefined
    default:
      return undefined
  }
}

function listShape(record: Fields): RecordShape | undefined {
  const preference = findPreference(record)
  if (preference) return preference.isText ? 'text-preference' : 'dpo'
  const entries = record['conversations'] ?? record['conversation']
  if (Array.isArray(entries) && entries.some(isShareGptEntry)) return 'sharegpt'
  return messagesShape(record) ?? (findMessageWrapper(record) ? 'trajectory' : undefined)
}

function messagesShape(record: Fields): RecordShape | undefined {
  const messages = record['messages']
  if (!Array.isArray(messages) || !isMessageList(messages)) return isConverted(record) ? 'messages' : undefined
  return hasValueParts(messages) ? 'llamafactory' : 'messages'
}

/**
 * Another agent's conversation: its records come before the messages, which the beginning of the file may not include.
 */
const isConverted = ({ x_conv }: Fields): boolean =>
  isObject(x_conv) && typeof x_conv['src'] === 'string' && Array.isArray(x_conv['records'])

function textShape(record: Fields): RecordShape {
  if (hasKnownRole(record)) return 'message'
  if (typeof record['instruction'] === 'string' && typeof record['output'] === 'string') return 'alpaca'
  if (typeof record['prompt'] === 'string' && typeof record['completion'] === 'string') return 'prompt-completion'
  return 'json'
}

const KNOWN_ROLES: ReadonlySet<string> = new Set(['system', 'developer', 'user', 'assistant', 'tool', 'function'])

const hasKnownRole = (value: unknown): boolean => isObject(value) && KNOWN_ROLES.has(stringOf(value['role']) ?? '')

/** A known role is sufficient; any other role needs content. */
export const isMessageLike = (value: unknown): boolean =>
  hasKnownRole(value) || (isObject(value) && typeof value['role'] === 'string' && 'content' in value)

/** Items of the Responses API other than messages: many programs call something a message. */
const RESPONSE_ITEM_TYPES: ReadonlySet<string> = new Set([
  'function_call',
  'custom_tool_call',
  'function_call_output',
  'custom_tool_call_output',
  'reasoning',
])

const isResponseItem = (value: unknown): boolean =>
  isObject(value) && RESPONSE_ITEM_TYPES.has(stringOf(value['type']) ?? '')

/** Buttons and users also have roles, so at least one must be a speaker's. */
export const isMessageList = (list: readonly unknown[]): boolean =>
  list.some(hasKnownRole) || (list.length > 0 && list.every(isResponseItem))

export const isShareGptEntry = (value: unknown): boolean =>
  isObject(value) && typeof value['from'] === 'string' && 'value' in value

function hasValueParts(messages: readonly unknown[]): boolean {
  for (const message of messages) {
    const content = isObject(message) ? message['content'] : undefined
    if (!Array.isArray(content)) continue
    const part = fieldsOf(content[0])
    if (part) return 'value' in part && 'type' in part && !('text' in part)
  }
  return false
}

export interface PreferencePair {
  readonly chosen: unknown
  readonly rejected: unknown
  /** The two keys. */
  readonly keys: readonly [string, string]
  readonly isText: boolean
}

const PREFERENCE_KEYS: readonly (readonly [string, string])[] = [
  ['preferred_output', 'non_preferred_output'],
  ['chosen_messages', 'rejected_messages'],
  ['chosen', 'rejected'],
]

export function findPreference(record: Fields): PreferencePair | undefined {
  for (const keys of PREFERENCE_KEYS) {
    const chosen = record[keys[0]]
    const rejected = record[keys[1]]
    if (isAnswerLike(chosen) && (isAnswerLike(rejected) || rejected === undefined))
      return rejected === undefined && keys[0] === 'chosen' ? undefined : { chosen, rejected, keys, isText: false }
    if (typeof chosen === 'string' && typeof rejected === 'string') return { chosen, rejected, keys, isText: true }
  }
  return undefined
}

const isAnswerLike = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some((one) => hasKnownRole(one) || isShareGptEntry(one))
    : hasKnownRole(value) || isShareGptEntry(value)

export interface MessageWrapper {
  /** The keys that lead to the messages. */
  readonly path: readonly string[]
  readonly messages: readonly unknown[]
}

const MESSAGE_LIST_KEYS = [
  'messages',
  'traj',
  'trajectory',
  'history',
  'conversation',
  'conversations',
  'dialog',
  'dialogue',
  'chat',
]
const HOLDER_KEYS = ['request', 'body', 'input', 'data', 'payload', 'sample', 'example', 'extra_info', 'info']

/**
 * Finds messages under a known name, directly or one level deeper; otherwise the first list of messages under any name.
 */
export function findMessageWrapper(record: Fields): MessageWrapper | undefined {
  for (const key of MESSAGE_LIST_KEYS)
    if (hasMessageList(record, key)) return { path: [key], messages: listOf(record[key]) }
  for (const holder of HOLDER_KEYS) {
    const inner = fieldsOf(record[holder])
    if (!inner) continue
    for (const key of MESSAGE_LIST_KEYS)
      if (hasMessageList(inner, key)) return { path: [holder, key], messages: listOf(inner[key]) }
  }
  for (const key in record) if (hasMessageList(record, key)) return { path: [key], messages: listOf(record[key]) }
  return undefined
}

const hasMessageList = (record: Fields, key: string): boolean => {
  const list = record[key]
  return Array.isArray(list) && isMessageLike(list[0]) && isMessageList(list)
}
