/**
 * Locks that the system releases when the process dies: on a file of our own, or on another program's database for
 * writing.
 */

import { type DatabaseOutcome, databaseFilesAt, databaseProblemOf, readSqliteHeader } from './database-file.ts'
import {
  type Connection,
  connectToFile,
  ensurePrivateFile,
  type SqlParameter,
  type SqlRow,
  selectRow,
  selectRows,
} from './driver.ts'

export interface FileLock {
  release(): void
}

/**
 * Undefined if the lock is held, also by this process. Never waits. The file stays, empty: removing it would allow two
 * locks on files of the same name. Throws system errors.
 */
export function tryLockFile(path: string): FileLock | undefined {
  ensurePrivateFile(path)
  const connection = connectToFile(path, { readonly: false, busyMs: 0 })
  try {
    // Only SQLite's locks exist on every system. Nothing is ever written.
    connection.pragma('journal_mode = MEMORY')
    connection.exec('BEGIN EXCLUSIVE')
    return { release: () => connection.close() }
  } catch (error) {
    connection.close()
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')) return undefined
    throw error
  }
}

/** Its methods throw SQLite errors; `withWriteLock` turns them into problems. */
export interface LockedDatabase {
  get(sql: string, ...parameters: readonly SqlParameter[]): SqlRow | undefined
  all(sql: string, ...parameters: readonly SqlParameter[]): readonly SqlRow[]
  /** Returns the number of changed rows. */
  run(sql: string, ...parameters: readonly SqlParameter[]): number
}

interface WriteLockOptions {
  readonly busyMs?: number
}

const DEFAULT_BUSY_MS = 500

/**
 * Commits everything that `work` does, or nothing if it throws or another program holds a lock. `work` must be
 * synchronous. The file must exist; its journal mode stays. First rolls back a transaction that a killed owner left, as
 * the owner would.
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
