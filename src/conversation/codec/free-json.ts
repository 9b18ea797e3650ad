/**
 * JSON without a fixed shape: tool arguments, Json blocks, schemas. Kept unchanged, or spelled as Amazon Q CLI would
 * store it.
 */

import {
  isJsonArray,
  isMovedKey,
  JsonMap,
  JsonNumber,
  type JsonValue,
  jsonEntries,
  markJson,
} from '../../lib/json/lossless.ts'
import { type Codec, type ReadContext, text, UnreadableError } from './codec.ts'

const MIN_INT64 = -(2n ** 63n)
const MAX_UINT64 = 2n ** 64n - 1n

/** Undefined if the number exceeds a double. */
export function storedNumber(value: number | JsonNumber): number | JsonNumber | undefined {
  if (Number.isSafeInteger(value)) return value
  const spelling = typeof value === 'number' ? String(value) : value.text
  const stored = formatStored(spelling)
  if (stored === undefined) return undefined
  const number = Number(stored)
  return String(number) === stored && !Object.is(number, -0) ? number : new JsonNumber(stored)
}

function formatStored(spelling: string): string | undefined {
  if (/^-?\d{1,20}$/.test(spelling) && spelling !== '-0') {
    const integer = BigInt(spelling)
    if (integer >= MIN_INT64 && integer <= MAX_UINT64) return spelling
  }
  const number = Number(spelling)
  return Number.isFinite(number) ? formatDouble(number) : undefined
}

/** Shortest digits; always with a point or an exponent; with an exponent from 1e16 and below 1e-5. */
export function formatDouble(number: number): string {
  if (number === 0) return Object.is(number, -0) ? '-0.0' : '0.0'
  const [, sign = '', mantissa = '', power = ''] = /^(-?)([\d.]+)e([+-]\d+)$/.exec(number.toExponential()) ?? []
  const digits = mantissa.replace('.', '')
  const point = Number(power) + 1
  if (digits.length <= point && point <= 16) return `${sign}${digits.padEnd(point, '0')}.0`
  if (point > 0 && point <= 16) return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
  if (point > -5 && point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  return `${sign}${mantissa}e${Number(power)}`
}

/**
 * The number after passing through the document type that carries tool input: doubles equal to a 64-bit integer become
 * integers.
 */
export function numberAfterDocument(value: number | JsonNumber): number | JsonNumber | undefined {
  const stored = storedNumber(value)
  if (stored === undefined) return undefined
  const spelling = typeof stored === 'number' ? String(stored) : stored.text
  if (/^-?\d+$/.test(spelling)) return stored
  const number = Number(spelling)
  if (!Number.isInteger(number)) return stored
  const bound = [MIN_INT64, MAX_UINT64].find((one) => Number(one) === number)
  const integer = bound ?? BigInt(number)
  return integer < MIN_INT64 || integer > MAX_UINT64 ? stored : storedNumber(new JsonNumber(String(integer)))
}

export const freeJson: Codec<JsonValue> = {
  leaf: true,
  takes: 'all',
  read(value, context) {
    if (value === undefined) throw new UnreadableError(context, 'expected any JSON value')
    return context.strict ? storedValue(value as JsonValue, context) : (value as JsonValue)
  },
  lower: (value, context) => markJson(value, context.marks),
}

/** Accepts any value of a parsed text; a missing one becomes null. */
export function jsonOrNull(value: unknown): JsonValue {
  return (value ?? null) as JsonValue
}

/** Returns the same value if Amazon Q CLI would store it unchanged. */
function storedValue(value: JsonValue, context: ReadContext): JsonValue {
  if (typeof value === 'string') return text.read(value, context)
  if (typeof value === 'number' || value instanceof JsonNumber) {
    const number = storedNumber(value)
    if (number === undefined) throw new UnreadableError(context, 'a number out of range')
    return number
  }
  if (value === null || typeof value !== 'object') return value
  if (isJsonArray(value)) {
    const items = value.map((item) => storedValue(item, context))
    return items.every((item, index) => item === value[index]) ? value : items
  }
  const before = jsonEntries(value)
  const entries = before.map(([key, item]) => [text.read(key, context), storedValue(item, context)] as const)
  if (entries.every(([, item], index) => item === before[index]?.[1])) return value
  return entries.some(([key]) => isMovedKey(key)) ? new JsonMap(entries) : Object.fromEntries(entries)
}
