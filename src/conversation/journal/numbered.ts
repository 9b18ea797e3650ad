/** The entries that a journal has told, by their numbers. A history is named by runs of them. */

import { Entries } from '../entries.ts'
import type { History, HistoryEntry } from '../record.ts'
import type { Runs } from './event.ts'

export interface Numbered {
  readonly number: number
  readonly entry: HistoryEntry
}

/** Every exchange of a journal, numbers rising. Some may be missing where lines were damaged. */
export type Told = Entries<Numbered>

export const lastNumber = (told: Told): number => told.at(-1)?.number ?? 0

export function entryNumbered(told: Told, number: number): HistoryEntry | undefined {
  const guess = told.at(number - 1)
  if (guess?.number === number) return guess.entry
  let low = 0
  let high = told.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const found = told.at(middle) as Numbered
    if (found.number === number) return found.entry
    if (found.number < number) low = middle + 1
    else high = middle - 1
  }
  return undefined
}

export interface Named {
  readonly history: History
  /** How many of the numbers name nothing. */
  readonly missing: number
}

/** The history that runs name. Numbers beyond the last one are not counted through. */
export function historyNamed(told: Told, runs: Runs): Named {
  const entries: HistoryEntry[] = []
  let missing = 0
  for (const [from, to] of runs) {
    const last = Math.min(to, lastNumber(told))
    missing += Math.max(0, to - Math.max(last, from - 1))
    for (let number = from; number <= last; number++) {
      const entry = entryNumbered(told, number)
      if (entry) entries.push(entry)
      else missing++
    }
  }
  return { history: Entries.over(entries), missing }
}

export function runsOf(numbers: Iterable<number>): Runs {
  const runs: [number, number][] = []
  for (const number of numbers) {
    const last = runs.at(-1)
    if (last && last[1] === number - 1) last[1] = number
    else runs.push([number, number])
  }
  return runs
}
