/** The entries that a journal has told, by their numbers. A history is named by runs of them. */

import { Entries } from '../entries.ts'
import type { History, HistoryEntry } from '../record.ts'
import type { EntryRuns } from './event.ts'

export interface NumberedEntry {
  readonly number: number
  readonly entry: HistoryEntry
}

/** Every exchange of a journal, numbers rising. Some may be missing where lines were damaged. */
export type NumberedEntries = Entries<NumberedEntry>

export const lastNumber = (allEntries: NumberedEntries): number => allEntries.at(-1)?.number ?? 0

/** Of the first entry that has this number or a higher one. */
function indexOfNumber(allEntries: NumberedEntries, number: number): number {
  if (allEntries.at(number - 1)?.number === number) return number - 1
  let low = 0
  let high = allEntries.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((allEntries.at(middle) as NumberedEntry).number < number) low = middle + 1
    else high = middle
  }
  return low
}

export interface ResolvedHistory {
  readonly history: History
  /** How many of the numbers name nothing. */
  readonly missing: number
}

/** More are not taken from one list of runs: a few digits in a file must not fill the memory. */
const MAX_ENTRIES = 1_000_000

/** The history that runs name. Only entries that exist are gone through, however far a run reaches. */
export function resolveHistory(allEntries: NumberedEntries, runs: EntryRuns): ResolvedHistory {
  const entries: HistoryEntry[] = []
  let missing = 0
  for (const [from, to] of runs) {
    missing += Math.max(0, to - from + 1)
    for (let at = indexOfNumber(allEntries, from); entries.length < MAX_ENTRIES; at++) {
      const found = allEntries.at(at)
      if (!found || found.number > to) break
      entries.push(found.entry)
      missing--
    }
  }
  return { history: Entries.over(entries), missing }
}

export function toRuns(numbers: Iterable<number>): EntryRuns {
  const runs: [number, number][] = []
  for (const number of numbers) {
    const last = runs.at(-1)
    if (last && last[1] === number - 1) last[1] = number
    else runs.push([number, number])
  }
  return runs
}
