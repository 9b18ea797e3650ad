/** Writes to another program's database: only at the user's explicit wish, and only while nobody else has it locked. */
import { connect, type Parameter, type Row, rowOf, rowsOf } from './connect.ts'
import type { Connection } from './driver.ts'
import { filesAt, readHeader } from './header.ts'
import { type Outcome, problemOf } from './problem.ts'

/** Its members throw what SQLite says; `withWriteLock` makes problems of it. */
export interface LockedDatabase {
  get(sql: string, ...parameters: readonly Parameter[]): Row | undefined
  all(sql: string, ...parameters: readonly Parameter[]): readonly Row[]
  /** Answers how many rows were changed. */
  run(sql: string, ...parameters: readonly Parameter[]): number
}

export interface WriteOptions {
  readonly busyMs?: number
}

const BUSY_MS = 500

/**
 * All that `work` does is committed at once, or nothing when it throws or another program holds a lock. `work` may not
 * wait for anything. The file must be there; its journal mode stays. A transaction that its owner did not finish because
 * it was killed is rolled back first, as its owner would do.
 */
export function withWriteLock<T>(
  path: string,
  work: (database: LockedDatabase) => T,
  options: WriteOptions = {},
): Outcome<T> {
  const { main } = filesAt(path)
  const header = readHeader(main)
  if (!header.ok) return header
  let connection: Connection | undefined
  try {
    connection = connect(main, { readonly: false, busyMs: options.busyMs ?? BUSY_MS })
    return { ok: true, value: inTransaction(connection, work) }
  } catch (error) {
    return { ok: false, problem: problemOf(error) }
  } finally {
    connection?.close()
  }
}

function inTransaction<T>(connection: Connection, work: (database: LockedDatabase) => T): T {
  connection.exec('BEGIN IMMEDIATE')
  try {
    const value = work({
      get: (sql, ...parameters) => rowOf(connection, sql, parameters),
      all: (sql, ...parameters) => rowsOf(connection, sql, parameters),
      run: (sql, ...parameters) => connection.prepare(sql).run(...parameters).changes,
    })
    if (value instanceof Promise) throw new TypeError('work under a write lock must not wait')
    connection.exec('COMMIT')
    return value
  } finally {
    if (connection.inTransaction) connection.exec('ROLLBACK')
  }
}
