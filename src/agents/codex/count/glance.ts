/** Tells by a line's first bytes what the first pass needs of it. Only sure answers; else the line is parsed. */
import { MOST_TOKENS } from '../../../model/numbers.ts'
import type { Usage } from '../../../model/usage.ts'

/**
 * `nothing`: only the line counts; `answer`: the model spoke; `event`: words on the screen, which repeat an item;
 * `parse`: no sure answer; else a tool was called or tokens were counted.
 */
export type Glance = 'nothing' | 'answer' | 'event' | 'parse' | { readonly tool: string } | { readonly total: Usage }

/** The keys in the order in which Codex writes them; any other order is no sure answer. */
const STAMP = Buffer.from('{"timestamp":"')
const TYPE = Buffer.from('","type":"')
const ITEM = Buffer.from('response_item","payload":{"type":"')
const EVENT = Buffer.from('event_msg","payload":{"type":"')
const BARE = Buffer.from('{"type":"')
const STATE = Buffer.from('{"record_type":"state"}')
const ASSISTANT = Buffer.from('","role":"assistant"')
const NAME = Buffer.from('","name":"')
const TOTAL = Buffer.from('","info":{"total_token_usage":{')

/** A time of 24 characters stands between the first key and the second. */
const TYPE_AT = STAMP.length + 24
const WORD_AT = TYPE_AT + TYPE.length

export function glance(bytes: Buffer, from: number, to: number): Glance {
  if (starts(bytes, from, to, STAMP) && starts(bytes, from + TYPE_AT, to, TYPE)) {
    const at = from + WORD_AT
    if (starts(bytes, at, to, ITEM)) return glanceItem(bytes, at + ITEM.length, to)
    if (starts(bytes, at, to, EVENT)) return glanceEvent(bytes, at + EVENT.length, to)
    return 'parse'
  }
  if (starts(bytes, from, to, BARE)) return glanceItem(bytes, from + BARE.length, to)
  return starts(bytes, from, to, STATE) ? 'nothing' : 'parse'
}

/** The line's own time, where a glance was sure of it. */
export function stampOf(bytes: Buffer, from: number): string {
  return bytes[from + 2] === STAMP[2] ? bytes.toString('latin1', from + STAMP.length, from + TYPE_AT) : ''
}

const ITEMS = wordTable({
  message: 'message',
  function_call: 'call',
  custom_tool_call: 'call',
  reasoning: 'nothing',
  function_call_output: 'nothing',
  custom_tool_call_output: 'nothing',
  tool_search_output: 'nothing',
  ghost_snapshot: 'nothing',
  compaction: 'nothing',
})

const EVENTS = wordTable({
  token_count: 'tokens',
  user_message: 'event',
  agent_message: 'event',
  agent_reasoning: 'nothing',
  task_started: 'nothing',
  task_complete: 'nothing',
  exec_command_end: 'nothing',
  patch_apply_end: 'nothing',
})

function glanceItem(bytes: Buffer, at: number, to: number): Glance {
  const word = wordAt(ITEMS, bytes, at, to)
  if (!word) return 'parse'
  const after = at + word.bytes.length - 1
  if (word.means === 'message') return starts(bytes, after, to, ASSISTANT) ? 'answer' : 'parse'
  if (word.means === 'nothing') return 'nothing'
  for (const one of known) if (starts(bytes, after, to, one.bytes)) return one
  const tool = nameIn(bytes, after, to)
  if (tool === undefined) return 'parse'
  const one = { tool, bytes: Buffer.from(`${NAME_TEXT}${tool}"`, 'latin1') }
  if (known.length < MOST_KNOWN) known.push(one)
  return one
}

/** Tools that were called before: a handful is called all the time. */
const known: { readonly tool: string; readonly bytes: Buffer }[] = []
const MOST_KNOWN = 16

function glanceEvent(bytes: Buffer, at: number, to: number): Glance {
  const word = wordAt(EVENTS, bytes, at, to)
  if (!word) return 'parse'
  if (word.means !== 'tokens') return word.means
  const after = at + word.bytes.length - 1
  if (!starts(bytes, after, to, TOTAL)) return 'parse'
  const total = counterAt(bytes, after + TOTAL.length, to)
  return total ? { total } : 'parse'
}

/** Directly behind the type in a function call, a little further on in a custom one. */
function nameIn(bytes: Buffer, at: number, to: number): string | undefined {
  const head = bytes.toString('latin1', at, Math.min(to, at + 200))
  const start = head.indexOf(NAME_TEXT)
  const open = start + NAME_TEXT.length
  const close = start < 0 ? -1 : head.indexOf('"', open)
  const name = close < 0 ? undefined : head.slice(open, close)
  // An escape or a letter beyond ASCII: leave it to the parser.
  return name === undefined || /[^\x20-\x5b\x5d-\x7e]/.test(name) ? undefined : name
}

const NAME_TEXT = NAME.toString('latin1')

interface Word<Means> {
  /** With its closing quote. */
  readonly bytes: Buffer
  readonly means: Means
}

/** Words by their first letter. */
function wordTable<Means extends string>(words: {
  readonly [word: string]: Means
}): readonly (readonly Word<Means>[])[] {
  const table: Word<Means>[][] = Array.from({ length: 128 }, () => [])
  for (const [word, means] of Object.entries(words))
    table[word.charCodeAt(0)]?.push({ bytes: Buffer.from(`${word}"`), means })
  return table
}

function wordAt<Means>(
  table: readonly (readonly Word<Means>[])[],
  bytes: Buffer,
  at: number,
  to: number,
): Word<Means> | undefined {
  for (const word of table[bytes[at] ?? 0] ?? []) if (starts(bytes, at, to, word.bytes)) return word
  return undefined
}

function starts(bytes: Buffer, at: number, to: number, wanted: Buffer): boolean {
  if (at + wanted.length > to) return false
  for (let i = 0; i < wanted.length; i++) if (bytes[at + i] !== wanted[i]) return false
  return true
}

const COUNTERS = [
  'input_tokens',
  'cached_input_tokens',
  'output_tokens',
  'reasoning_output_tokens',
  'total_tokens',
] as const
const COUNTER_KEYS = COUNTERS.map((name) => ({ name, bytes: Buffer.from(`"${name}":`) }))

/** A flat object of whole numbers, from behind its opening brace. */
function counterAt(bytes: Buffer, from: number, to: number): Usage | undefined {
  const usage = {
    input_tokens: 0,
    cached_input_tokens: 0,
    output_tokens: 0,
    reasoning_output_tokens: 0,
    total_tokens: 0,
  }
  let at = from
  for (;;) {
    const key = counterKey(bytes, at, to)
    const digits = key ? at + key.bytes.length : bytes.indexOf(COLON, at) + 1
    let value = 0
    let end = digits
    let code = bytes[end] ?? 0
    while (code >= 48 && code <= 57) {
      value = value * 10 + code - 48
      code = bytes[++end] ?? 0
    }
    // JSON has no numbers that begin with a further 0.
    if (end === digits || end >= to || value > MOST_TOKENS || (bytes[digits] === ZERO && end > digits + 1))
      return undefined
    if (key) usage[key.name] = value
    if (code === CLOSE) return usage
    if (code !== COMMA) return undefined
    at = end + 1
  }
}

function counterKey(bytes: Buffer, at: number, to: number) {
  for (const key of COUNTER_KEYS) if (starts(bytes, at, to, key.bytes)) return key
  return undefined
}

const ZERO = 48
const COMMA = 44
const COLON = 58
const CLOSE = 125
