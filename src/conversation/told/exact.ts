/** Values of tools to the letter: a number that JavaScript cannot hold must not come out as another one. */
import type { JsonValue } from '../../lib/json/lossless.ts'
import { writeJson } from '../../lib/json/write.ts'
import { isObject, jsonText, listOf } from '../../lib/object.ts'
import type { Entry } from './entry.ts'

/** @param exact the value was read to the letter */
export const exactText = (value: unknown, exact: boolean): string =>
  exact ? writeJson(value as JsonValue) : jsonText(value)

/** Only arguments and results hold numbers of unknown meaning. */
export function hasUnsafeNumbers({ input, answer }: Pick<Entry, 'input' | 'answer'>): boolean {
  const uses = listOf(answer.body['tool_uses'])
  if (uses.some((use) => isObject(use) && holdsUnsafe(use['args'], 0))) return true
  const results = listOf(input.body['tool_use_results'])
  return results.some(
    (result) =>
      isObject(result) && listOf(result['content']).some((block) => isObject(block) && holdsUnsafe(block['Json'], 0)),
  )
}

const DEEPEST = 200

function holdsUnsafe(value: unknown, depth: number): boolean {
  if (typeof value === 'number') return Math.abs(value) > Number.MAX_SAFE_INTEGER
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return false
  for (const key in value) if (holdsUnsafe((value as Record<string, unknown>)[key], depth + 1)) return true
  return false
}
