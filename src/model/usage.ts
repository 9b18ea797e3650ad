/** Token counts, and the conversion of running totals to amounts that can be added. */
import { addSafely, type NumberCheck } from './checked-numbers.ts'

export interface Usage {
  /** Includes cached_input_tokens. */
  readonly input_tokens: number
  readonly cached_input_tokens: number
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

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input_tokens: addSafely(a.input_tokens, b.input_tokens),
    cached_input_tokens: addSafely(a.cached_input_tokens, b.cached_input_tokens),
    output_tokens: addSafely(a.output_tokens, b.output_tokens),
    reasoning_output_tokens: addSafely(a.reasoning_output_tokens, b.reasoning_output_tokens),
    total_tokens: addSafely(a.total_tokens, b.total_tokens),
  }
}

/** Reads our own field names from an untrusted record. A missing or unusable count becomes 0. */
export function readCheckedUsage(given: { readonly [key: string]: unknown }, check: NumberCheck): Usage {
  const count = (name: keyof Usage): number => check.tokens(given[name], name) ?? 0
  return {
    input_tokens: count('input_tokens'),
    cached_input_tokens: count('cached_input_tokens'),
    output_tokens: count('output_tokens'),
    reasoning_output_tokens: count('reasoning_output_tokens'),
    total_tokens: count('total_tokens'),
  }
}

export function isZeroUsage(usage: Usage): boolean {
  return usage.input_tokens === 0 && usage.output_tokens === 0 && usage.total_tokens === 0
}

export function isSameUsage(a: Usage, b: Usage): boolean {
  return (
    a.input_tokens === b.input_tokens &&
    a.cached_input_tokens === b.cached_input_tokens &&
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

function usageDifference(a: Usage, b: Usage): Usage {
  return {
    input_tokens: Math.max(0, a.input_tokens - b.input_tokens),
    cached_input_tokens: Math.max(0, a.cached_input_tokens - b.cached_input_tokens),
    output_tokens: Math.max(0, a.output_tokens - b.output_tokens),
    reasoning_output_tokens: Math.max(0, a.reasoning_output_tokens - b.reasoning_output_tokens),
    total_tokens: Math.max(0, a.total_tokens - b.total_tokens),
  }
}

/** Share of the input, from 0 to 1; 0 without input. */
export const cacheShareOf = ({ input_tokens, cached_input_tokens }: Usage): number =>
  input_tokens === 0 ? 0 : cached_input_tokens / input_tokens
