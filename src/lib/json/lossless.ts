/** Lossless JSON: parses and writes JSON without changing the spelling of numbers or the order of keys. */

import { type JsonFailure, scanLossyTokens } from './scan-lossy-tokens.ts'

/** A number whose spelling JavaScript would change: `1.0`, `1e100`, `18446744073709551615`, `-0`. */
export class JsonNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  valueOf(): number {
    return Number(this.text)
  }

  toJSON(): number {
    return Number(this.text)
  }
}

/** An object with a key that a plain object would move or swallow: `1`, `2`, `__proto__`. */
export class JsonMap<T = JsonValue> extends Map<string, T> {
  toJSON(): object {
    return Object.fromEntries(this)
  }
}

/** Plain values where they lose nothing; the two classes only where necessary. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | JsonNumber
  | readonly JsonValue[]
  | ReadonlyMap<string, JsonValue>
  | { readonly [key: string]: JsonValue }

interface ParsedJson {
  readonly ok: true
  readonly value: JsonValue
  /** For each object that contains a key twice, the first such key. Filled only on request. */
  readonly duplicates: ReadonlyMap<object, string>
}

interface ParseOptions {
  readonly duplicates?: boolean
  /** Maximum nesting depth. */
  readonly maxDepth?: number
}

/** Deeper values would overflow the stack of recursive code. */
const MAX_JSON_DEPTH = 1000

/**
 * Parses with JSON.parse. A scan first replaces the few tokens that it would change by marked strings, which are
 * converted back afterwards. Text without such tokens only costs the scan.
 */
export function parseJson(text: string, options: ParseOptions = {}): ParsedJson | JsonFailure {
  const scan = scanLossyTokens(text, options.duplicates ?? false)
  const limit = options.maxDepth ?? MAX_JSON_DEPTH
  if (scan.depth > limit) return { ok: false, reason: `more than ${limit} levels deep` }
  try {
    const value = JSON.parse(scan.text) as JsonValue
    if (scan.marker === undefined) return { ok: true, value, duplicates: NO_DUPLICATES }
    const reviver = new Reviver(scan.marker, scan.marked, scan.late)
    return { ok: true, value: reviver.revive(value), duplicates: reviver.duplicates }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return toFailure(text)
  }
}

const NO_DUPLICATES: ReadonlyMap<object, string> = new Map()

/** The native error quotes the text, which may be private, so only its position is used. */
function toFailure(text: string): JsonFailure {
  try {
    JSON.parse(text)
  } catch (error) {
    const at = /position (\d+)/.exec(String(error))?.[1]
    if (at !== undefined) return { ok: false, reason: 'not JSON', at: Number(at) }
  }
  return { ok: false, reason: text.trim() === '' ? 'empty text' : 'not JSON, or cut short' }
}

/**
 * Converts marked strings back in place, and stops when all are found. If the first mark is late, it searches from the
 * end.
 */
class Reviver {
  readonly duplicates = new Map<object, string>()
  readonly #marker: string
  #remaining: number
  readonly #late: boolean

  constructor(marker: string, marked: number, late: boolean) {
    this.#marker = marker
    this.#remaining = marked
    this.#late = late
  }

  revive(value: JsonValue): JsonValue {
    if (typeof value === 'string') return value.startsWith(this.#marker) ? this.#number(value) : value
    if (value === null || typeof value !== 'object' || this.#remaining === 0) return value
    if (Array.isArray(value)) {
      const last = value.length - 1
      for (let i = 0; i <= last && this.#remaining > 0; i++) {
        const at = this.#late ? last - i : i
        const item = value[at]
        if (typeof item === 'string' || typeof item === 'object') value[at] = this.revive(item)
      }
      return value
    }
    const object = value as Record<string, JsonValue>
    for (const key in object) if (key.startsWith(this.#marker)) return this.#keys(object)
    if (this.#late) for (const key of Object.keys(object).reverse()) this.#field(object, key)
    else for (const key in object) this.#field(object, key)
    return object
  }

  #field(object: Record<string, JsonValue>, key: string): void {
    const item = object[key]
    if (typeof item !== 'string' && typeof item !== 'object') return
    const revived = this.revive(item)
    if (revived !== item) object[key] = revived
  }

  #number(marked: string): JsonNumber {
    this.#remaining--
    return new JsonNumber(marked.slice(this.#marker.length + 1))
  }

  /** Marked keys are `k<key>` (a key that would be reordered) and `d<n>:<key>` (a repeated key). */
  #keys(object: Record<string, JsonValue>): JsonValue {
    const map = new JsonMap()
    let duplicate: string | undefined
    for (const marked of Object.keys(object)) {
      const isMarked = marked.startsWith(this.#marker)
      const isDuplicate = isMarked && marked[this.#marker.length] === 'd'
      const key = isMarked ? marked.slice(isDuplicate ? marked.indexOf(':') + 1 : this.#marker.length + 1) : marked
      if (isMarked) this.#remaining--
      if (isDuplicate) duplicate ??= key
      map.set(key, this.revive(object[marked] ?? null))
    }
    const result = [...map.keys()].some(isMovedKey) ? map : Object.fromEntries(map)
    if (duplicate !== undefined) this.duplicates.set(result, duplicate)
    return result
  }
}

/** Whether a plain object would move this key. */
export function isMovedKey(key: string): boolean {
  return /^(?:0|[1-9]\d{0,9}|__proto__)$/.test(key)
}

/** Converts to plain JavaScript values, losing exact spellings. */
export function plainJson(value: JsonValue): unknown {
  if (value instanceof JsonNumber) return value.valueOf()
  if (value === null || typeof value !== 'object') return value
  if (isJsonArray(value)) return value.map(plainJson)
  return Object.fromEntries(jsonEntries(value).map(([key, item]) => [key, plainJson(item)]))
}

export function isJsonArray(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value)
}

export type JsonObject = ReadonlyMap<string, JsonValue> | { readonly [key: string]: JsonValue }

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber)
}

export function jsonEntries<T = JsonValue>(
  object: ReadonlyMap<string, T> | { readonly [key: string]: T },
): readonly (readonly [string, T])[] {
  return object instanceof Map ? [...object] : Object.entries(object)
}

/**
 * JSON.stringify writes odd numbers and keys as marked strings, whose marks are then removed. A value without them
 * costs only one extra traversal.
 * @param indent spaces per level; 0 for compact text
 */
export function writeJson(value: JsonValue, indent: 0 | 2 = 0): string {
  return writeMarkedJson((marks) => markJson(value, marks), indent)
}

/**
 * For values that mark their odd parts themselves. Calls `marked` again with other marks if a string happens to begin
 * with one.
 */
export function writeMarkedJson(marked: (marks: JsonMarks) => JsonValue, indent: 0 | 2 = 0): string {
  for (let length = 1; ; length++) {
    const marks = { text: '\u0001'.repeat(length), count: 0 }
    const text = JSON.stringify(marked(marks), null, indent)
    if (marks.count === 0) return text
    const parts = text.split(`"${'\\u0001'.repeat(length)}`)
    if (parts.length === marks.count + 1) return parts.map(removeMark).join('')
  }
}

/** Marks are `n<number>` and `k<key>`. */
function removeMark(part: string, index: number): string {
  if (index === 0) return part
  if (part[0] === 'k') return `"${part.slice(1)}`
  const end = part.indexOf('"')
  return part.slice(1, end) + part.slice(end + 1)
}

/** The prefix of marked strings, and their number. */
export interface JsonMarks {
  readonly text: string
  count: number
}

/** Returns the value itself, or a marked copy if it contains odd numbers or keys. */
export function markJson(value: JsonValue, marks: JsonMarks): JsonValue {
  if (value === null || typeof value !== 'object') return Object.is(value, -0) ? toNumberMark('-0.0', marks) : value
  if (value instanceof JsonNumber) return toNumberMark(value.text, marks)
  if (isJsonArray(value)) return markItems(value, marks)
  if (value instanceof Map) {
    return markMapKeys(new Map(jsonEntries(value).map(([key, item]) => [key, markJson(item, marks)])), marks)
  }
  return markFields(value as { readonly [key: string]: JsonValue }, marks)
}

/** For maps whose values are already marked. */
export function markMapKeys(map: ReadonlyMap<string, JsonValue>, marks: JsonMarks): JsonValue {
  marks.count += map.size
  return Object.fromEntries(Array.from(map, ([key, item]) => [`${marks.text}k${key}`, item]))
}

function markItems(items: readonly JsonValue[], marks: JsonMarks): JsonValue {
  let changed: JsonValue[] | undefined
  for (let i = 0; i < items.length; i++) {
    const item = items[i] ?? null
    const marked = markJson(item, marks)
    if (marked === item) continue
    changed ??= [...items]
    changed[i] = marked
  }
  return changed ?? items
}

function markFields(object: { readonly [key: string]: JsonValue }, marks: JsonMarks): JsonValue {
  let changed: Record<string, JsonValue> | undefined
  for (const key in object) {
    const item = object[key]
    if (item === undefined || typeof item === 'string') continue
    const marked = markJson(item, marks)
    if (marked === item) continue
    changed ??= { ...object }
    changed[key] = marked
  }
  return changed ?? object
}

function toNumberMark(text: string, marks: JsonMarks): string {
  marks.count++
  return `${marks.text}n${text}`
}

/** Converts either form of an object to a map in key order. */
export function toJsonMap<T>(object: ReadonlyMap<string, T> | { readonly [key: string]: T }): JsonMap<T> {
  return new JsonMap(jsonEntries(object))
}
