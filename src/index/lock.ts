/** Lock of the index: one process writes at a time. The system releases the lock when the process dies. */
import { join } from 'node:path'
import { type Connection, ensurePrivateFile, openSqlite } from '../lib/sqlite/driver.ts'
import { withDatabaseErrors } from '../lib/sqlite/own-database.ts'

export interface IndexLock {
  release(): void
}

export interface LockHolder {
  readonly pid: number
  readonly since: string
  /** The command that holds the lock: `sync`, `serve` … */
  readonly what: string
}

export type LockAttempt =
  | { readonly kind: 'taken'; readonly lock: IndexLock }
  /** `by` is undefined if the other process has only just started. */
  | { readonly kind: 'held'; readonly by: LockHolder | undefined }

/** Takes the lock without waiting. The lock is an open transaction on a database whose one row names the holder. */
export function takeIndexLock(directory: string, what: string): LockAttempt {
  const path = join(directory, 'lock')
  return withDatabaseErrors(path, () => {
    ensurePrivateFile(path)
    const db = openSqlite(path, { timeout: 0 })
    try {
      // The row is worthless after the holder ends, so it need not survive a crash of the machine.
      db.pragma('synchronous = OFF')
      db.exec('BEGIN IMMEDIATE')
      db.exec('CREATE TABLE IF NOT EXISTS holder (pid INTEGER, since TEXT, what TEXT)')
      db.exec('DELETE FROM holder')
      db.prepare('INSERT INTO holder VALUES (?, ?, ?)').run(process.pid, new Date().toISOString(), what)
      db.exec('COMMIT')
      db.exec('BEGIN IMMEDIATE')
      return { kind: 'taken', lock: { release: () => db.close() } }
    } catch (error) {
      const holder = isBusyError(error) ? readLockHolder(db) : undefined
      db.close()
      if (!isBusyError(error)) throw error
      return { kind: 'held', by: holder }
    }
  })
}

const isBusyError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')

function readLockHolder(db: Connection): LockHolder | undefined {
  try {
    return db.prepare('SELECT pid, since, what FROM holder').get() as LockHolder | undefined
  } catch {
    return undefined
  }
}
