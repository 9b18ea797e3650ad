/** What a codec is, how to run one, and the codecs of single values, lists, tuples and maps. */

import {
  isJsonArray,
  isJsonObject,
  isMovedKey,
  JsonMap,
  type JsonMarks,
  JsonNumber,
  type JsonValue,
  jsonEntries,
  markJson,
  markMapKeys,
  parseJson,
  writeMarkedJson,
} from '../../lib/json/lossless.ts'
import { Entries } from '../entries.ts'
import type { SetAside } from '../record.ts'
import { type TangentTime, tangentTime } from '../zoned-time.ts'

export type RepairCode =
  | 'missing_field'
  | 'unreadable_field'
  | 'unknown_member'
  | 'old_context_manager'
  | 'text_summary'
  | 'bare_history'
  | 'entry_set_aside'

/** A value that Amazon Q CLI would reject, and how it was repaired. */
export interface Repair {
  readonly code: RepairCode
  /** `$.history[3].user.timestamp` */
  readonly path: string
  /** A sentence for a person. Never conversation text. */
  readonly reason: string
}

export interface ReadContext {
  /** Reads like Amazon Q CLI: rejects unknown variants and drops unknown fields. */
  readonly strict: boolean
  /** Some text may contain an unpaired surrogate, which Amazon Q CLI rejects. */
  readonly refusesLoneSurrogates: boolean
  readonly path: (string | number)[]
  /** The field below the current path that is being read, if it holds a single value. */
  leaf: string | undefined
  readonly repairs: Repair[]
  readonly setAside: SetAside[]
  readonly duplicates: ReadonlyMap<object, string>
  readonly now: TangentTime
}

/** Never leaves the codec. */
export class UnreadableError extends Error {
  readonly path: string
  readonly field: string | undefined

  constructor(context: ReadContext, reason: string, field?: string) {
    super(reason)
    this.path = formatPath(context.leaf === undefined ? context.path : [...context.path, context.leaf])
    this.field = field
  }
}

export function addRepair(context: ReadContext, code: RepairCode, reason: string): void {
  context.repairs.push({ code, path: formatPath(context.path), reason })
}

/**
 * Whether the object repeats a key. Looking up an object in a map costs memory in the object, so an empty map is not
 * queried.
 */
export function hasDuplicateKeys(value: object, { duplicates }: ReadContext): boolean {
  return duplicates.size > 0 && duplicates.has(value)
}

export function formatPath(path: readonly (string | number)[]): string {
  let text = '$'
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else text += /^[A-Za-z_]\w*$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`
  }
  return text
}

/** Describes a value by its type, without quoting it. */
export function describeKind(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return value.constructor?.name === 'JsonNumber' ? 'a number' : 'an object'
  return typeof value === 'undefined' ? 'nothing' : `a ${typeof value}`
}

export interface Codec<T> {
  /** Returns the same object if nothing needs to change. Throws Unreadable. */
  read(value: unknown, context: ReadContext): T
  /** Converts the value for JSON.stringify. Returns the same object if possible. */
  lower(value: T, context: LowerContext): JsonValue
  /** Contains no part that could be repaired or needs its own path. */
  readonly leaf?: true
  /** Type of values that a tolerant read accepts without calling `read`. */
  readonly takes?: 'string' | 'boolean' | 'all'
  readonly takesNull?: true
}

export interface LowerContext {
  /** `known` omits what Amazon Q CLI does not know. */
  readonly keep: 'all' | 'known'
  /** Marks numbers and keys that JSON.stringify would change. */
  readonly marks: JsonMarks
}

const LONE_SURROGATE = /\p{Surrogate}/u

export const text: Codec<string> = {
  leaf: true,
  takes: 'string',
  read(value, context) {
    if (typeof value !== 'string') throw new UnreadableError(context, `expected text, found ${describeKind(value)}`)
    if (context.refusesLoneSurrogates && LONE_SURROGATE.test(value))
      throw new UnreadableError(context, 'half of a surrogate pair')
    return value
  },
  lower: (value) => value,
}

export const flag: Codec<boolean> = {
  leaf: true,
  takes: 'boolean',
  read(value, context) {
    if (typeof value !== 'boolean')
      throw new UnreadableError(context, `expected true or false, found ${describeKind(value)}`)
    return value
  },
  lower: (value) => value,
}

const MAX_UINT64: bigint = 2n ** 64n - 1n

/** An integer from 0 to 2^64 - 1. */
export const unsigned: Codec<number | JsonNumber> = {
  leaf: true,
  read(value, context) {
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
    if (value instanceof JsonNumber && /^\d{1,20}$/.test(value.text) && BigInt(value.text) <= MAX_UINT64) return value
    throw new UnreadableError(context, `expected a whole number from 0 on, found ${describeNumber(value)}`)
  },
  lower: (value, context) => (typeof value === 'number' ? value : markJson(value, context.marks)),
}

/** An integer between two bounds, inclusive. */
export function integer(min: number, max: number): Codec<number> {
  return {
    leaf: true,
    read(value, context) {
      if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
      throw new UnreadableError(
        context,
        `expected a whole number from ${min} to ${max}, found ${describeNumber(value)}`,
      )
    },
    lower: (value) => value,
  }
}

function describeNumber(value: unknown): string {
  return typeof value === 'number' || value instanceof JsonNumber ? 'another number' : describeKind(value)
}

export function nullable<T>(codec: Codec<T>): Codec<T | null> {
  return {
    ...(codec.leaf && { leaf: true }),
    ...(codec.takes && { takes: codec.takes, takesNull: true }),
    read: (value, context) => (value === null ? null : codec.read(value, context)),
    lower: (value, context) => (value === null || value === undefined ? null : codec.lower(value, context)),
  }
}

export function list<T>(codec: Codec<T>): Codec<readonly T[]> {
  return {
    read(value, context) {
      if (!isJsonArray(value)) throw new UnreadableError(context, `expected a list, found ${describeKind(value)}`)
      let changed: T[] | undefined
      const depth = context.path.push(0)
      for (let i = 0; i < value.length; i++) {
        context.path[depth - 1] = i
        const item = codec.read(value[i], context)
        if (item !== value[i]) changed ??= [...value] as T[]
        if (changed) changed[i] = item
      }
      context.path.pop()
      return changed ?? (value as readonly T[])
    },
    lower(value, context) {
      let changed: JsonValue[] | undefined
      for (let i = 0; i < value.length; i++) {
        const item = value[i] as T
        const lowered = codec.lower(item, context)
        if (lowered !== item) changed ??= [...value] as JsonValue[]
        if (changed) changed[i] = lowered
      }
      return changed ?? (value as readonly JsonValue[])
    },
  }
}

/** A list stored as shared entries. A tolerant read sets unreadable entries aside instead of rejecting the list. */
export function entryList<T>(codec: Codec<T>): Codec<Entries<T>> {
  const items = list(codec)
  return {
    read(value, context) {
      if (context.strict || !isJsonArray(value)) return Entries.over([...items.read(value, context)])
      const read: T[] = []
      value.forEach((item, index) => {
        const depth = context.path.push(index)
        try {
          read.push(codec.read(item, context))
        } catch (error) {
          if (!(error instanceof UnreadableError)) throw error
          context.path.length = depth
          context.leaf = undefined
          context.setAside.push({ path: formatPath(context.path), value: item })
          addRepair(context, 'entry_set_aside', `not readable and kept aside: ${error.message} at ${error.path}`)
        }
        context.path.pop()
      })
      return Entries.over(read)
    },
    lower: (value, context) => items.lower(value.toArray(), context),
  }
}

export function tuple<A, B>(first: Codec<A>, second: Codec<B>): Codec<readonly [A, B]> {
  return {
    read(value, context) {
      if (!isJsonArray(value)) throw new UnreadableError(context, `expected a pair, found ${describeKind(value)}`)
      if (value.length !== 2) throw new UnreadableError(context, `expected a pair, found a list of ${value.length}`)
      context.path.push(0)
      const a = first.read(value[0], context)
      context.path[context.path.length - 1] = 1
      const b = second.read(value[1], context)
      context.path.pop()
      return a === value[0] && b === value[1] ? (value as unknown as readonly [A, B]) : [a, b]
    },
    lower(value, context) {
      const a = first.lower(value[0], context)
      const b = second.lower(value[1], context)
      return a === value[0] && b === value[1] ? (value as unknown as JsonValue) : [a, b]
    },
  }
}

/** An object with arbitrary keys. The last of equal keys wins, as in Amazon Q CLI. */
export function dictionary<T>(codec: Codec<T>, key: Codec<string> = text): Codec<ReadonlyMap<string, T>> {
  return {
    read(value, context) {
      if (!isJsonObject(value)) throw new UnreadableError(context, `expected an object, found ${describeKind(value)}`)
      const map = new JsonMap<T>()
      for (const [name, item] of jsonEntries(value)) {
        context.path.push(name)
        map.set(key.read(name, context), codec.read(item, context))
        context.path.pop()
      }
      return map
    },
    lower(value, context) {
      const lowered = new JsonMap<JsonValue>()
      for (const [name, item] of jsonEntries(value)) {
        if (context.keep === 'known' && key.lower(name, context) === null) continue
        lowered.set(name, codec.lower(item, context))
      }
      return [...lowered.keys()].some(isMovedKey) ? markMapKeys(lowered, context.marks) : Object.fromEntries(lowered)
    },
  }
}

export interface ReadOptions {
  /**
   * `tolerant`, the default, also loads what Amazon Q CLI rejects. It repairs it, reports each repair and drops
   * nothing. `strict` behaves like Amazon Q CLI: it rejects the same input and drops unknown fields.
   */
  readonly mode?: 'tolerant' | 'strict'
  /** Start time for tangents that have none. */
  readonly now?: TangentTime
}

export interface Read<T> {
  readonly ok: true
  readonly value: T
  /** Empty in strict mode, and for everything Amazon Q CLI would have loaded. */
  readonly repairs: readonly Repair[]
}

export interface NotRead {
  readonly ok: false
  /** For a person; contains the path. Never quotes the conversation. */
  readonly reason: string
  /** `$.history[3].user` */
  readonly path: string
  /** The invalid field or variant, if known. */
  readonly field?: string
}

/** Reads any type by its codec. */
export function readAs<T>(codec: Codec<T>, source: string, options: ReadOptions = {}): Read<T> | NotRead {
  return readText(source, (value, context) => codec.read(value, context), options)
}

export function readValueAs<T>(codec: Codec<T>, value: unknown, options: ReadOptions = {}): Read<T> | NotRead {
  return readValue(value, (given, context) => codec.read(given, context), options)
}

const NO_DUPLICATES: ReadonlyMap<object, string> = new Map()
/** The parser of Amazon Q CLI rejects the 128th level. */
const MAX_STRICT_DEPTH = 127

export function readText<T>(
  source: string,
  read: (value: JsonValue, context: ReadContext) => T,
  options: ReadOptions,
): Read<T> | NotRead {
  const strict = options.mode === 'strict'
  const parsed = parseJson(source, strict ? { duplicates: true, maxDepth: MAX_STRICT_DEPTH } : {})
  if (parsed.ok) return readValue(parsed.value, read, options, parsed.duplicates, /\\u[dD][89a-fA-F]/.test(source))
  const place = parsed.at === undefined ? '' : ` at character ${parsed.at + 1}`
  return { ok: false, reason: `${parsed.reason}${place}`, path: '$' }
}

export function readValue<V, T>(
  value: V,
  read: (value: V, context: ReadContext) => T,
  options: ReadOptions,
  duplicates: ReadonlyMap<object, string> = NO_DUPLICATES,
  mayHoldLoneSurrogates = true,
): Read<T> | NotRead {
  const strict = options.mode === 'strict'
  const context: ReadContext = {
    strict,
    refusesLoneSurrogates: strict && mayHoldLoneSurrogates,
    path: [],
    leaf: undefined,
    repairs: [],
    setAside: [],
    duplicates,
    now: options.now ?? tangentTime(0n),
  }
  try {
    return { ok: true, value: read(value, context), repairs: context.repairs }
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error
    const { path, field } = error
    return { ok: false, reason: `${error.message} at ${path}`, path, ...(field !== undefined && { field }) }
  }
}

export interface WriteOptions {
  /** `compact` as in the database, `pretty` as written by `/save`: two spaces, no final newline. */
  readonly style?: 'compact' | 'pretty'
  /** `known` omits everything Amazon Q CLI does not know, so that it loads the result. */
  readonly keep?: 'all' | 'known'
}

export function writeAs<T>(codec: Codec<T>, value: T, options: WriteOptions = {}): string {
  const keep = options.keep ?? 'all'
  return writeMarkedJson((marks) => codec.lower(value, { keep, marks }), options.style === 'pretty' ? 2 : 0)
}
