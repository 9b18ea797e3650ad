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
  const found = told.at(placeOf(told, number))
  return found?.number === number ? found.entry : undefined
}

/** Of the first entry that has this number or a higher one. */
function placeOf(told: Told, number: number): number {
  if (told.at(number - 1)?.number === number) return number - 1
  let low = 0
  let high = told.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((told.at(middle) as Numbered).number < number) low = middle + 1
    else high = middle
  }
  return low
}

export interface Named {
  readonly history: History
  /** How many of the numbers name nothing. */
  readonly missing: number
}

/** More are not taken from one list of runs: a few digits in a file must not fill the memory. */
const MOST_ENTRIES = 1_000_000

/** The history that runs name. Only entries that exist are gone through, however far a run reaches. */
export function historyNamed(told: Told, runs: Runs): Named {
  const entries: HistoryEntry[] = []
  let missing = 0
  for (const [from, to] of runs) {
    missing += Math.max(0, to - from + 1)
    for (let at = placeOf(told, from); entries.length < MOST_ENTRIES; at++) {
      const found = told.at(at)
      if (!found || found.number > to) break
      entries.push(found.entry)
      missing--
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
