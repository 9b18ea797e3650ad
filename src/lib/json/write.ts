/** Writes JSON values compactly or indented, numbers and keys as they came. */

import { isJsonArray, JsonMap, JsonNumber, type JsonValue, jsonEntries } from './lossless.ts'

/**
 * JSON.stringify writes odd numbers and keys as marked strings, which are then cut to what they stand for. A value
 * without them costs one walk more than JSON.stringify alone.
 * @param indent spaces per level; 0 for compact text
 */
export function writeJson(value: JsonValue, indent: 0 | 2 = 0): string {
  return writeMarkedJson((marks) => markJson(value, marks), indent)
}

/** For values that mark their odd parts themselves. Asks again, with other marks, when a string begins like a mark. */
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

/** What marked strings begin with, and how many there are. */
export interface JsonMarks {
  readonly text: string
  count: number
}

/** The value itself where it holds nothing odd, otherwise a copy with marks. */
export function markJson(value: JsonValue, marks: JsonMarks): JsonValue {
  if (value === null || typeof value !== 'object') return Object.is(value, -0) ? toNumberMark('-0.0', marks) : value
  if (value instanceof JsonNumber) return toNumberMark(value.text, marks)
  if (isJsonArray(value)) return markItems(value, marks)
  if (value instanceof Map) {
    return markMapKeys(new Map(jsonEntries(value).map(([key, item]) => [key, markJson(item, marks)])), marks)
  }
  return markFields(value as { readonly [key: string]: JsonValue }, marks)
}

/** For values that are marked already. */
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

/** A map that keeps its keys in order, from either form of an object. */
export function toJsonMap<T>(object: ReadonlyMap<string, T> | { readonly [key: string]: T }): JsonMap<T> {
  return new JsonMap(jsonEntries(object))
}
