/** The file of the index. It can be thrown away: one that is damaged is set aside and made again. */

import { randomUUID } from 'node:crypto'
import { existsSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { AppError } from '../model/error.ts'
import { type Db, explained, openDatabase } from './open.ts'
import { INDEX } from './schema.ts'

export const indexPath = (directory: string): string => join(directory, 'index.sqlite3')

export interface Opened {
  readonly db: Db
  /** Another one means that the index was made anew. */
  readonly epoch: string
  /** Where a damaged index was put. */
  readonly setAside?: string
}

/** Makes it where it does not exist. Throws an AppError for one that a newer version wrote. */
export function openToWrite(directory: string): Opened {
  const path = indexPath(directory)
  try {
    return prepared(openDatabase(path, INDEX))
  } catch (error) {
    if (!isDamage(error)) throw error
    const setAside = putAside(path)
    return { ...prepared(openDatabase(path, INDEX)), setAside }
  }
}

function prepared(db: Db): Opened {
  try {
    // A crash of the machine may cost the last batches, which are then read again.
    db.pragma('synchronous = NORMAL')
    db.pragma('foreign_keys = OFF')
    db.pragma('cache_size = -32000')
    db.pragma('journal_size_limit = 67108864')
    db.pragma('temp_store = MEMORY')
    db.pragma('wal_autocheckpoint = 8000')
    db.prepare("INSERT OR IGNORE INTO setting VALUES ('epoch', ?), ('revision', '0')").run(randomUUID().slice(0, 8))
    setMerging(db, true)
    return { db, epoch: epochOf(db) }
  } catch (error) {
    db.close()
    throw error
  }
}

/** How many pieces of one size FTS5 lets be before it begins to put them together after each transaction; 0: it does not. */
const PIECES = 4

export function setMerging(db: Db, merges: boolean): void {
  const pieces = merges ? PIECES : 0
  const now = db.prepare("SELECT v FROM said_config WHERE k = 'automerge'").pluck().get() ?? PIECES
  if (now !== pieces) db.exec(`INSERT INTO said (said, rank) VALUES ('automerge', ${pieces})`)
}

const epochOf = (db: Db): string => String(db.prepare("SELECT value FROM setting WHERE name = 'epoch'").pluck().get())

/** Nothing when there is no index yet. */
export function openToRead(directory: string): Opened | undefined {
  const path = indexPath(directory)
  if (!existsSync(path)) return undefined
  return explained(path, () => {
    const db = new Database(path, { readonly: true, timeout: 5000 })
    try {
      const version = Number(db.pragma('user_version', { simple: true }))
      if (version > INDEX.migrations.length)
        throw new AppError('unusable_data', `${path} was written by a newer fumibako. Update fumibako.`)
      if (version < INDEX.migrations.length) {
        db.close()
        return undefined
      }
      db.pragma('cache_size = -16000')
      db.pragma('mmap_size = 268435456')
      return { db, epoch: epochOf(db) }
    } catch (error) {
      db.close()
      throw error
    }
  })
}

const DAMAGE = /^SQLITE_(?:CORRUPT|NOTADB)/

export const isDamage = (error: unknown): boolean =>
  error instanceof Error &&
  ((error instanceof AppError && error.code === 'unusable_data' && error.message.includes('is damaged')) ||
    ('code' in error && DAMAGE.test(String(error.code))))

/** @returns the name it has now */
export function putAside(path: string): string {
  const aside = `${path}.damaged-${Math.trunc(statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0)}`
  for (const suffix of ['', '-wal', '-shm'])
    if (existsSync(path + suffix)) renameSync(path + suffix, `${aside}${suffix}`)
  return aside
}
