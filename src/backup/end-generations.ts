/** A row holds one generation at a time. One that no row holds any more has ended. */
import type { Instant } from '../model/ids.ts'
import type { EndedSession, EndReason, RowOrigin } from './records.ts'
import type { BackupTables } from './tables/backup-tables.ts'
import type { Generation } from './tables/generations.ts'
import type { StoreRow } from './tables/rows.ts'

/** The row holds this generation now. */
export function assignRow(
  tables: BackupTables,
  row: StoreRow,
  generation: number,
  from: RowOrigin,
  at: Instant,
  endReason: (previous: Generation) => EndReason,
): readonly EndedSession[] {
  tables.rows.setGeneration(row.id, generation, from)
  tables.generations.markSeen(generation, at)
  const previous = row.generation_id === null || row.generation_id === generation ? undefined : row.generation_id
  return previous === undefined ? [] : endIfUnused(tables, previous, at, endReason)
}

/** After a complete look at a store: what rows that were not there held has vanished. */
export function endVanished(
  tables: BackupTables,
  store: string,
  keysSeen: ReadonlySet<string>,
  at: Instant,
): readonly EndedSession[] {
  const { rows } = tables
  const id = rows.store(store)
  if (id === undefined) return []
  const gone = rows.occupied(id).filter((row) => !keysSeen.has(row.key))
  for (const row of gone) rows.clearGeneration(row.id)
  const ended = gone.flatMap((row) => endIfUnused(tables, row.generation_id, at, () => 'vanished'))
  rows.markSwept(id, at)
  return ended
}

function endIfUnused(
  { generations, rows }: BackupTables,
  id: number,
  at: Instant,
  endReason: (previous: Generation) => EndReason,
): readonly EndedSession[] {
  const previous = generations.get(id)
  if (!previous || rows.rowsWith(id).length > 0) return []
  const reason = endReason(previous)
  generations.end(id, at, reason)
  return [{ session: previous.session, how: reason }]
}
