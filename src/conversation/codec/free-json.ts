/** Free JSON: tool arguments, Json blocks, schemas. Kept as it came, or respelled as the original would store it. */

import {
  isJsonArray,
  isMovedKey,
  JsonMap,
  JsonNumber,
  type JsonValue,
  jsonEntries,
  markJson,
} from '../../lib/json/lossless.ts'
import { type Codec, text } from './codec.ts'
import { type ReadContext, UnreadableError } from './read-context.ts'
import { storedNumber } from './stored-number.ts'

export const freeJson: Codec<JsonValue> = {
  leaf: true,
  takes: 'all',
  read(value, context) {
    if (value === undefined) throw new UnreadableError(context, 'expected any JSON value')
    return context.strict ? storedValue(value as JsonValue, context) : (value as JsonValue)
  },
  lower: (value, context) => markJson(value, context.marks),
}

/** A value from a parsed text, taken as it is; null for none. */
export function jsonOrNull(value: unknown): JsonValue {
  return (value ?? null) as JsonValue
}

/** The value itself where the original would store it so. */
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
