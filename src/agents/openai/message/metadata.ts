/** What a message says beside its words. */
import { type Fields, fieldsOf, wordOf } from '../../../lib/object.ts'
import { marksIn } from '../../../model/replay/extension.ts'
import type { Content } from './content.ts'

/** Where a message tells its time. */
const STAMPS = ['create_time', 'created_at', 'timestamp', 'created'] as const

export function stampOf(message: Fields): unknown {
  if (isBare(message)) return undefined
  for (const key of STAMPS) {
    const stamp = message[key]
    if (isGiven(stamp)) return stamp
  }
  return fieldsOf(message['x_conv'])?.['ts']
}

/** Of what was thought. */
const SPELLINGS = ['reasoning_content', 'reasoning', 'thinking', 'reasoning_text'] as const

/** The first spelling that says something. Another one is kept where it says something else. */
export const spelledThought = (message: Fields) => SPELLINGS.find((key) => wordOf(message[key]) !== undefined)

const MESSAGE: ReadonlySet<string> = new Set([
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
  ...STAMPS,
  ...SPELLINGS,
  'reasoning_details',
  'thinking_blocks',
  'x_conv',
])

const NAMED = [
  ['name', 'name'],
  ['weight', 'weight'],
  ['id', 'message_id'],
  ['finish_reason', 'finish_reason'],
  ['answers', 'answers'],
] as const

/** Names that are known stand by themselves; all others together, so that none of them means something here. */
export function metadataOf(message: Fields, content: Content): Record<string, unknown> | undefined {
  const metadata: Record<string, unknown> = {}
  if (!isBare(message)) {
    for (const [key, name] of NAMED)
      if (message[key] !== undefined && message[key] !== null) metadata[name] = message[key]
    if (message['hidden'] === true) metadata['injected'] = true
    Object.assign(metadata, extraOf(message, MESSAGE), marksIn(message['x_conv']))
  }
  if (content.attachments.length > 0) metadata['attachments'] = content.attachments
  if (content.parts.length > 0) metadata['parts'] = content.parts
  for (const _ in metadata) return metadata
  return undefined
}

/** A role and content, and nothing else. */
export function isPlain(message: Fields): boolean {
  for (const key in message) if (key !== 'role' && key !== 'content') return false
  return true
}

/** Words, calls or a result, and nothing about them. */
export function isBare(message: Fields): boolean {
  for (const key in message)
    if (key !== 'role' && key !== 'content' && key !== 'tool_calls' && key !== 'tool_call_id') return false
  return true
}

/** All that is not understood, under one name. */
export function extraOf(source: Fields, understood: ReadonlySet<string>): Record<string, unknown> | undefined {
  let extra: Record<string, unknown> | undefined
  for (const key in source) {
    const value = source[key]
    if (saysNothing(value) || (understood.has(key) && !saysMore(source, key, value))) continue
    extra ??= {}
    extra[key] = value
  }
  return extra && { extra }
}

/** What programs write where there is nothing to say. */
const saysNothing = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0)

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

/** A second spelling of a thought, or of the words, that was not read because of the first. */
function saysMore(source: Fields, key: string, value: unknown): boolean {
  if (key === 'parts') return isGiven(source['content'])
  if (key === 'text') return isGiven(source['content'] ?? source['parts'])
  if (value === '' || !SPELLINGS.some((spelling) => spelling === key)) return false
  const told = spelledThought(source)
  return told === undefined || source[told] !== value
}
