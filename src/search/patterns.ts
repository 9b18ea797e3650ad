/** Runs the regular expressions of a query, for a bounded time. */

import { type Context, createContext, Script } from 'node:vm'
import type { QueryPattern } from './query/query.ts'
import type { TextRange } from './words/find-in-text.ts'

/** How long the patterns of one search may take together. A pattern that somebody typed can take for ever on a short text. */
export class PatternTimeLimit {
  #remainingMs: number
  #isSpending = false

  constructor(milliseconds = 1000) {
    this.#remainingMs = milliseconds
  }

  /** From here on no pattern is found anywhere: the search is not complete. */
  get isExhausted(): boolean {
    return this.#remainingMs <= 0
  }

  /** What `work` returns, or nothing when the time was up before. Work inside of work needs no watch of its own. */
  run<T>(work: () => T): T | undefined {
    if (this.isExhausted) return undefined
    if (this.#isSpending) return work()
    const start = performance.now()
    this.#isSpending = true
    try {
      const done = runWithTimeout(this.#remainingMs, work)
      this.#remainingMs = done ? this.#remainingMs - (performance.now() - start) : 0
      return done?.value
    } finally {
      this.#isSpending = false
    }
  }
}

/** Whether they all say yes to one of the texts, or no where they are excluded. When the time is up, they do not. */
export function matchesPatterns(
  patterns: readonly QueryPattern[],
  texts: readonly string[],
  time: PatternTimeLimit,
): boolean {
  if (patterns.length === 0) return true
  const test = (): boolean =>
    patterns.every(({ expression, not }) => texts.some((text) => expression.test(text)) !== not)
  return patterns.every(({ expression }) => hasNoBacktracking(expression)) ? test() : (time.run(test) ?? false)
}

/** Nothing in it repeats or branches, so there is nothing to try again and again. */
const hasNoBacktracking = ({ source }: RegExp): boolean => !/[*+?{|]|\\[1-9k]/.test(source)

/** The first places of a pattern in a text; none when the time is up. */
export function findPattern(
  expression: RegExp,
  text: string,
  maxRanges: number,
  time: PatternTimeLimit,
): readonly TextRange[] {
  const search = (): readonly TextRange[] => {
    const ranges: TextRange[] = []
    for (const { 0: found, index } of text.matchAll(new RegExp(expression, `${expression.flags}g`))) {
      if (ranges.length === maxRanges) break
      if (found !== '') ranges.push([index, index + found.length])
    }
    return ranges
  }
  return hasNoBacktracking(expression) ? search() : (time.run(search) ?? [])
}

/** Stops work that takes too long in the middle of it, even inside of a regular expression. */
const workScript = new Script('work()')
let workContext: Context | undefined

/**
 * What `work` returns, or nothing when it took longer. A watching thread is started for each call, which costs about a tenth of a
 * millisecond.
 *
 * @param milliseconds at least 1
 */
function runWithTimeout<T>(milliseconds: number, work: () => T): { readonly value: T } | undefined {
  workContext ??= createContext({})
  workContext['work'] = () => ({ value: work() })
  try {
    return workScript.runInContext(workContext, { timeout: Math.max(1, Math.ceil(milliseconds)) })
  } catch (error) {
    if (isTimeoutError(error)) return undefined
    throw error
  } finally {
    workContext['work'] = undefined
  }
}

const isTimeoutError = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
