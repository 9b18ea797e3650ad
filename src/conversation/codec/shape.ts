/** What a codec is, and the codecs of single values, lists, tuples and maps. */

import {
  isJsonArray,
  isJsonObject,
  isMovedKey,
  JsonMap,
  JsonNumber,
  type JsonValue,
  jsonEntries,
} from '../../lib/json/lossless.ts'
import { type Marks, markJson, markKeys } from '../../lib/json/write.ts'
import { Entries } from '../entries.ts'
import { kindOf, pathText, type Reading, repaired, Unreadable } from './reading.ts'

export interface Codec<T> {
  /** Gives the same object back where nothing had to change. Throws Unreadable. */
  read(value: unknown, reading: Reading): T
  /** The value as JSON.stringify has to see it; the same object where it can stay. */
  lower(value: T, lowering: Lowering): JsonValue
  /** Holds no part of its own that could be mended or has to be named in a path. */
  readonly leaf?: true
  /** What a tolerant reading takes as it is, without asking `read`. */
  readonly takes?: 'string' | 'boolean' | 'all'
  readonly takesNull?: true
}

export interface Lowering {
  /** `known` leaves out what the original program does not know. */
  readonly keep: 'all' | 'known'
  /** For numbers and keys that JSON.stringify would change. */
  readonly marks: Marks
}

const LONE_SURROGATE = /\p{Surrogate}/u

export const text: Codec<string> = {
  leaf: true,
  takes: 'string',
  read(value, reading) {
    if (typeof value !== 'string') throw new Unreadable(reading, `expected text, found ${kindOf(value)}`)
    if (reading.halves && LONE_SURROGATE.test(value)) throw new Unreadable(reading, 'half of a surrogate pair')
    return value
  },
  lower: (value) => value,
}

export const flag: Codec<boolean> = {
  leaf: true,
  takes: 'boolean',
  read(value, reading) {
    if (typeof value !== 'boolean') throw new Unreadable(reading, `expected true or false, found ${kindOf(value)}`)
    return value
  },
  lower: (value) => value,
}

const MOST: bigint = 2n ** 64n - 1n

/** A whole number from 0 to 2^64 - 1. */
export const unsigned: Codec<number | JsonNumber> = {
  leaf: true,
  read(value, reading) {
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
    if (value instanceof JsonNumber && /^\d{1,20}$/.test(value.text) && BigInt(value.text) <= MOST) return value
    throw new Unreadable(reading, `expected a whole number from 0 on, found ${describeNumber(value)}`)
  },
  lower: (value, lowering) => (typeof value === 'number' ? value : markJson(value, lowering.marks)),
}

/** A whole number between two bounds. */
export function whole(least: number, most: number): Codec<number> {
  return {
    leaf: true,
    read(value, reading) {
      if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value
      throw new Unreadable(reading, `expected a whole number from ${least} to ${most}, found ${describeNumber(value)}`)
    },
    lower: (value) => value,
  }
}

function describeNumber(value: unknown): string {
  return typeof value === 'number' || value instanceof JsonNumber ? 'another number' : kindOf(value)
}

export function nullable<T>(codec: Codec<T>): Codec<T | null> {
  return {
    ...(codec.leaf && { leaf: true }),
    ...(codec.takes && { takes: codec.takes, takesNull: true }),
    read: (value, reading) => (value === null ? null : codec.read(value, reading)),
    lower: (value, lowering) => (value === null || value === undefined ? null : codec.lower(value, lowering)),
  }
}

export function list<T>(codec: Codec<T>): Codec<readonly T[]> {
  return {
    read(value, reading) {
      if (!isJsonArray(value)) throw new Unreadable(reading, `expected a list, found ${kindOf(value)}`)
      let changed: T[] | undefined
      const depth = reading.path.push(0)
      for (let i = 0; i < value.length; i++) {
        reading.path[depth - 1] = i
        const item = codec.read(value[i], reading)
        if (item !== value[i]) changed ??= [...value] as T[]
        if (changed) changed[i] = item
      }
      reading.path.pop()
      return changed ?? (value as readonly T[])
    },
    lower(value, lowering) {
      let changed: JsonValue[] | undefined
      for (let i = 0; i < value.length; i++) {
        const item = value[i] as T
        const lowered = codec.lower(item, lowering)
        if (lowered !== item) changed ??= [...value] as JsonValue[]
        if (changed) changed[i] = lowered
      }
      return changed ?? (value as readonly JsonValue[])
    },
  }
}

/** A list held as shared entries. A tolerant reading sets unreadable ones aside instead of refusing them all. */
export function entries<T>(codec: Codec<T>): Codec<Entries<T>> {
  const items = list(codec)
  return {
    read(value, reading) {
      if (reading.strict || !isJsonArray(value)) return Entries.over([...items.read(value, reading)])
      const read: T[] = []
      value.forEach((item, index) => {
        const depth = reading.path.push(index)
        try {
          read.push(codec.read(item, reading))
        } catch (error) {
          if (!(error instanceof Unreadable)) throw error
          reading.path.length = depth
          reading.leaf = undefined
          reading.setAside.push({ path: pathText(reading.path), value: item })
          repaired(reading, 'entry_set_aside', `not readable and kept aside: ${error.message} at ${error.path}`)
        }
        reading.path.pop()
      })
      return Entries.over(read)
    },
    lower: (value, lowering) => items.lower(value.toArray(), lowering),
  }
}

export function tuple<A, B>(first: Codec<A>, second: Codec<B>): Codec<readonly [A, B]> {
  return {
    read(value, reading) {
      if (!isJsonArray(value)) throw new Unreadable(reading, `expected a pair, found ${kindOf(value)}`)
      if (value.length !== 2) throw new Unreadable(reading, `expected a pair, found a list of ${value.length}`)
      reading.path.push(0)
      const a = first.read(value[0], reading)
      reading.path[reading.path.length - 1] = 1
      const b = second.read(value[1], reading)
      reading.path.pop()
      return a === value[0] && b === value[1] ? (value as unknown as readonly [A, B]) : [a, b]
    },
    lower(value, lowering) {
      const a = first.lower(value[0], lowering)
      const b = second.lower(value[1], lowering)
      return a === value[0] && b === value[1] ? (value as unknown as JsonValue) : [a, b]
    },
  }
}

/** An object with free keys. The last of two equal keys wins, as in the original. */
export function dictionary<T>(codec: Codec<T>, key: Codec<string> = text): Codec<ReadonlyMap<string, T>> {
  return {
    read(value, reading) {
      if (!isJsonObject(value)) throw new Unreadable(reading, `expected an object, found ${kindOf(value)}`)
      const map = new JsonMap<T>()
      for (const [name, item] of jsonEntries(value)) {
        reading.path.push(name)
        map.set(key.read(name, reading), codec.read(item, reading))
        reading.path.pop()
      }
      return map
    },
    lower(value, lowering) {
      const lowered = new JsonMap<JsonValue>()
      for (const [name, item] of jsonEntries(value)) {
        if (lowering.keep === 'known' && key.lower(name, lowering) === null) continue
        lowered.set(name, codec.lower(item, lowering))
      }
      return [...lowered.keys()].some(isMovedKey) ? markKeys(lowered, lowering.marks) : Object.fromEntries(lowered)
    },
  }
}
