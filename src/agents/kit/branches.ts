/** Sessions whose records name their predecessor: one that follows an earlier record leaves what came in between. */

import type { Metadata } from '../../model/metadata.ts'

/** Records from which the next may branch: each id, and that of our first message. Plain JSON, for cursors. */
export type LiveRecords = [record: string, message: string][]

const MAX_LIVE = 2048

/**
 * Adds a record. Returns the messages that the conversation has left with it.
 * @param parent the predecessor; null for the beginning of the session
 */
export function followParent(
  live: LiveRecords,
  record: string,
  parent: string | null | undefined,
  message: string,
): readonly string[] {
  const at = parent === null ? -1 : live.findLastIndex(([id]) => id === parent)
  const isKnown = parent === null || at >= 0
  const left = isKnown && parent !== undefined ? live.splice(at + 1).map(([, id]) => id) : []
  addRecord(live, record, message)
  return left
}

/** For a record that is known to follow the last one. */
export function addRecord(live: LiveRecords, record: string, message: string): void {
  live.push([record, message])
  if (live.length > 2 * MAX_LIVE) live.splice(0, MAX_LIVE)
}

/**
 * What a message of a repeated record gets: some programs write records again when they resume a session. The marks keep
 * it out of every count.
 * @param first message of the earlier record
 */
export const repeatMarks = (first: string): Metadata => ({ duplicate_of: first, injected: true })

/** The first message of an earlier record with this id. Silent records have none, and need none. */
export const repeatedIn = (known: LiveRecords, record: string): string | undefined =>
  known.findLast(([id]) => id === record)?.[1]
