/** All conversations of a store, or why they cannot be listed. */
import type { Outcome, Problem } from '../../../lib/sqlite/problem.ts'
import type { Table } from './key.ts'
import { withStore } from './open-stores.ts'
import { type Listed, rowsIn, tablesIn } from './table.ts'

/** By its name where it has one of a database: opening and closing the file would drop the locks of a reading that is under way. */
export const isDatabase = (path: string): boolean => /\.sqlite3?$/i.test(path)

export interface ListedStore {
  readonly rows: readonly Listed[]
  readonly tables: readonly Table[]
}

export const listStore = (path: string): Outcome<ListedStore> =>
  withStore(path, (database) => {
    const tables = tablesIn(database)
    if (!tables.ok) return tables
    const rows: Listed[] = []
    for (const table of tables.value) {
      const found = rowsIn(database, table)
      if (!found.ok) return found
      rows.push(...found.value)
    }
    return { ok: true, value: { rows, tables: tables.value } }
  })

/** Why the rows of a store are missing. Nothing where it can be listed. */
export function storeProblem(path: string): Problem | undefined {
  const listed = listStore(path)
  return listed.ok ? undefined : listed.problem
}
