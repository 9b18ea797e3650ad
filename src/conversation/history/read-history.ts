/** Takes a history as it comes, and tells what of it can be understood. */

import { fieldsOf } from '../../lib/unknown-values.ts'
import { type HistoryInputMessage, type HistoryResponseMessage, pairOf } from './entry.ts'
import { isHistoryEntry } from './guards.ts'

type EntryIterable = Iterable<unknown> & object

/**
 * A list of entries, `{history: […]}`, or a whole state, parsed or read. Entries may be of either shape, mixed, or
 * broken. Of a state only its `history` is looked at, not the copies in tangents and checkpoints.
 */
export type HistorySource = EntryIterable | { readonly history: EntryIterable }

/** An entry that was understood, and its place in the history. */
export interface HistoryStep {
  readonly index: number
  readonly input: HistoryInputMessage
  readonly response: HistoryResponseMessage
}

/** What became of the entries of a history. */
export interface HistoryReading {
  readonly steps: readonly HistoryStep[]
  /** The places of the entries that could not be understood. */
  readonly unreadable: readonly number[]
  /** False for a value that holds no list of entries at all. */
  readonly isHistory: boolean
}

/**
 * The entries of a history in one shape. Never throws because of what they hold.
 *
 * @example
 * readHistory([[input, response], 'broken']) // steps: one with index 0; unreadable: [1]
 */
export function readHistory(history: HistorySource): HistoryReading {
  const entries = findEntries(history)
  const steps: HistoryStep[] = []
  const unreadable: number[] = []
  let index = 0
  for (const entry of entries ?? []) {
    if (isHistoryEntry(entry)) {
      const [input, response] = pairOf(entry)
      steps.push({ index, input, response })
    } else unreadable.push(index)
    index++
  }
  return { steps, unreadable, isHistory: entries !== undefined }
}

function findEntries(history: unknown): EntryIterable | undefined {
  if (isEntryIterable(history)) return history
  const inside = fieldsOf(history)?.['history']
  return isEntryIterable(inside) ? inside : undefined
}

function isEntryIterable(value: unknown): value is EntryIterable {
  return typeof value === 'object' && value !== null && Symbol.iterator in value
}
