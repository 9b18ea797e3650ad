/** The codec of an object with known fields, as serde's derive reads and writes it. */

import { isJsonArray, isJsonObject, type JsonValue } from '../../lib/json.ts'
import { isPlainJson } from '../../lib/json-write.ts'
import { kindOf, type Reading, repaired, Unreadable } from './reading.ts'
import type { Codec, Lowering } from './shape.ts'

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
  const orNull: Codec<T | null> = {
    read: (value, reading) => (value === null ? null : codec.read(value, reading)),
    lower: (value, lowering) => (value === null || value === undefined ? null : codec.lower(value, lowering)),
  }
  return { codec: orNull, missing: () => null, optionalInArray: false, mend: () => null }
}

export function defaulted<T>(codec: Codec<T>, value: (reading: Reading) => T, mend?: () => T): Field<T> {
  return { codec, missing: value, optionalInArray: true, ...(mend && { mend }) }
}

/** Written only when set; null counts as not set. */
export function whenSet<T>(codec: Codec<T>): Field<T> {
  return { codec, missing: 'leave out', optionalInArray: true }
}

export function struct<T extends object>(name: string, fields: Fields<T>): Codec<T> {
  const all = Object.entries<Field<unknown>>(fields)
  const order = new Map(all.map(([key], index) => [key, index]))
  const known = (key: string) => order.has(key) || all.some(([, field]) => field.alias === key)

  function read(value: unknown, reading: Reading): T {
    if (isJsonArray(value)) return readArray(value, reading)
    if (!isJsonObject(value)) throw new Unreadable(reading, `expected ${name} as an object, found ${kindOf(value)}`)
    if (reading.strict) refuseDuplicates(value, reading)
    const raw = (value instanceof Map ? Object.fromEntries(value) : value) as Raw
    const found: unknown[] = []
    const aside: [string, unknown][] = []
    let changed = reading.strict || raw !== value
    for (const [key, field] of all) {
      const given = raw[key] ?? (field.alias ? raw[field.alias] : undefined)
      const item = given === undefined && raw[key] !== null ? MISSING : readField(key, field, given ?? null)
      if (item !== raw[key] && item !== MISSING) changed = true
      found.push(item)
    }
    for (let i = 0; i < all.length; i++) {
      if (found[i] !== MISSING) continue
      found[i] = fillIn(i)
      if (found[i] !== MISSING) changed = true
    }
    return changed ? rebuild() : (value as unknown as T)

    function readField(key: string, field: Field<unknown>, given: unknown): unknown {
      if (given === null && field.missing === 'leave out') return MISSING
      if (field.ours && reading.strict) return MISSING
      const depth = reading.path.push(key)
      try {
        const item = field.codec.read(given, reading)
        reading.path.pop()
        return item
      } catch (error) {
        if (reading.strict || !(error instanceof Unreadable)) throw error
        if (!field.mend && field.missing !== 'leave out') throw error
        reading.path.length = depth
        repaired(reading, 'unreadable_field', `kept as unread_${key}: ${error.message}`)
        reading.path.pop()
        aside.push([`unread_${key}`, given])
        return field.mend ? field.mend(raw) : MISSING
      }
    }

    function fillIn(index: number): unknown {
      const [key, field] = all[index] as [string, Field<unknown>]
      if (field.missing === 'leave out') return MISSING
      if (typeof field.missing === 'function') return field.missing(reading)
      if (reading.strict || !field.mend) throw new Unreadable(reading, `\`${key}\` is missing in ${name}`, key)
      repaired(reading, 'missing_field', `\`${key}\` is missing in ${name}`)
      return field.mend(raw)
    }

    /** Declared order, as the original writes; an object with fields that are not ours keeps its own order. */
    function rebuild(): T {
      const result: [string, unknown][] = []
      const extra = reading.strict ? [] : Object.keys(raw).filter((key) => !known(key))
      const keys = extra.length > 0 ? Object.keys(raw).filter((key) => !order.has(key) || raw[key] !== null) : []
      const put = (key: string) => {
        const index = order.get(key)
        const item = index === undefined ? raw[key] : found[index]
        if (item !== MISSING) result.push([key, item])
      }
      for (const key of keys) if (order.has(key) || extra.includes(key)) put(key)
      for (const [key] of all) if (!keys.includes(key)) put(key)
      return Object.fromEntries([...result, ...aside]) as T
    }
  }

  function refuseDuplicates(value: object, reading: Reading): void {
    const twice = reading.duplicates.get(value)
    if (twice !== undefined && known(twice))
      throw new Unreadable(reading, `\`${twice}\` is given twice in ${name}`, twice)
    for (const [key, { alias }] of all) {
      if (alias && key in value && alias in value)
        throw new Unreadable(reading, `\`${key}\` is given twice in ${name}`, key)
    }
  }

  function readArray(value: readonly JsonValue[], reading: Reading): T {
    const theirs = all.filter(([, field]) => !field.ours)
    if (value.length > theirs.length)
      throw new Unreadable(reading, `${value.length} elements for the ${theirs.length} of ${name}`)
    const result: [string, unknown][] = []
    theirs.forEach(([key, field], index) => {
      const given = value[index]
      if (given === undefined) {
        if (!field.optionalInArray && (reading.strict || !field.mend)) {
          throw new Unreadable(reading, `${value.length} elements for the ${theirs.length} of ${name}`)
        }
        if (typeof field.missing === 'function') result.push([key, field.missing(reading)])
        else if (field.mend) result.push([key, field.mend(Object.fromEntries(result))])
        return
      }
      reading.path.push(index)
      if (given !== null || field.missing !== 'leave out') result.push([key, field.codec.read(given, reading)])
      reading.path.pop()
    })
    return Object.fromEntries(result) as T
  }

  function lower(value: T, lowering: Lowering): JsonValue {
    const raw = value as Raw
    let last = -1
    let ordered = true
    let extra = false
    for (const key in raw) {
      const index = order.get(key)
      if (index === undefined) extra = true
      else if (index < last) ordered = false
      else last = index
    }
    let changed = extra ? lowering.keep === 'known' : !ordered
    const lowered: [string, JsonValue][] = []
    for (const [key, field] of all) {
      const item = raw[key]
      if (field.ours && lowering.keep === 'known') {
        if (item !== undefined) changed = true
        continue
      }
      if ((item === undefined || item === null) && field.missing === 'leave out') {
        if (item === null) changed = true
        continue
      }
      const low = item === undefined && typeof field.missing === 'function' ? null : field.codec.lower(item, lowering)
      if (low !== item) changed = true
      lowered.push([key, low])
    }
    if (extra && lowering.keep === 'all' && !lowering.odd) lowering.odd = !extraIsPlain(raw)
    if (!changed) return value as JsonValue
    if (!extra || lowering.keep === 'known') return Object.fromEntries(lowered)
    const byKey = new Map(lowered)
    const inOwnOrder = Object.keys(raw).filter((key) => byKey.has(key) || !order.has(key))
    const missing = lowered.filter(([key]) => !(key in raw))
    const own = inOwnOrder.map((key) => [key, byKey.has(key) ? byKey.get(key) : raw[key]] as const)
    return Object.fromEntries([...own, ...missing]) as JsonValue
  }

  function extraIsPlain(raw: Raw): boolean {
    for (const key in raw) if (!order.has(key) && !isPlainJson(raw[key] as JsonValue)) return false
    return true
  }

  return { read, lower }
}

const MISSING = Symbol('missing')
