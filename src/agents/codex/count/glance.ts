/** Tells by a line's first bytes what the first pass needs of it. Only sure answers; else the line is parsed. */
import { parseStructure } from '../../../lib/object.ts'
import type { Usage } from '../../../model/usage.ts'
import { type Report, usageOf } from './tokens.ts'

export type Glance =
  /** Nothing is counted but the line. */
  | { readonly kind: 'nothing'; readonly stamp: string }
  /** The model spoke. */
  | { readonly kind: 'answer'; readonly stamp: string }
  /** Words on the screen: an event that repeats an item. */
  | { readonly kind: 'event'; readonly stamp: string }
  | { readonly kind: 'tool'; readonly stamp: string; readonly name: string }
  | { readonly kind: 'tokens'; readonly stamp: string; readonly report: Report }

/** The order in which Codex writes its keys; any other order is no sure answer. */
const HEAD =
  /^\{"timestamp":"([^"\\]{20,40})",(?:"ordinal":\d+,)?"type":"([a-z_]+)","payload":\{(?:"type":"([a-z_]+)"(?:,"(?:role|name)":"([^"\\]+)")?)?/
const BARE =
  /^\{(?:"record_type":"state"\}|"type":"([a-z_]+)"(?:,"id":(?:null|"[^"\\]*"))?(?:,"(?:role|name)":"([^"\\]+)")?)/
const NAME = /"name":"([^"\\]+)"/
const LOOK = 240

export function glance(bytes: Buffer): Glance | undefined {
  const head = bytes.toString('latin1', 0, LOOK)
  const match = HEAD.exec(head)
  if (!match) return glanceBare(head)
  const [, stamp = '', type, payload, word] = match
  if (type === 'response_item') return glanceItem(head, stamp, payload, word)
  if (type === 'event_msg') return payload === 'token_count' ? glanceTokens(bytes, stamp) : glanceEvent(stamp, payload)
  return UNCOUNTED.has(type ?? '') ? { kind: 'nothing', stamp } : undefined
}

const UNCOUNTED = new Set(['compacted', 'world_state'])
const UNCOUNTED_ITEMS = new Set([
  'reasoning',
  'function_call_output',
  'custom_tool_call_output',
  'tool_search_output',
  'ghost_snapshot',
  'compaction',
])
const NAMED_CALLS = new Set(['function_call', 'custom_tool_call'])
const READ_EVENTS = new Set(['token_count', 'thread_name_updated', 'thread_settings_applied'])

function glanceItem(
  head: string,
  stamp: string,
  type: string | undefined,
  word: string | undefined,
): Glance | undefined {
  if (type === undefined) return undefined
  if (UNCOUNTED_ITEMS.has(type)) return { kind: 'nothing', stamp }
  if (type === 'message') return word === 'assistant' ? { kind: 'answer', stamp } : undefined
  if (!NAMED_CALLS.has(type)) return undefined
  const name = type === 'function_call' && word !== undefined ? word : NAME.exec(head)?.[1]
  return name === undefined ? undefined : { kind: 'tool', stamp, name }
}

function glanceEvent(stamp: string, type: string | undefined): Glance | undefined {
  if (type === undefined || READ_EVENTS.has(type) || type === 'item_completed') return undefined
  return { kind: type === 'user_message' || type === 'agent_message' ? 'event' : 'nothing', stamp }
}

/** The two counters, cut out of their line: the rest of it, rate limits, is longer than they are. */
function glanceTokens(bytes: Buffer, stamp: string): Glance | undefined {
  if (bytes.length > LONGEST_REPORT) return undefined
  const line = bytes.toString('latin1')
  const total = counterIn(line, '"total_token_usage":{')
  const last = counterIn(line, '"last_token_usage":{')
  if (!total || !last || line.includes('"model":')) return undefined
  return { kind: 'tokens', stamp, report: { total, last, model: undefined } }
}

function counterIn(line: string, key: string): Usage | undefined {
  const at = line.indexOf(key)
  if (at < 0) return undefined
  const open = at + key.length - 1
  return usageOf(parseStructure(line.slice(open, line.indexOf('}', open) + 1)))
}

const LONGEST_REPORT = 4096

function glanceBare(head: string): Glance | undefined {
  const match = BARE.exec(head)
  if (!match) return undefined
  const [, type, word] = match
  if (type === undefined || UNCOUNTED_ITEMS.has(type)) return { kind: 'nothing', stamp: '' }
  if (type === 'message') return word === 'assistant' ? { kind: 'answer', stamp: '' } : undefined
  return type === 'function_call' && word !== undefined ? { kind: 'tool', stamp: '', name: word } : undefined
}
