/** Finds the number under which an entry was told: by itself, or by its text where it was read from elsewhere. */

import { historyEntry } from '../codec/message.ts'
import { writeAs } from '../codec/write.ts'
import type { HistoryEntry } from '../record.ts'
import type { Numbered, Told } from './numbered.ts'

export class Naming {
  readonly #numbers = new Map<HistoryEntry, number>()
  /** Made when an entry is met that is not known by itself: most journals never need it. */
  readonly #texts = new Map<string, number>()
  #known = 0
  #spelt = 0

  /** @param told the same list at every call, or a longer one */
  numberOf(entry: HistoryEntry, told: Told): number | undefined {
    for (; this.#known < told.length; this.#known++) {
      const one = told.at(this.#known) as Numbered
      this.#numbers.set(one.entry, one.number)
    }
    const number = this.#numbers.get(entry)
    if (number !== undefined || told.length === 0) return number
    for (; this.#spelt < told.length; this.#spelt++) {
      const one = told.at(this.#spelt) as Numbered
      this.#texts.set(textOf(one.entry), one.number)
    }
    return this.#texts.get(textOf(entry))
  }
}

const textOf = (entry: HistoryEntry): string => writeAs(historyEntry, entry)
