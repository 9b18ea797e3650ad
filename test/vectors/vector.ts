/** A vector: one call of a function of Amazon Q CLI, with its result. */

import { readFileSync } from 'node:fs'
import {
  isJsonArray,
  isJsonObject,
  JsonNumber,
  type JsonValue,
  jsonEntries,
  parseJson,
  writeJson,
} from '../../src/lib/json/lossless.ts'

export interface Vector {
  readonly file: string
  readonly name: string
  readonly fn: string
  readonly input: JsonValue
  readonly output: JsonValue
}

/** Undefined on success, otherwise the error. */
export type Verdict = string | undefined

/** Parsed losslessly: the spelling of numbers is part of the vector. */
export function vectorsIn(file: string): readonly Vector[] {
  const parsed = parseJson(readFileSync(file, 'utf8'))
  if (!parsed.ok) throw new Error(`${file}: ${parsed.reason}`)
  if (!isJsonArray(parsed.value)) return []
  return parsed.value.map((vector) => ({
    file,
    name: text(at(vector, 'name')),
    fn: text(at(vector, 'fn')),
    input: at(vector, 'input'),
    output: at(vector, 'output'),
  }))
}

export function at(value: JsonValue, key: string): JsonValue {
  if (!isJsonObject(value)) throw new Error(`no object to have ${key}`)
  return jsonEntries(value).find(([name]) => name === key)?.[1] ?? null
}

export function has(value: JsonValue, key: string): boolean {
  return isJsonObject(value) && jsonEntries(value).some(([name]) => name === key)
}

export function text(value: JsonValue): string {
  if (typeof value !== 'string') throw new Error('no text')
  return value
}

export function items(value: JsonValue): readonly JsonValue[] {
  if (!isJsonArray(value)) throw new Error('no list')
  return value
}

export function number(value: JsonValue): number {
  if (typeof value !== 'number' && !(value instanceof JsonNumber)) throw new Error('no number')
  return Number(value)
}

/** Equal values, regardless of the order of keys. */
export function expectSame(given: unknown, wanted: JsonValue): Verdict {
  const ours = writeJson(sorted(given as JsonValue, true))
  const theirs = writeJson(sorted(wanted, true))
  return ours === theirs ? undefined : `gave ${short(ours)} and not ${short(theirs)}`
}

/** Equal bytes, except for maps that the original writes in random order. */
export function expectBytes(given: string, wanted: string): Verdict {
  if (given === wanted) return undefined
  const [ours, theirs] = [parseJson(given), parseJson(wanted)]
  if (ours.ok && theirs.ok && writeJson(sorted(ours.value, false)) === writeJson(sorted(theirs.value, false)))
    return undefined
  return `gave ${short(given)} and not ${short(wanted)}`
}

const RANDOM_MAPS = ['tools', 'hooks', 'file_line_tracker', 'tag_index', 'file_stats_cache', 'input_schema']

function sorted(value: JsonValue, all: boolean): JsonValue {
  if (isJsonArray(value)) return value.map((item) => sorted(item, all))
  if (!isJsonObject(value)) return value
  const entries = jsonEntries(value).map(
    ([key, item]) => [key, sorted(item, all || RANDOM_MAPS.includes(key))] as const,
  )
  return new Map(all ? [...entries].sort(([a], [b]) => (a < b ? -1 : 1)) : entries)
}

function short(json: string): string {
  return json.length > 300 ? `${json.slice(0, 300)}…` : json
}
