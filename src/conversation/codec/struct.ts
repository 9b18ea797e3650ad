/** The codecs of serde's structs (objects with known fields) and enums (an object with one key, or a bare name). */

import { isJsonArray, isJsonObject, type JsonValue, markJson } from '../../lib/json/lossless.ts'
import type { Open } from '../message.ts'
import {
  addRepair,
  type Codec,
  describeKind,
  hasDuplicateKeys,
  type LowerContext,
  nullable,
  type ReadContext,
  UnreadableError,
} from './codec.ts'

type Raw = { readonly [key: string]: unknown }

export interface Field<T> {
  readonly codec: Codec<T>
  /** What to do if the field is missing: fail, omit it, or use this value. */
  readonly missing: 'error' | 'leave out' | ((context: ReadContext) => T)
  /** May be missing at the end if the object is written as an array. */
  readonly optionalInArray: boolean
  /** Replacement for a missing or unreadable value in a tolerant read. */
  readonly fallback?: (siblings: Raw) => T
  /** An addition of fumibako. Amazon Q CLI and strict reads do not know it. */
  readonly isOwn?: true
  readonly alias?: string
}

export type StructFields<T> = { readonly [K in keyof T]-?: Field<Exclude<T[K], undefined>> }

export function required<T>(codec: Codec<T>, fallback?: (siblings: Raw) => T): Field<T> {
  return { codec, missing: 'error', optionalInArray: false, ...(fallback && { fallback }) }
}

/** Null if missing; always written. */
export function optional<T>(codec: Codec<T>): Field<T | null> {
  return { codec: nullable(codec), missing: () => null, optionalInArray: false, fallback: () => null }
}

export function defaulted<T>(codec: Codec<T>, value: (context: ReadContext) => T, fallback?: () => T): Field<T> {
  return { codec, missing: value, optionalInArray: true, ...(fallback && { fallback }) }
}

type OptionalField<T> = Field<T> & { readonly missing: 'leave out' }

/** Written only if set; null counts as not set. */
export function whenSet<T>(codec: Codec<T>): OptionalField<T> {
  return { codec, missing: 'leave out', optionalInArray: true }
}

type ValueOf<F> = F extends Field<infer T> ? T : never

/** The type of an object with these fields. */
export type FieldValues<Fields> = {
  readonly [K in keyof Fields as Fields[K] extends OptionalField<unknown> ? never : K]: ValueOf<Fields[K]>
} & {
  readonly [K in keyof Fields as Fields[K] extends OptionalField<unknown> ? K : never]?: ValueOf<Fields[K]>
}

const MISSING = Symbol('missing')

export function struct<T extends object>(name: string, fields: StructFields<T>): Codec<T> {
  return new Struct<T>(name, Object.entries<Field<unknown>>(fields))
}

/** Names come from files, and one may be `__proto__`. */
function setField(result: Record<string, unknown>, key: string, item: unknown): void {
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
  // Properties of the fields' codecs in parallel arrays: the codecs are too polymorphic for the compiler to access them
  // quickly.
  readonly #acceptedTypes: readonly (string | undefined)[]
  readonly #acceptsNull: readonly boolean[]
  readonly #leaf: readonly boolean[]
  readonly #order: ReadonlyMap<string, number>

  constructor(name: string, fields: readonly (readonly [string, Field<unknown>])[]) {
    this.#name = name
    this.#fields = fields
    this.#keys = fields.map(([key]) => key)
    this.#all = fields.map(([, field]) => field)
    this.#acceptedTypes = this.#all.map(({ codec }) => codec.takes)
    this.#acceptsNull = this.#all.map(({ codec }) => codec.takesNull === true)
    this.#leaf = this.#all.map(({ codec }) => codec.leaf === true)
    this.#order = new Map(fields.map(([key], index) => [key, index]))
  }

  read = (value: unknown, context: ReadContext): T => {
    if (isJsonArray(value)) return this.#readArray(value, context)
    if (!isJsonObject(value))
      throw new UnreadableError(context, `expected ${this.#name} as an object, found ${describeKind(value)}`)
    const { path, repairs, setAside } = context
    const at = path.length
    const repairCount = repairs.length
    const unreadFields = setAside.length
    try {
      return this.#readFast(value, context) ?? this.#readCarefully(value, context)
    } catch (error) {
      if (context.strict || !(error instanceof UnreadableError)) throw error
      path.length = at
      repairs.length = repairCount
      setAside.length = unreadFields
      context.leaf = undefined
      return this.#readCarefully(value, context)
    }
  }

  /**
   * Fast path for objects with all fields, which nearly all have. Returns the object itself if nothing changes;
   * undefined if unsure.
   */
  #readFast(value: object, context: ReadContext): T | undefined {
    if (value instanceof Map || hasDuplicateKeys(value, context)) return undefined
    const raw = value as Raw
    const tolerant = !context.strict
    let found: unknown[] | undefined
    for (let i = 0; i < this.#keys.length; i++) {
      const key = this.#keys[i] as string
      const given = raw[key]
      const takes = this.#acceptedTypes[i]
      if (
        tolerant &&
        (typeof given === takes || takes === 'all' || (given === null && this.#acceptsNull[i])) &&
        given !== undefined
      ) {
        if (found) found[i] = given
        continue
      }
      const field = this.#all[i] as Field<unknown>
      let item: unknown = MISSING
      if (given === undefined || (given === null && field.missing === 'leave out') || (field.isOwn && context.strict)) {
        if (field.alias || field.missing === 'error') return undefined
        if (typeof field.missing === 'function') item = field.missing(context)
        if (given === undefined && item === MISSING && !found) continue
      } else {
        const isLeaf = this.#leaf[i]
        if (isLeaf) context.leaf = key
        else context.path.push(key)
        item = field.codec.read(given, context)
        if (isLeaf) context.leaf = undefined
        else context.path.pop()
      }
      if (item !== given) found ??= this.#fields.slice(0, i).map(([before]) => (before in raw ? raw[before] : MISSING))
      if (found) found[i] = item
    }
    if (found) return this.#rebuilt(raw, found, [], context)
    return context.strict && !this.#isInOrder(raw) ? undefined : (value as unknown as T)
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

  #readCarefully(value: object, context: ReadContext): T {
    if (context.strict) this.#refuseDuplicates(value, context)
    const raw: Raw = value instanceof Map ? Object.fromEntries(value) : (value as Raw)
    const unreadFields: [string, unknown][] = []
    const found = this.#fields.map(([key, field]) => {
      const given = raw[key] !== undefined || !field.alias ? raw[key] : raw[field.alias]
      return given === undefined ? MISSING : this.#readField(raw, key, field, given, unreadFields, context)
    })
    const filled = found.map((item, index) => (item === MISSING ? this.#fillIn(raw, index, context) : item))
    return this.#rebuilt(raw, filled, unreadFields, context)
  }

  #readField(
    raw: Raw,
    key: string,
    field: Field<unknown>,
    given: unknown,
    unreadFields: [string, unknown][],
    context: ReadContext,
  ): unknown {
    if ((given === null && field.missing === 'leave out') || (field.isOwn && context.strict)) return MISSING
    const depth = context.path.push(key)
    try {
      return field.codec.read(given, context)
    } catch (error) {
      if (context.strict || !(error instanceof UnreadableError) || (!field.fallback && field.missing !== 'leave out'))
        throw error
      context.path.length = depth
      context.leaf = undefined
      addRepair(context, 'unreadable_field', `kept as unread_${key}: ${error.message}`)
      unreadFields.push([`unread_${key}`, given])
      return field.fallback ? field.fallback(raw) : MISSING
    } finally {
      context.path.length = depth - 1
    }
  }

  #fillIn(raw: Raw, index: number, context: ReadContext): unknown {
    const [key, field] = this.#fields[index] as readonly [string, Field<unknown>]
    if (field.missing === 'leave out') return MISSING
    if (typeof field.missing === 'function') return field.missing(context)
    const reason = `\`${key}\` is missing in ${this.#name}`
    if (context.strict || !field.fallback) throw new UnreadableError(context, reason, key)
    addRepair(context, 'missing_field', reason)
    return field.fallback(raw)
  }

  /** Writes fields in declared order, like Amazon Q CLI. An object with unknown fields keeps its own order. */
  #rebuilt(raw: Raw, found: readonly unknown[], unreadFields: readonly [string, unknown][], context: ReadContext): T {
    const result: Record<string, unknown> = {}
    if (!context.strict && this.#hasMore(raw)) {
      for (const key of Object.keys(raw)) {
        const index = this.#order.get(key)
        if (index !== undefined) setField(result, key, found[index])
        else if (!this.#isKnown(key)) setField(result, key, raw[key])
      }
    }
    for (let i = 0; i < this.#keys.length; i++) setField(result, this.#keys[i] as string, found[i])
    for (const [key, item] of unreadFields) setField(result, key, item)
    return result as T
  }

  #hasMore(raw: Raw): boolean {
    for (const key in raw) if (!this.#isKnown(key)) return true
    return false
  }

  #isKnown(key: string): boolean {
    return this.#order.has(key) || this.#fields.some(([, field]) => field.alias === key)
  }

  #refuseDuplicates(value: object, context: ReadContext): void {
    const twice = context.duplicates.get(value)
    const aliased = this.#fields.find(([key, { alias }]) => alias !== undefined && key in value && alias in value)?.[0]
    const key = twice !== undefined && this.#isKnown(twice) ? twice : aliased
    if (key !== undefined) throw new UnreadableError(context, `\`${key}\` is given twice in ${this.#name}`, key)
  }

  #readArray(value: readonly JsonValue[], context: ReadContext): T {
    const theirs = this.#fields.filter(([, field]) => !field.isOwn)
    const lengths = `${value.length} elements for the ${theirs.length} of ${this.#name}`
    if (value.length > theirs.length) throw new UnreadableError(context, lengths)
    const result: Record<string, unknown> = {}
    theirs.forEach(([key, field], index) => {
      const given = value[index]
      if (given === null && field.missing === 'leave out') return
      if (given !== undefined) {
        context.path.push(index)
        result[key] = field.codec.read(given, context)
        context.path.pop()
        return
      }
      if (!field.optionalInArray && (context.strict || !field.fallback)) throw new UnreadableError(context, lengths)
      if (typeof field.missing === 'function') result[key] = field.missing(context)
      else if (field.fallback) result[key] = field.fallback(result)
    })
    return result as T
  }

  lower = (value: T, context: LowerContext): JsonValue => {
    const raw = value as Raw
    let last = -1
    let isOrdered = true
    let extra: Map<string, JsonValue> | undefined
    for (const key in raw) {
      const index = this.#order.get(key)
      if (index === undefined) {
        extra ??= new Map()
        if (context.keep === 'all') extra.set(key, markJson(raw[key] as JsonValue, context.marks))
      } else if (index < last) isOrdered = false
      else last = index
    }
    let changed = extra ? context.keep === 'known' || [...extra].some(([key, item]) => item !== raw[key]) : !isOrdered
    const loweredValues: (JsonValue | undefined)[] = []
    for (let i = 0; i < this.#fields.length; i++) {
      const [key, field] = this.#fields[i] as readonly [string, Field<unknown>]
      const item = raw[key]
      const loweredValue = this.#lowerField(field, item, context)
      if (loweredValue !== item) changed = true
      loweredValues.push(loweredValue)
    }
    return changed ? this.#lowered(raw, loweredValues, extra, context) : (value as JsonValue)
  }

  #lowerField(field: Field<unknown>, item: unknown, context: LowerContext): JsonValue | undefined {
    const isUnset = item === undefined || item === null
    if ((isUnset && field.missing === 'leave out') || (field.isOwn && context.keep === 'known')) return undefined
    if (item === undefined && typeof field.missing === 'function') return null
    return field.codec.lower(item, context)
  }

  #lowered(
    raw: Raw,
    loweredValues: readonly (JsonValue | undefined)[],
    extra: ReadonlyMap<string, JsonValue> | undefined,
    context: LowerContext,
  ): JsonValue {
    const known = [...this.#order.keys()]
    const own = extra && context.keep === 'all' ? Object.keys(raw) : known
    const keys = own === known ? known : [...own, ...known.filter((key) => !(key in raw))]
    const entries = keys.map((key) => {
      const index = this.#order.get(key)
      return [key, index === undefined ? extra?.get(key) : loweredValues[index]] as const
    })
    return Object.fromEntries(entries.filter(([, item]) => item !== undefined)) as JsonValue
  }
}

type Union<T> = T extends unknown ? keyof T : never
type Bodies<T> = { readonly [K in Union<T> & string]: Codec<T extends Readonly<Record<K, infer Body>> ? Body : never> }

/** An object whose only key names the variant. */
export function variants<T extends object>(name: string, bodies: Bodies<T>): Codec<T> {
  const byTag = new Map<string, Codec<unknown>>(Object.entries(bodies))
  return {
    read(value, context) {
      const tag = tagOf(name, value, context)
      const given = bodyOf(value, tag)
      const body = byTag.get(tag)
      if (!body) throw new UnreadableError(context, `unknown variant \`${tag}\` of ${name}`, tag)
      context.path.push(tag)
      const read = body.read(given, context)
      context.path.pop()
      return (read === given ? value : { [tag]: read }) as T
    },
    lower(value, context) {
      for (const [tag, given] of Object.entries(value)) {
        const body = byTag.get(tag)
        if (!body) continue
        const lowered = body.lower(given, context)
        return lowered === given ? (value as JsonValue) : { [tag]: lowered }
      }
      return value as JsonValue
    },
  }
}

function tagOf(name: string, value: unknown, context: ReadContext): string {
  if (!isJsonObject(value))
    throw new UnreadableError(context, `expected ${name} as an object with one key, found ${describeKind(value)}`)
  if (hasDuplicateKeys(value, context)) throw new UnreadableError(context, `${name} names its variant twice`)
  let only: string | undefined
  let count = value instanceof Map ? value.size : 0
  if (value instanceof Map) only = value.keys().next().value
  else
    for (const key in value) {
      only = key
      count++
    }
  if (only === undefined || count > 1) throw new UnreadableError(context, `${name} needs one key and has ${count}`)
  return only
}

function bodyOf(value: unknown, tag: string): unknown {
  return value instanceof Map ? value.get(tag) : (value as { readonly [key: string]: unknown })[tag]
}

/**
 * A plain name, or `{"Name":null}`. A tolerant read accepts unknown names.
 * @param replacement written for Amazon Q CLI instead of an unknown name; null if the name can be omitted
 */
export function names<T extends string>(name: string, members: readonly T[], replacement: T | null): Codec<Open<T>> {
  const known = new Set<string>(members)
  return {
    read(value, context) {
      const tag = typeof value === 'string' ? value : unitTag(name, value, context)
      if (known.has(tag)) return tag
      if (context.strict) throw new UnreadableError(context, `unknown ${name} \`${tag}\``, tag)
      addRepair(context, 'unknown_member', `${name} has no member of that name in the original`)
      return tag
    },
    lower: (value, context) => (context.keep === 'known' && !known.has(value) ? replacement : value),
  }
}

function unitTag(name: string, value: unknown, context: ReadContext): string {
  const tag = tagOf(name, value, context)
  if (bodyOf(value, tag) !== null) throw new UnreadableError(context, `${name} takes no content`)
  return tag
}
