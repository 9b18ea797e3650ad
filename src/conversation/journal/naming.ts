/** Finds the number under which an entry was told: by itself, or by its text where it was read from elsewhere. */

import { historyEntry } from '../codec/message.ts'
import { writeAs } from '../codec/write.ts'
import type { HistoryEntry } from '../record.ts'
import type { NumberedEntries, NumberedEntry } from './numbered.ts'

export class EntryNumbers {
  readonly #numbers = new Map<HistoryEntry, number>()
  /** Made when an entry is met that is not known by itself: most journals never need it. */
  readonly #texts = new Map<string, number>()
  #known = 0
  #encoded = 0

  /** @param allEntries the same list at every call, or a longer one */
  numberOf(entry: HistoryEntry, allEntries: NumberedEntries): number | undefined {
    for (; this.#known < allEntries.length; this.#known++) {
      const one = allEntries.at(this.#known) as NumberedEntry
      this.#numbers.set(one.entry, one.number)
    }
    const number = this.#numbers.get(entry)
    if (number !== undefined || allEntries.length === 0) return number
    for (; this.#encoded < allEntries.length; this.#encoded++) {
      const one = allEntries.at(this.#encoded) as NumberedEntry
      this.#texts.set(encodedEntry(one.entry), one.number)
    }
    return this.#texts.get(encodedEntry(entry))
  }
}

const encodedEntry = (entry: HistoryEntry): string => writeAs(historyEntry, entry)
