/** What a message says beside its words. */
import { type Fields, fieldsOf, nonEmptyStringOf } from '../../../lib/unknown-values.ts'
import { metadataFromExtension } from '../../../model/replay/extension.ts'
import type { ChatContent } from './content.ts'

/** Where a message tells its time. */
const TIME_KEYS = ['create_time', 'created_at', 'timestamp', 'created'] as const

export function messageTimestamp(message: Fields): unknown {
  if (hasNoExtraFields(message)) return undefined
  for (const key of TIME_KEYS) {
    const stamp = message[key]
    if (isPresent(stamp)) return stamp
  }
  return fieldsOf(message['x_conv'])?.['ts']
}

/** Of what was thought. */
const REASONING_KEYS = ['reasoning_content', 'reasoning', 'thinking', 'reasoning_text'] as const

/** The first spelling that says something. Another one is kept where it says something else. */
export const reasoningKey = (message: Fields) =>
  REASONING_KEYS.find((key) => nonEmptyStringOf(message[key]) !== undefined)

const KNOWN_MESSAGE_KEYS: ReadonlySet<string> = new Set([
  'role',
  'content',
  'parts',
  'text',
  'tool_calls',
  'tool_call_id',
  'function_call',
  'refusal',
  'name',
  'weight',
  'id',
  'hidden',
  'finish_reason',
  'answers',
  ...TIME_KEYS,
  ...REASONING_KEYS,
  'reasoning_details',
  'thinking_blocks',
  'x_conv',
])

const RENAMED_KEYS = [
  ['name', 'name'],
  ['weight', 'weight'],
  ['id', 'message_id'],
  ['finish_reason', 'finish_reason'],
  ['answers', 'answers'],
] as const

/** Names that are known stand by themselves; all others together, so that none of them means something here. */
export function chatMetadata(message: Fields, content: ChatContent): Record<string, unknown> | undefined {
  const metadata: Record<string, unknown> = {}
  if (!hasNoExtraFields(message)) {
    for (const [key, name] of RENAMED_KEYS)
      if (message[key] !== undefined && message[key] !== null) metadata[name] = message[key]
    if (message['hidden'] === true) metadata['injected'] = true
    Object.assign(metadata, unknownFields(message, KNOWN_MESSAGE_KEYS), metadataFromExtension(message['x_conv']))
  }
  if (content.attachments.length > 0) metadata['attachments'] = content.attachments
  if (content.parts.length > 0) metadata['parts'] = content.parts
  for (const _ in metadata) return metadata
  return undefined
}

/** A role and content, and nothing else. */
export function hasOnlyRoleAndContent(message: Fields): boolean {
  for (const key in message) if (key !== 'role' && key !== 'content') return false
  return true
}

/** Words, calls or a result, and nothing about them. */
export function hasNoExtraFields(message: Fields): boolean {
  for (const key in message)
    if (key !== 'role' && key !== 'content' && key !== 'tool_calls' && key !== 'tool_call_id') return false
  return true
}

/** All that is not understood, under one name. */
export function unknownFields(source: Fields, understood: ReadonlySet<string>): Record<string, unknown> | undefined {
  let extra: Record<string, unknown> | undefined
  for (const key in source) {
    const value = source[key]
    if (isEmptyValue(value) || (understood.has(key) && !isUnreadSpelling(source, key, value))) continue
    extra ??= {}
    extra[key] = value
  }
  return extra && { extra }
}

/** What programs write where there is nothing to say. */
const isEmptyValue = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0)

const isPresent = (value: unknown): boolean => value !== undefined && value !== null

/** A second spelling of a thought, or of the words, that was not read because of the first. */
function isUnreadSpelling(source: Fields, key: string, value: unknown): boolean {
  if (key === 'parts') return isPresent(source['content'])
  if (key === 'text') return isPresent(source['content'] ?? source['parts'])
  if (value === '' || !REASONING_KEYS.some((spelling) => spelling === key)) return false
  const readKey = reasoningKey(source)
  return readKey === undefined || source[readKey] !== value
}
