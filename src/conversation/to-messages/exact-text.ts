/** Values of tools to the letter: a number that JavaScript cannot hold must not come out as another one. */
import { type JsonValue, writeJson } from '../../lib/json/lossless.ts'
import { isObject, listOf, toJsonText } from '../../lib/unknown-values.ts'
import type { ParsedEntry } from './parse-entry.ts'

/** @param exact the value was read to the letter */
export const exactText = (value: unknown, exact: boolean): string =>
  exact ? writeJson(value as JsonValue) : toJsonText(value)

/**
 * Whether arguments or results, which alone hold values of unknown meaning, may not be what they were: numbers that
 * JavaScript would change, and fields that a list of entries may have made shorter elsewhere.
 */
export function needsExact({ input, answer }: Pick<ParsedEntry, 'input' | 'answer'>): boolean {
  const uses = listOf(answer.body['tool_uses'])
  if (uses.some((use) => isObject(use) && hasUnsafeValue(use['args'], 0))) return true
  const results = listOf(input.body['tool_use_results'])
  return results.some(
    (result) =>
      isObject(result) &&
      listOf(result['content']).some((block) => isObject(block) && hasUnsafeValue(block['Json'], 0)),
  )
}

const MAX_DEPTH = 200

function hasUnsafeValue(value: unknown, depth: number): boolean {
  if (typeof value === 'number') return Math.abs(value) > Number.MAX_SAFE_INTEGER
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return false
  for (const key in value)
    if (SHORTENED.has(key) || hasUnsafeValue((value as Record<string, unknown>)[key], depth + 1)) return true
  return false
}

/** Beside them, or in their place, something may be missing: see `EntryList.at`. */
const SHORTENED: ReadonlySet<string> = new Set(['Bytes', 'chunks', 'args'])
