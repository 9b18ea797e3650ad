/** Locators in few bytes: without what their row tells already, and with their usual words as one byte each. */
import type { ByteBuffer } from '../lib/byte-buffer.ts'
import { type Instant, instantFromMs, makeMessageId } from '../model/ids.ts'

type LocatorFields = { readonly [key: string]: unknown }

/** What the row of a message knows beside the locator. */
export interface RowContext {
  readonly line: number
  readonly time: string
  readonly session: string
}

const ROW_CONTEXT_KEYS = ['line', 'time', 'session'] as const

/** Below are the numbers from 0 to 127, each for itself. */
const INTEGER = 0x80
/** From 1 to 7, so many bytes follow INTEGER. */
const MAX_INTEGER_BYTES = 7
const REAL = 0x88
const TRUE = 0x89
const FALSE = 0x8a
const NULL = 0x8b
const TEXT = 0x8c
/** With halves of pairs, which UTF-8 cannot hold. */
const UTF16_TEXT = 0x8d
const OBJECT = 0x8e
const LIST = 0x8f
const END = 0x90
/** The id of another message, which was said at about the same time. */
const MESSAGE_BEFORE = 0x91
const MESSAGE_AFTER = 0x92
const WORD = 0xa0

/** Keys and values. Never changed, only added: up to 96. */
const WORDS = [
  'at',
  'call',
  'marks',
  'usage',
  'input_tokens',
  'cached_input_tokens',
  'output_tokens',
  'reasoning_output_tokens',
  'total_tokens',
  'duplicates',
  'duplicate_of',
  'enriches',
  'found',
  'exit_code',
  'duration_ms',
  'failed',
  'again',
  'role',
  'whole',
  'replayed',
  'ancestor',
  'review',
  'role_inferred',
  'timestamp_inferred',
  'rolled_back',
  'rolled_back_incomplete',
  'entry',
  'part',
  'check',
  'time',
  'line',
  'session',
  'inferred',
  'main',
  'next',
  'unit',
  'user',
  'assistant',
  'tool',
  'system',
  'meta',
] as const

const CODES: ReadonlyMap<string, number> = new Map(WORDS.map((word, at) => [word, WORD + at]))

export function packLocator(locator: LocatorFields, context: RowContext, into: ByteBuffer): void {
  const start = into.used
  writeByte(into, 0)
  let omitted = 0
  for (const key in locator) {
    const at = ROW_CONTEXT_KEYS.indexOf(key as 'line')
    if (at >= 0 && locator[key] === context[ROW_CONTEXT_KEYS[at] ?? 'line']) omitted |= 1 << at
    else writeField(into, key, locator[key], context)
  }
  into.buffer[start] = omitted
}

function writeField(into: ByteBuffer, key: string, value: unknown, context: RowContext): void {
  if (value === undefined) return
  writeLocatorText(into, key)
  writeValue(into, value, context)
}

function writeValue(into: ByteBuffer, value: unknown, context: RowContext): void {
  if (typeof value === 'number') writeLocatorNumber(into, value)
  else if (typeof value === 'string') writeStringOrMessageId(into, value, context)
  else if (typeof value === 'boolean') writeByte(into, value ? TRUE : FALSE)
  else if (Array.isArray(value)) {
    writeByte(into, LIST)
    for (const one of value) writeValue(into, one, context)
    writeByte(into, END)
  } else if (typeof value === 'object' && value !== null) {
    writeByte(into, OBJECT)
    for (const key in value) writeField(into, key, (value as LocatorFields)[key], context)
    writeByte(into, END)
  } else writeByte(into, NULL)
}

function writeByte(into: ByteBuffer, byte: number): void {
  into.reserve(1)
  into.buffer[into.used++] = byte
}

export function writeLocatorNumber(into: ByteBuffer, value: number): void {
  into.reserve(9)
  const { buffer } = into
  if (value >= 0 && value < 128 && Number.isInteger(value) && !Object.is(value, -0)) buffer[into.used++] = value
  else if (value >= 128 && Number.isSafeInteger(value)) {
    const head = into.used++
    for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) buffer[into.used++] = rest & 255
    buffer[head] = INTEGER + into.used - head - 1
  } else {
    buffer[into.used++] = REAL
    into.used = buffer.writeDoubleLE(value, into.used)
  }
}

export function writeLocatorText(into: ByteBuffer, text: string): void {
  const code = CODES.get(text)
  if (code !== undefined) return writeByte(into, code)
  if (text === '') {
    writeByte(into, TEXT)
    return writeByte(into, 0)
  }
  const utf8 = Buffer.from(text, 'utf8')
  const isWellFormed = utf8.toString('utf8') === text
  const bytes = isWellFormed ? utf8 : Buffer.from(text, 'utf16le')
  writeByte(into, isWellFormed ? TEXT : UTF16_TEXT)
  writeLocatorNumber(into, bytes.length)
  into.reserve(bytes.length)
  into.used += bytes.copy(into.buffer, into.used)
}

const TIMESTAMP_LENGTH = '2026-01-05T08:00:00.000Z'.length

/** Messages name each other by ids that are made of time and place. */
function writeStringOrMessageId(into: ByteBuffer, text: string, { time }: RowContext): void {
  if (text[TIMESTAMP_LENGTH] !== '#' || text[TIMESTAMP_LENGTH - 1] !== 'Z') return writeLocatorText(into, text)
  const rowTime = Date.parse(time)
  const after = Date.parse(text.slice(0, TIMESTAMP_LENGTH)) - rowTime
  const dot = text.indexOf('.', TIMESTAMP_LENGTH)
  const line = Number(text.slice(TIMESTAMP_LENGTH + 1, dot < 0 ? undefined : dot))
  const part = dot < 0 ? 1 : Number(text.slice(dot + 1))
  if (messageIdAt(rowTime + after, line, part) !== text) return writeLocatorText(into, text)
  writeByte(into, after < 0 ? MESSAGE_BEFORE : MESSAGE_AFTER)
  writeLocatorNumber(into, Math.abs(after))
  writeLocatorNumber(into, line)
  writeLocatorNumber(into, part)
}

function messageIdAt(milliseconds: number, line: number, part: number): string | undefined {
  const at: Instant | undefined = instantFromMs(milliseconds)
  return at && makeMessageId(at, line, part)
}

export function unpackLocator(packed: Uint8Array, context: RowContext): LocatorFields {
  const omitted = packed[0] ?? 0
  const reader = new LocatorReader(packed.subarray(1), context)
  const locator: Record<string, unknown> = {}
  while (!reader.isAtEnd()) locator[String(reader.value())] = reader.value()
  ROW_CONTEXT_KEYS.forEach((key, at) => {
    if (omitted & (1 << at)) locator[key] = context[key]
  })
  return locator
}

/** Reads values one behind the other. */
export class LocatorReader {
  readonly #bytes: Buffer
  readonly #known: RowContext | undefined
  #at = 0

  /** @param context tells what is meant by a message that is far away by so much */
  constructor(packed: Uint8Array, context?: RowContext) {
    this.#bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.length)
    this.#known = context
  }

  isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  value(): unknown {
    const code = this.#bytes[this.#at++] ?? NULL
    if (code < INTEGER) return code
    if (code >= WORD) return WORDS[code - WORD]
    if (code <= INTEGER + MAX_INTEGER_BYTES) return this.#integer(code - INTEGER)
    switch (code) {
      case REAL:
        this.#at += 8
        return this.#bytes.readDoubleLE(this.#at - 8)
      case TRUE:
        return true
      case FALSE:
        return false
      case TEXT:
      case UTF16_TEXT: {
        return this.bytes(this.number()).toString(code === TEXT ? 'utf8' : 'utf16le')
      }
      case OBJECT: {
        const value: Record<string, unknown> = {}
        while (!this.#ended()) value[String(this.value())] = this.value()
        return value
      }
      case LIST: {
        const list: unknown[] = []
        while (!this.#ended()) list.push(this.value())
        return list
      }
      case MESSAGE_BEFORE:
      case MESSAGE_AFTER: {
        const distance = this.number()
        const after = code === MESSAGE_BEFORE ? -distance : distance
        return messageIdAt(Date.parse(this.#known?.time ?? '') + after, this.number(), this.number())
      }
      default:
        return null
    }
  }

  number(): number {
    return Number(this.value())
  }

  bytes(count: number): Buffer {
    this.#at += count
    return this.#bytes.subarray(this.#at - count, this.#at)
  }

  #integer(size: number): number {
    let value = 0
    for (let n = size - 1; n >= 0; n--) value = value * 256 + (this.#bytes[this.#at + n] ?? 0)
    this.#at += size
    return value
  }

  #ended(): boolean {
    if (this.#bytes[this.#at] !== END && !this.isAtEnd()) return false
    this.#at++
    return true
  }
}
