/** Who may write the index: one process at a time. The system takes the lock from a process that dies. */
import { join } from 'node:path'
import { type Connection, ensurePrivateFile, openSqlite } from '../lib/sqlite/driver.ts'
import { withDatabaseErrors } from '../lib/sqlite/own-database.ts'

export interface IndexLock {
  release(): void
}

export interface LockHolder {
  readonly pid: number
  readonly since: string
  /** What it does: `sync`, `serve` … */
  readonly what: string
}

export type LockAttempt =
  | { readonly kind: 'taken'; readonly lock: IndexLock }
  /** Nobody is known where the other process has only just begun. */
  | { readonly kind: 'held'; readonly by: LockHolder | undefined }

/**
 * A database of one row, which says who holds it; the lock is a transaction that its holder never ends. Never waits.
 */
export function takeIndexLock(directory: string, what: string): LockAttempt {
  const path = join(directory, 'lock')
  return withDatabaseErrors(path, () => {
    ensurePrivateFile(path)
    const db = openSqlite(path, { timeout: 0 })
    try {
      // Nothing in it outlives its holder: it need not survive the machine.
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
