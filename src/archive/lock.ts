/** Who may write the index: one process at a time. The system takes the lock from a process that dies. */
import { join } from 'node:path'
import { makeFile } from '../lib/disk/make-file.ts'
import { type Connection, openSqlite } from '../lib/sqlite/driver.ts'
import { explained } from './open.ts'

export interface Lock {
  release(): void
}

export interface Holder {
  readonly pid: number
  readonly since: string
  /** What it does: `sync`, `serve` … */
  readonly what: string
}

export type Taken =
  | { readonly kind: 'taken'; readonly lock: Lock }
  /** Nobody is known where the other process has only just begun. */
  | { readonly kind: 'held'; readonly by: Holder | undefined }

/**
 * A database of one row, which says who holds it; the lock is a transaction that its holder never ends. Never waits.
 */
export function takeLock(directory: string, what: string): Taken {
  const path = join(directory, 'lock')
  return explained(path, () => {
    makeFile(path)
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
      const by = isBusy(error) ? holderIn(db) : undefined
      db.close()
      if (!isBusy(error)) throw error
      return { kind: 'held', by }
    }
  })
}

const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')

function holderIn(db: Connection): Holder | undefined {
  try {
    return db.prepare('SELECT pid, since, what FROM holder').get() as Holder | undefined
  } catch {
    return undefined
  }
}
