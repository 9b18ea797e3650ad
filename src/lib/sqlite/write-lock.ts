/** Writes to another program's database: only at the user's explicit wish, and only while nobody else has it locked. */
import { connectToFile, type SqlParameter, type SqlRow, selectRow, selectRows } from './connect.ts'
import { type DatabaseOutcome, databaseProblemOf } from './database-problem.ts'
import type { Connection } from './driver.ts'
import { databaseFilesAt, readSqliteHeader } from './header.ts'

/** Its members throw what SQLite says; `withWriteLock` makes problems of it. */
export interface LockedDatabase {
  get(sql: string, ...parameters: readonly SqlParameter[]): SqlRow | undefined
  all(sql: string, ...parameters: readonly SqlParameter[]): readonly SqlRow[]
  /** Answers how many rows were changed. */
  run(sql: string, ...parameters: readonly SqlParameter[]): number
}

export interface WriteLockOptions {
  readonly busyMs?: number
}

const DEFAULT_BUSY_MS = 500

/**
 * All that `work` does is committed at once, or nothing when it throws or another program holds a lock. `work` may not
 * wait for anything. The file must be there; its journal mode stays. A transaction that its owner did not finish because
 * it was killed is rolled back first, as its owner would do.
 */
export function withWriteLock<T>(
  path: string,
  work: (database: LockedDatabase) => T,
  options: WriteLockOptions = {},
): DatabaseOutcome<T> {
  const { main } = databaseFilesAt(path)
  const header = readSqliteHeader(main)
  if (!header.ok) return header
  let connection: Connection | undefined
  try {
    connection = connectToFile(main, { readonly: false, busyMs: options.busyMs ?? DEFAULT_BUSY_MS })
    return { ok: true, value: runInTransaction(connection, work) }
  } catch (error) {
    return { ok: false, problem: databaseProblemOf(error) }
  } finally {
    connection?.close()
  }
}

function runInTransaction<T>(connection: Connection, work: (database: LockedDatabase) => T): T {
  connection.exec('BEGIN IMMEDIATE')
  try {
    const value = work({
      get: (sql, ...parameters) => selectRow(connection, sql, parameters),
      all: (sql, ...parameters) => selectRows(connection, sql, parameters),
      run: (sql, ...parameters) => connection.prepare(sql).run(...parameters).changes,
    })
    if (value instanceof Promise) throw new TypeError('work under a write lock must not wait')
    connection.exec('COMMIT')
    return value
  } finally {
    if (connection.inTransaction) connection.exec('ROLLBACK')
  }
}
