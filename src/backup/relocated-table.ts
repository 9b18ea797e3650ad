/** Files that were restored for another directory. They begin with another record, and are the same session. */
import type { Db } from '../lib/sqlite/own-database.ts'
import { getRows, runStatement } from '../lib/sqlite/statements.ts'

export interface RelocatedSession {
  /** The id that the file claims. */
  readonly claim: string
  /** As in `Session`. */
  readonly first_record: string
  /** The first record of the session in its original directory. */
  readonly original: string
}

export const readRelocated = (db: Db): readonly RelocatedSession[] =>
  getRows(db, 'SELECT claim, first_record, original FROM relocated ORDER BY claim, first_record')

export function addRelocated(db: Db, { claim, first_record, original }: RelocatedSession): void {
  const sql = 'INSERT OR REPLACE INTO relocated (claim, first_record, original) VALUES (?, ?, ?)'
  runStatement(db, sql, claim, first_record, original)
}
