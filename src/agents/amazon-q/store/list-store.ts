/** All conversations of a store, or why they cannot be listed. */
import type { DatabaseOutcome, DatabaseProblem } from '../../../lib/sqlite/database-problem.ts'
import { type ListedRow, listRows, listTables } from './conversation-tables.ts'
import { withStore } from './open-stores.ts'
import type { ConversationTable } from './row-key.ts'

/** By its name where it has one of a database: opening and closing the file would drop the locks of a reading that is under way. */
export const isDatabasePath = (path: string): boolean => /\.sqlite3?$/i.test(path)

export interface ListedStore {
  readonly rows: readonly ListedRow[]
  readonly tables: readonly ConversationTable[]
}

export const listStore = (path: string): DatabaseOutcome<ListedStore> =>
  withStore(path, (database) => {
    const tables = listTables(database)
    if (!tables.ok) return tables
    const rows: ListedRow[] = []
    for (const table of tables.value) {
      const found = listRows(database, table)
      if (!found.ok) return found
      rows.push(...found.value)
    }
    return { ok: true, value: { rows, tables: tables.value } }
  })

/** Why the rows of a store are missing. Nothing where it can be listed. */
export function storeProblem(path: string): DatabaseProblem | undefined {
  const listed = listStore(path)
  return listed.ok ? undefined : listed.problem
}
