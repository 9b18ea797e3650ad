/** JSON that comes back as it was: numbers keep their spelling and objects the order of their keys. */

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

/** Ordinary values wherever they lose nothing; the two classes only where they would. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | JsonNumber
  | readonly JsonValue[]
  | ReadonlyMap<string, JsonValue>
  | { readonly [key: string]: JsonValue }

export interface ParsedJson {
  readonly ok: true
  readonly value: JsonValue
  /** For each object that names a key twice, the first such key. Filled only when asked for. */
  readonly duplicates: ReadonlyMap<object, string>
}

export interface ParseOptions {
  readonly duplicates?: boolean
  /** How many arrays and objects may be open at once. */
  readonly maxDepth?: number
}

/** Deeper values would overflow the stack of whoever walks them. */
export const MAX_JSON_DEPTH = 1000

/**
 * Native JSON.parse does the work. Before it, a scan replaces the few tokens it would change by marked strings; after
 * it, these become what they were. A text without such tokens costs the scan only.
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

/** The native message quotes the text, which may be private: only the place is told. */
function toFailure(text: string): JsonFailure {
  try {
    JSON.parse(text)
  } catch (error) {
    const at = /position (\d+)/.exec(String(error))?.[1]
    if (at !== undefined) return { ok: false, reason: 'not JSON', at: Number(at) }
  }
  return { ok: false, reason: text.trim() === '' ? 'empty text' : 'not JSON, or cut short' }
}

/** Turns marked strings back in place, and stops when it has found them all: a late first mark is looked for from the end. */
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

  /** Marked keys are `k<key>` (a key that would move) and `d<n>:<key>` (a key seen before). */
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

/** Whether a plain object would not keep this key where it was put. */
export function isMovedKey(key: string): boolean {
  return /^(?:0|[1-9]\d{0,9}|__proto__)$/.test(key)
}

/** Ordinary JavaScript values, for those who need no exact spelling. */
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
