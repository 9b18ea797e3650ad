/** Decides by a line's first bytes what the first pass needs of it. Where that is uncertain, the line is parsed. */
import { MAX_TOKEN_COUNT } from '../../model/checked-numbers.ts'
import { type Instant, toInstant } from '../../model/ids.ts'
import type { Usage } from '../../model/usage.ts'

/**
 * `nothing`: only the line counts. `answer`: a message of the model. `event`: text for the screen, which repeats an item.
 * `parse`: uncertain.
 */
export type LineHint =
  | 'nothing'
  | 'answer'
  | 'event'
  | 'parse'
  | { readonly tool: string }
  | { readonly total: Usage; readonly last: Usage }

/** The keys in the order in which Codex writes them; lines in any other order are parsed. */
const STAMP = Buffer.from('{"timestamp":"')
const TYPE = Buffer.from('","type":"')
const ITEM = Buffer.from('response_item","payload":{"type":"')
const EVENT = Buffer.from('event_msg","payload":{"type":"')
const BARE = Buffer.from('{"type":"')
const STATE = Buffer.from('{"record_type":"state"}')
const ASSISTANT = Buffer.from('","role":"assistant"')
const NAME = Buffer.from('","name":"')
const TOTAL = Buffer.from('","info":{"total_token_usage":{')
const LAST = Buffer.from('},"last_token_usage":{')

/** A time has 24 characters. */
const TYPE_AT = STAMP.length + 24
const WORD_AT = TYPE_AT + TYPE.length

export function peekLine(bytes: Buffer, from: number, to: number): LineHint {
  if (startsWithAt(bytes, from, to, STAMP) && startsWithAt(bytes, from + TYPE_AT, to, TYPE)) {
    const at = from + WORD_AT
    if (startsWithAt(bytes, at, to, ITEM)) return peekItem(bytes, at + ITEM.length, to)
    if (startsWithAt(bytes, at, to, EVENT)) return peekEvent(bytes, at + EVENT.length, to)
    return 'parse'
  }
  if (startsWithAt(bytes, from, to, BARE)) return peekItem(bytes, from + BARE.length, to)
  return startsWithAt(bytes, from, to, STATE) ? 'nothing' : 'parse'
}

/** The line's own time, or an empty text. */
export function peekTimestamp(bytes: Buffer, from: number): string {
  return bytes[from + 2] === STAMP[2] ? bytes.toString('latin1', from + STAMP.length, from + TYPE_AT) : ''
}

/** The greatest time of lines that are not parsed. Compares bytes: a text for each line would cost too much. */
export class LatestTimestamp {
  readonly #bytes = Buffer.alloc(24)

  peek(bytes: Buffer, from: number): void {
    if (bytes[from + 2] !== STAMP[2]) return
    const start = from + STAMP.length
    for (let at = 0; at < 24; at++) {
      const difference = (bytes[start + at] ?? 0) - (this.#bytes[at] ?? 0)
      if (difference < 0) return
      if (difference > 0) break
    }
    bytes.copy(this.#bytes, 0, start, start + 24)
  }

  /** The greatest since the last call. Null if there is none, or if it is not a time. */
  take(): Instant | null {
    const at = toInstant(this.#bytes.toString('latin1')) ?? null
    this.#bytes.fill(0)
    return at
  }
}

const ITEMS = typeWordTable({
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

const EVENTS = typeWordTable({
  token_count: 'tokens',
  user_message: 'event',
  agent_message: 'event',
  agent_reasoning: 'nothing',
  task_started: 'nothing',
  task_complete: 'nothing',
  exec_command_end: 'nothing',
  patch_apply_end: 'nothing',
})

function peekItem(bytes: Buffer, at: number, to: number): LineHint {
  const word = typeWordAt(ITEMS, bytes, at, to)
  if (!word) return 'parse'
  const after = at + word.bytes.length - 1
  if (word.means === 'message') return startsWithAt(bytes, after, to, ASSISTANT) ? 'answer' : 'parse'
  if (word.means === 'nothing') return 'nothing'
  for (const one of knownTools) if (startsWithAt(bytes, after, to, one.bytes)) return one
  const tool = peekToolName(bytes, after, to)
  if (tool === undefined) return 'parse'
  const one = { tool, bytes: Buffer.from(`${NAME_TEXT}${tool}"`, 'latin1') }
  if (knownTools.length < MAX_KNOWN_TOOLS) knownTools.push(one)
  return one
}

/** Most calls are of a few tools. */
const knownTools: { readonly tool: string; readonly bytes: Buffer }[] = []
const MAX_KNOWN_TOOLS = 16

function peekEvent(bytes: Buffer, at: number, to: number): LineHint {
  const word = typeWordAt(EVENTS, bytes, at, to)
  if (!word) return 'parse'
  if (word.means !== 'tokens') return word.means
  const after = at + word.bytes.length - 1
  if (!startsWithAt(bytes, after, to, TOTAL)) return 'parse'
  const total = parseCounters(bytes, after + TOTAL.length, to)
  if (!total || !startsWithAt(bytes, total.end, to, LAST)) return 'parse'
  const last = parseCounters(bytes, total.end + LAST.length, to)
  // Counts of 0 with a total are the size of the window.
  if (!last || total.usage.input_tokens + total.usage.output_tokens === 0) return 'parse'
  return { total: total.usage, last: last.usage }
}

/** Directly behind the type in a function call, a little further on in a custom one. */
function peekToolName(bytes: Buffer, at: number, to: number): string | undefined {
  const head = bytes.toString('latin1', at, Math.min(to, at + 200))
  const start = head.indexOf(NAME_TEXT)
  const open = start + NAME_TEXT.length
  const close = start < 0 ? -1 : head.indexOf('"', open)
  const name = close < 0 ? undefined : head.slice(open, close)
  // An escape or a letter beyond ASCII: leave it to the parser.
  return name === undefined || /[^\x20-\x5b\x5d-\x7e]/.test(name) ? undefined : name
}

const NAME_TEXT = NAME.toString('latin1')

interface TypeWord<Means> {
  /** With its closing quote. */
  readonly bytes: Buffer
  readonly means: Means
}

/** Words by their first letter. */
function typeWordTable<Means extends string>(typeWords: {
  readonly [word: string]: Means
}): readonly (readonly TypeWord<Means>[])[] {
  const table: TypeWord<Means>[][] = Array.from({ length: 128 }, () => [])
  for (const [word, means] of Object.entries(typeWords))
    table[word.charCodeAt(0)]?.push({ bytes: Buffer.from(`${word}"`), means })
  return table
}

function typeWordAt<Means>(
  table: readonly (readonly TypeWord<Means>[])[],
  bytes: Buffer,
  at: number,
  to: number,
): TypeWord<Means> | undefined {
  for (const word of table[bytes[at] ?? 0] ?? []) if (startsWithAt(bytes, at, to, word.bytes)) return word
  return undefined
}

function startsWithAt(bytes: Buffer, at: number, to: number, wanted: Buffer): boolean {
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

/** A flat object of whole numbers, from behind its opening brace to its closing one. */
function parseCounters(
  bytes: Buffer,
  from: number,
  to: number,
): { readonly usage: Usage; readonly end: number } | undefined {
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
    if (end === digits || end >= to || value > MAX_TOKEN_COUNT || (bytes[digits] === ZERO && end > digits + 1))
      return undefined
    if (key) usage[key.name] = value
    if (code === CLOSE) return { usage, end }
    if (code !== COMMA) return undefined
    at = end + 1
  }
}

function counterKey(bytes: Buffer, at: number, to: number) {
  for (const key of COUNTER_KEYS) if (startsWithAt(bytes, at, to, key.bytes)) return key
  return undefined
}

const ZERO = 48
const COMMA = 44
const COLON = 58
const CLOSE = 125
