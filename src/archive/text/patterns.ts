/** Runs the regular expressions of a query, for a bounded time. */

import type { Pattern } from './query.ts'
import { withinTime } from './time-limit.ts'
import type { Place } from './words/find.ts'

/** How long the patterns of one search may take together. A pattern that somebody typed can take for ever on a short text. */
export class PatternTime {
  #left: number
  #isSpending = false

  constructor(milliseconds = 1000) {
    this.#left = milliseconds
  }

  /** From here on no pattern is found anywhere: the search is not complete. */
  get isUp(): boolean {
    return this.#left <= 0
  }

  /** What `work` returns, or nothing when the time was up before. Work inside of work needs no watch of its own. */
  spend<T>(work: () => T): T | undefined {
    if (this.isUp) return undefined
    if (this.#isSpending) return work()
    const start = performance.now()
    this.#isSpending = true
    try {
      const done = withinTime(this.#left, work)
      this.#left = done ? this.#left - (performance.now() - start) : 0
      return done?.value
    } finally {
      this.#isSpending = false
    }
  }
}

/** Whether they all say yes to one of the texts, or no where they are excluded. When the time is up, they do not. */
export function patternsHold(patterns: readonly Pattern[], texts: readonly string[], time: PatternTime): boolean {
  if (patterns.length === 0) return true
  const test = (): boolean =>
    patterns.every(({ expression, not }) => texts.some((text) => expression.test(text)) !== not)
  return patterns.every(({ expression }) => isStraight(expression)) ? test() : (time.spend(test) ?? false)
}

/** Nothing in it repeats or branches, so there is nothing to try again and again. */
const isStraight = ({ source }: RegExp): boolean => !/[*+?{|]|\\[1-9k]/.test(source)

/** The first places of a pattern in a text; none when the time is up. */
export function placesOfPattern(expression: RegExp, text: string, most: number, time: PatternTime): readonly Place[] {
  const search = (): readonly Place[] => {
    const places: Place[] = []
    for (const { 0: found, index } of text.matchAll(new RegExp(expression, `${expression.flags}g`))) {
      if (places.length === most) break
      if (found !== '') places.push([index, index + found.length])
    }
    return places
  }
  return isStraight(expression) ? search() : (time.spend(search) ?? [])
}
