/** Token counts, and the conversion of running totals to amounts that can be added. */
import { addSafely, type NumberCheck } from './checked-numbers.ts'

export interface Usage {
  /** The complete input: fresh, read from the cache and written to it. */
  readonly input_tokens: number
  /** Part of input_tokens: read from the cache. */
  readonly cached_input_tokens: number
  /** Part of input_tokens: written to the cache. Absent when 0, or where a log does not tell. */
  readonly cache_write_tokens?: number
  /** Part of cache_write_tokens: kept in the cache for an hour. Absent when 0. */
  readonly cache_write_1h_tokens?: number
  /** Includes reasoning_output_tokens. */
  readonly output_tokens: number
  readonly reasoning_output_tokens: number
  readonly total_tokens: number
}

export const NO_USAGE: Usage = {
  input_tokens: 0,
  cached_input_tokens: 0,
  output_tokens: 0,
  reasoning_output_tokens: 0,
  total_tokens: 0,
}

/** Every field, in the order in which they are shown. */
export const USAGE_FIELDS = [
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'cache_write_1h_tokens',
  'output_tokens',
  'reasoning_output_tokens',
  'total_tokens',
] as const satisfies readonly (keyof Usage)[]

/** The fields of cache writes, without those that are 0. */
export function cacheWrites(written: number, writtenForAnHour: number): CacheWrites {
  if (writtenForAnHour > 0) return { cache_write_tokens: written, cache_write_1h_tokens: writtenForAnHour }
  return written > 0 ? { cache_write_tokens: written } : NO_CACHE_WRITES
}

type CacheWrites = Pick<Usage, 'cache_write_tokens' | 'cache_write_1h_tokens'>

const NO_CACHE_WRITES: CacheWrites = {}

export const addUsage = (a: Usage, b: Usage): Usage =>
  makeUsage(
    addSafely(a.input_tokens, b.input_tokens),
    addSafely(a.cached_input_tokens, b.cached_input_tokens),
    addSafely(a.cache_write_tokens ?? 0, b.cache_write_tokens ?? 0),
    addSafely(a.cache_write_1h_tokens ?? 0, b.cache_write_1h_tokens ?? 0),
    addSafely(a.output_tokens, b.output_tokens),
    addSafely(a.reasoning_output_tokens, b.reasoning_output_tokens),
    addSafely(a.total_tokens, b.total_tokens),
  )

/** Without spreads: these are the most frequent objects of the first pass. Fields in the order of `USAGE_FIELDS`. */
export function makeUsage(
  input_tokens: number,
  cached_input_tokens: number,
  cache_write_tokens: number,
  cache_write_1h_tokens: number,
  output_tokens: number,
  reasoning_output_tokens: number,
  total_tokens: number,
): Usage {
  if (cache_write_1h_tokens > 0)
    return {
      input_tokens,
      cached_input_tokens,
      cache_write_tokens,
      cache_write_1h_tokens,
      output_tokens,
      reasoning_output_tokens,
      total_tokens,
    }
  return cache_write_tokens > 0
    ? {
        input_tokens,
        cached_input_tokens,
        cache_write_tokens,
        output_tokens,
        reasoning_output_tokens,
        total_tokens,
      }
    : { input_tokens, cached_input_tokens, output_tokens, reasoning_output_tokens, total_tokens }
}

/** Reads our own field names from an untrusted record. A missing or unusable count becomes 0. */
export function readCheckedUsage(given: { readonly [key: string]: unknown }, check: NumberCheck): Usage {
  const count = (name: keyof Usage): number => check.tokens(given[name], name) ?? 0
  return {
    input_tokens: count('input_tokens'),
    cached_input_tokens: count('cached_input_tokens'),
    ...cacheWrites(count('cache_write_tokens'), count('cache_write_1h_tokens')),
    output_tokens: count('output_tokens'),
    reasoning_output_tokens: count('reasoning_output_tokens'),
    total_tokens: count('total_tokens'),
  }
}

/** For tables: absent fields as 0. */
export const allUsageFields = (usage: Usage): Required<Usage> => ({
  input_tokens: usage.input_tokens,
  cached_input_tokens: usage.cached_input_tokens,
  cache_write_tokens: usage.cache_write_tokens ?? 0,
  cache_write_1h_tokens: usage.cache_write_1h_tokens ?? 0,
  output_tokens: usage.output_tokens,
  reasoning_output_tokens: usage.reasoning_output_tokens,
  total_tokens: usage.total_tokens,
})

export function isZeroUsage(usage: Usage): boolean {
  return usage.input_tokens === 0 && usage.output_tokens === 0 && usage.total_tokens === 0
}

export function isSameUsage(a: Usage, b: Usage): boolean {
  return (
    a.input_tokens === b.input_tokens &&
    a.cached_input_tokens === b.cached_input_tokens &&
    (a.cache_write_tokens ?? 0) === (b.cache_write_tokens ?? 0) &&
    (a.cache_write_1h_tokens ?? 0) === (b.cache_write_1h_tokens ?? 0) &&
    a.output_tokens === b.output_tokens &&
    a.reasoning_output_tokens === b.reasoning_output_tokens &&
    a.total_tokens === b.total_tokens
  )
}

/**
 * The tokens that a report of a running total adds.
 * @param before the previous total; undefined for the first report of a log
 * @param inherits the log continues another one, so its first total may include the other's tokens
 */
export function usageIncrease(
  before: Usage | undefined,
  total: Usage,
  last: Usage | undefined,
  inherits: boolean,
): Usage {
  if (before && isSameUsage(before, total)) return NO_USAGE
  if (!before && !inherits) return total
  const hasReset =
    !before ||
    total.input_tokens < before.input_tokens ||
    total.output_tokens < before.output_tokens ||
    hasRestarted(before, total, last)
  if (!hasReset && before) return usageDifference(total, before)
  // A reset that only restates the size of the context window consumes no tokens.
  if (last && last.input_tokens + last.output_tokens > 0) return last
  return NO_USAGE
}

/** A program that was started again counts from 0, and its first total need not be lower than the last one before. */
const hasRestarted = (before: Usage, total: Usage, last: Usage | undefined): boolean =>
  last !== undefined && isSameUsage(total, last) && !isSameUsage(total, addUsage(before, last))

export const usageDifference = (a: Usage, b: Usage): Usage =>
  makeUsage(
    Math.max(0, a.input_tokens - b.input_tokens),
    Math.max(0, a.cached_input_tokens - b.cached_input_tokens),
    Math.max(0, (a.cache_write_tokens ?? 0) - (b.cache_write_tokens ?? 0)),
    Math.max(0, (a.cache_write_1h_tokens ?? 0) - (b.cache_write_1h_tokens ?? 0)),
    Math.max(0, a.output_tokens - b.output_tokens),
    Math.max(0, a.reasoning_output_tokens - b.reasoning_output_tokens),
    Math.max(0, a.total_tokens - b.total_tokens),
  )

/** Share of the input, from 0 to 1; 0 without input. */
export const cacheShareOf = ({ input_tokens, cached_input_tokens }: Usage): number =>
  input_tokens === 0 ? 0 : cached_input_tokens / input_tokens
