/** JSON values inside other formats, such as the records in `x_conv`, without losing spellings of numbers or key order. */

import { type Fields, fieldsOf, isObject, listOf, parseStructure } from '../unknown-values.ts'
import { isJsonArray, JsonMap, JsonNumber, type JsonValue, jsonEntries, parseJson, plainJson } from './lossless.ts'
import { JSON_NUMBER, scanLossyTokens } from './scan-lossy-tokens.ts'

/**
 * A value that other formats can carry: plain JSON, with the spellings of numbers and the order of keys beside it where
 * plain JSON would change them.
 */
export function toPortableJson(value: JsonValue): unknown {
  const spellings: Spellings = { numbers: {}, keys: {} }
  collectSpellings(value, '', spellings)
  const { numbers, keys } = spellings
  const hasNumbers = Object.keys(numbers).length > 0
  const hasKeys = Object.keys(keys).length > 0
  if (!hasNumbers && !hasKeys) return value
  return { exact_json: { ...(hasNumbers && { numbers }), ...(hasKeys && { keys }) }, value: plainJson(value) }
}

/** The same for the text of a value that was already parsed: most texts need only the scan. */
export function portableJsonOf(text: string, parsed: unknown): unknown {
  if (scanLossyTokens(text, false).marker === undefined) return parsed
  const exact = parseJson(text)
  return exact.ok ? toPortableJson(exact.value) : parsed
}

/** By JSON Pointer (RFC 6901). */
interface Spellings {
  readonly numbers: Record<string, string>
  readonly keys: Record<string, readonly string[]>
}

function collectSpellings(value: JsonValue | undefined, pointer: string, spellings: Spellings): void {
  if (value instanceof JsonNumber) spellings.numbers[pointer] = value.text
  else if (Object.is(value, -0)) spellings.numbers[pointer] = '-0.0'
  if (value === null || typeof value !== 'object' || value instanceof JsonNumber) return
  if (isJsonArray(value)) {
    for (let at = 0; at < value.length; at++) collectSpellings(value[at], `${pointer}/${at}`, spellings)
    return
  }
  if (value instanceof Map) spellings.keys[pointer] = [...value.keys()]
  for (const [key, item] of jsonEntries(value)) collectSpellings(item, `${pointer}/${toPointerToken(key)}`, spellings)
}

const toPointerToken = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')

/** The carried value without its spellings. */
export function plainPortableJson(value: unknown): unknown {
  const exact = isObject(value) ? value['exact_json'] : undefined
  if (isObject(exact)) return (value as Fields)['value']
  return typeof exact === 'string' ? (parseStructure(exact) ?? value) : value
}

/** Restores the original spelling. */
export function fromPortableJson(value: unknown): JsonValue {
  const exact = isObject(value) ? value['exact_json'] : undefined
  if (isObject(exact)) return withSpellings((value as Fields)['value'], exact)
  // Earlier versions carried the text itself.
  const parsed = typeof exact === 'string' ? parseJson(exact) : undefined
  return parsed?.ok ? parsed.value : ((value ?? null) as JsonValue)
}

/** Files are not trusted: a spelling counts only if it spells the value, and an order only if it names the same keys. */
function withSpellings(value: unknown, exact: Fields): JsonValue {
  const numbers = fieldsOf(exact['numbers']) ?? {}
  const keys = fieldsOf(exact['keys']) ?? {}
  const pointers = new Set([...Object.keys(numbers), ...Object.keys(keys)].flatMap(pointerPrefixes))
  const restore = (one: unknown, pointer: string): JsonValue => {
    if (!pointers.has(pointer)) return (one ?? null) as JsonValue
    if (typeof one === 'number' || one === null) return spelledNumber(one, numbers[pointer])
    if (Array.isArray(one)) return one.map((item, at) => restore(item, `${pointer}/${at}`))
    if (!isObject(one)) return (one ?? null) as JsonValue
    const restored = (key: string): readonly [string, JsonValue] => [
      key,
      restore(one[key], `${pointer}/${toPointerToken(key)}`),
    ]
    const own = Object.keys(one)
    const order = listOf(keys[pointer])
    const isOrder = order.length === own.length && new Set(order).size === own.length && own.every(isAmong(order))
    return isOrder ? new JsonMap((order as readonly string[]).map(restored)) : Object.fromEntries(own.map(restored))
  }
  return restore(value, '')
}

const isAmong =
  (list: readonly unknown[]) =>
  (one: unknown): boolean =>
    list.includes(one)

/** `/a/b` as `` (the whole value), `/a` and `/a/b`. */
function pointerPrefixes(pointer: string): readonly string[] {
  const prefixes = [pointer]
  for (let end = pointer.lastIndexOf('/'); end >= 0; end = pointer.lastIndexOf('/', end - 1)) {
    prefixes.push(pointer.slice(0, end))
    if (end === 0) break
  }
  return prefixes
}

/** A number too large for JavaScript is null in plain JSON. */
function spelledNumber(value: number | null, text: unknown): JsonValue {
  if (typeof text !== 'string' || !JSON_NUMBER.test(text)) return value
  const number = Number(text)
  const isSame = value === null ? !Number.isFinite(number) : number === value
  return isSame ? new JsonNumber(text) : value
}
