/** The codec of an object with known fields, as serde's derive reads and writes it. */

import { isJsonArray, isJsonObject, type JsonValue } from '../../lib/json/lossless.ts'
import { markJson } from '../../lib/json/write.ts'
import { isTwice, kindOf, type Reading, repaired, Unreadable } from './reading.ts'
import { type Codec, type Lowering, nullable } from './shape.ts'

type Raw = { readonly [key: string]: unknown }

export interface Field<T> {
  readonly codec: Codec<T>
  /** What a missing field means: an error, nothing at all, or this value. */
  readonly missing: 'error' | 'leave out' | ((reading: Reading) => T)
  /** May be missing at the end when the object is given as an array. */
  readonly optionalInArray: boolean
  /** What a tolerant reading puts in place of a missing or unreadable value. */
  readonly mend?: (siblings: Raw) => T
  /** Ours: the original does not know the field, a strict reading neither. */
  readonly ours?: true
  readonly alias?: string
}

export type Fields<T> = { readonly [K in keyof T]-?: Field<Exclude<T[K], undefined>> }

export function required<T>(codec: Codec<T>, mend?: (siblings: Raw) => T): Field<T> {
  return { codec, missing: 'error', optionalInArray: false, ...(mend && { mend }) }
}

/** Null when missing, and always written. */
export function optional<T>(codec: Codec<T>): Field<T | null> {
  return { codec: nullable(codec), missing: () => null, optionalInArray: false, mend: () => null }
}

export function defaulted<T>(codec: Codec<T>, value: (reading: Reading) => T, mend?: () => T): Field<T> {
  return { codec, missing: value, optionalInArray: true, ...(mend && { mend }) }
}

/** Written only when set; null counts as not set. */
export function whenSet<T>(codec: Codec<T>): Field<T> {
  return { codec, missing: 'leave out', optionalInArray: true }
}

const MISSING = Symbol('missing')

export function struct<T extends object>(name: string, fields: Fields<T>): Codec<T> {
  return new Struct<T>(name, Object.entries<Field<unknown>>(fields))
}

/** The names come from files, and one of them may be `__proto__`. */
function put(result: Record<string, unknown>, key: string, item: unknown): void {
  if (item === MISSING || item === undefined) return
  if (key === '__proto__')
    Object.defineProperty(result, key, { value: item, enumerable: true, writable: true, configurable: true })
  else result[key] = item
}

class Struct<T extends object> implements Codec<T> {
  readonly #name: string
  readonly #fields: readonly (readonly [string, Field<unknown>])[]
  readonly #keys: readonly string[]
  readonly #all: readonly Field<unknown>[]
  // What the fields' codecs say, side by side: the codecs differ too much for the compiler to look into them quickly.
  readonly #takes: readonly (string | undefined)[]
  readonly #takesNull: readonly boolean[]
  readonly #leaf: readonly boolean[]
  readonly #order: ReadonlyMap<string, number>

  constructor(name: string, fields: readonly (readonly [string, Field<unknown>])[]) {
    this.#name = name
    this.#fields = fields
    this.#keys = fields.map(([key]) => key)
    this.#all = fields.map(([, field]) => field)
    this.#takes = this.#all.map(({ codec }) => codec.takes)
    this.#takesNull = this.#all.map(({ codec }) => codec.takesNull === true)
    this.#leaf = this.#all.map(({ codec }) => codec.leaf === true)
    this.#order = new Map(fields.map(([key], index) => [key, index]))
  }

  read = (value: unknown, reading: Reading): T => {
    if (isJsonArray(value)) return this.#readArray(value, reading)
    if (!isJsonObject(value))
      throw new Unreadable(reading, `expected ${this.#name} as an object, found ${kindOf(value)}`)
    const { path, repairs, setAside } = reading
    const at = path.length
    const mended = repairs.length
    const aside = setAside.length
    try {
      return this.#readUsual(value, reading) ?? this.#readCarefully(value, reading)
    } catch (error) {
      if (reading.strict || !(error instanceof Unreadable)) throw error
      path.length = at
      repairs.length = mended
      setAside.length = aside
      reading.leaf = undefined
      return this.#readCarefully(value, reading)
    }
  }

  /** The way of nearly all objects: every field is there. Gives the object back if it can stay; nothing when in doubt. */
  #readUsual(value: object, reading: Reading): T | undefined {
    if (value instanceof Map || isTwice(value, reading)) return undefined
    const raw = value as Raw
    const tolerant = !reading.strict
    let found: unknown[] | undefined
    for (let i = 0; i < this.#keys.length; i++) {
      const key = this.#keys[i] as string
      const given = raw[key]
      const takes = this.#takes[i]
      if (
        tolerant &&
        (typeof given === takes || takes === 'all' || (given === null && this.#takesNull[i])) &&
        given !== undefined
      ) {
        if (found) found[i] = given
        continue
      }
      const field = this.#all[i] as Field<unknown>
      let item: unknown = MISSING
      if (given === undefined || (given === null && field.missing === 'leave out') || (field.ours && reading.strict)) {
        if (field.alias || field.missing === 'error') return undefined
        if (typeof field.missing === 'function') item = field.missing(reading)
        if (given === undefined && item === MISSING && !found) continue
      } else {
        const isLeaf = this.#leaf[i]
        if (isLeaf) reading.leaf = key
        else reading.path.push(key)
        item = field.codec.read(given, reading)
        if (isLeaf) reading.leaf = undefined
        else reading.path.pop()
      }
      if (item !== given) found ??= this.#fields.slice(0, i).map(([before]) => (before in raw ? raw[before] : MISSING))
      if (found) found[i] = item
    }
    if (found) return this.#rebuilt(raw, found, [], reading)
    return reading.strict && !this.#isInOrder(raw) ? undefined : (value as unknown as T)
  }

  #isInOrder(raw: Raw): boolean {
    let last = -1
    for (const key in raw) {
      const index = this.#order.get(key)
      if (index === undefined || index < last) return false
      last = index
    }
    return true
  }

  #readCarefully(value: object, reading: Reading): T {
    if (reading.strict) this.#refuseDuplicates(value, reading)
    const raw: Raw = value instanceof Map ? Object.fromEntries(value) : (value as Raw)
    const aside: [string, unknown][] = []
    const found = this.#fields.map(([key, field]) => {
      const given = raw[key] !== undefined || !field.alias ? raw[key] : raw[field.alias]
      return given === undefined ? MISSING : this.#readField(raw, key, field, given, aside, reading)
    })
    const filled = found.map((item, index) => (item === MISSING ? this.#fillIn(raw, index, reading) : item))
    return this.#rebuilt(raw, filled, aside, reading)
  }

  #readField(
    raw: Raw,
    key: string,
    field: Field<unknown>,
    given: unknown,
    aside: [string, unknown][],
    reading: Reading,
  ): unknown {
    if ((given === null && field.missing === 'leave out') || (field.ours && reading.strict)) return MISSING
    const depth = reading.path.push(key)
    try {
      return field.codec.read(given, reading)
    } catch (error) {
      if (reading.strict || !(error instanceof Unreadable) || (!field.mend && field.missing !== 'leave out'))
        throw error
      reading.path.length = depth
      reading.leaf = undefined
      repaired(reading, 'unreadable_field', `kept as unread_${key}: ${error.message}`)
      aside.push([`unread_${key}`, given])
      return field.mend ? field.mend(raw) : MISSING
    } finally {
      reading.path.length = depth - 1
    }
  }

  #fillIn(raw: Raw, index: number, reading: Reading): unknown {
    const [key, field] = this.#fields[index] as readonly [string, Field<unknown>]
    if (field.missing === 'leave out') return MISSING
    if (typeof field.missing === 'function') return field.missing(reading)
    const reason = `\`${key}\` is missing in ${this.#name}`
    if (reading.strict || !field.mend) throw new Unreadable(reading, reason, key)
    repaired(reading, 'missing_field', reason)
    return field.mend(raw)
  }

  /** Declared order, as the original writes; an object with fields that are not ours keeps its own order. */
  #rebuilt(raw: Raw, found: readonly unknown[], aside: readonly [string, unknown][], reading: Reading): T {
    const result: Record<string, unknown> = {}
    if (!reading.strict && this.#hasMore(raw)) {
      for (const key of Object.keys(raw)) {
        const index = this.#order.get(key)
        if (index !== undefined) put(result, key, found[index])
        else if (!this.#knows(key)) put(result, key, raw[key])
      }
    }
    for (let i = 0; i < this.#keys.length; i++) put(result, this.#keys[i] as string, found[i])
    for (const [key, item] of aside) put(result, key, item)
    return result as T
  }

  #hasMore(raw: Raw): boolean {
    for (const key in raw) if (!this.#knows(key)) return true
    return false
  }

  #knows(key: string): boolean {
    return this.#order.has(key) || this.#fields.some(([, field]) => field.alias === key)
  }

  #refuseDuplicates(value: object, reading: Reading): void {
    const twice = reading.duplicates.get(value)
    const aliased = this.#fields.find(([key, { alias }]) => alias !== undefined && key in value && alias in value)?.[0]
    const key = twice !== undefined && this.#knows(twice) ? twice : aliased
    if (key !== undefined) throw new Unreadable(reading, `\`${key}\` is given twice in ${this.#name}`, key)
  }

  #readArray(value: readonly JsonValue[], reading: Reading): T {
    const theirs = this.#fields.filter(([, field]) => !field.ours)
    const lengths = `${value.length} elements for the ${theirs.length} of ${this.#name}`
    if (value.length > theirs.length) throw new Unreadable(reading, lengths)
    const result: Record<string, unknown> = {}
    theirs.forEach(([key, field], index) => {
      const given = value[index]
      if (given === null && field.missing === 'leave out') return
      if (given !== undefined) {
        reading.path.push(index)
        result[key] = field.codec.read(given, reading)
        reading.path.pop()
        return
      }
      if (!field.optionalInArray && (reading.strict || !field.mend)) throw new Unreadable(reading, lengths)
      if (typeof field.missing === 'function') result[key] = field.missing(reading)
      else if (field.mend) result[key] = field.mend(result)
    })
    return result as T
  }

  lower = (value: T, lowering: Lowering): JsonValue => {
    const raw = value as Raw
    let last = -1
    let isOrdered = true
    let extra: Map<string, JsonValue> | undefined
    for (const key in raw) {
      const index = this.#order.get(key)
      if (index === undefined) {
        extra ??= new Map()
        if (lowering.keep === 'all') extra.set(key, markJson(raw[key] as JsonValue, lowering.marks))
      } else if (index < last) isOrdered = false
      else last = index
    }
    let changed = extra ? lowering.keep === 'known' || [...extra].some(([key, item]) => item !== raw[key]) : !isOrdered
    const lows: (JsonValue | undefined)[] = []
    for (let i = 0; i < this.#fields.length; i++) {
      const [key, field] = this.#fields[i] as readonly [string, Field<unknown>]
      const item = raw[key]
      const low = this.#lowerField(field, item, lowering)
      if (low !== item) changed = true
      lows.push(low)
    }
    return changed ? this.#lowered(raw, lows, extra, lowering) : (value as JsonValue)
  }

  #lowerField(field: Field<unknown>, item: unknown, lowering: Lowering): JsonValue | undefined {
    const isUnset = item === undefined || item === null
    if ((isUnset && field.missing === 'leave out') || (field.ours && lowering.keep === 'known')) return undefined
    if (item === undefined && typeof field.missing === 'function') return null
    return field.codec.lower(item, lowering)
  }

  #lowered(
    raw: Raw,
    lows: readonly (JsonValue | undefined)[],
    extra: ReadonlyMap<string, JsonValue> | undefined,
    lowering: Lowering,
  ): JsonValue {
    const known = [...this.#order.keys()]
    const own = extra && lowering.keep === 'all' ? Object.keys(raw) : known
    const keys = own === known ? known : [...own, ...known.filter((key) => !(key in raw))]
    const entries = keys.map((key) => {
      const index = this.#order.get(key)
      return [key, index === undefined ? extra?.get(key) : lows[index]] as const
    })
    return Object.fromEntries(entries.filter(([, item]) => item !== undefined)) as JsonValue
  }
}
