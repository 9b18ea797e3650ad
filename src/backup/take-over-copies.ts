/** Takes over the files that version 0.1.0 backed up in a database of their own, `copies.sqlite3`. */
import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../lib/hash.ts'
import { debug } from '../lib/logger.ts'
import { openSqlite } from '../lib/sqlite/driver.ts'
import { type DatabaseFormat, type Db, needsDatabaseCopy, openDatabaseCopy } from '../lib/sqlite/own-database.ts'
import type { BackedUpFile } from './file-table.ts'
import { FileTable } from './file-table.ts'
import { unpackPiece } from './pack-piece.ts'
import { PieceTable } from './piece-table.ts'

export const COPIES_FILE = 'copies.sqlite3'
/** New name of a database of which a part could not be taken over. */
const DAMAGED_COPIES_FILE = 'copies-damaged.sqlite3'

/** The application id is `fumc` in ASCII. Only read, so the statements that created it are not needed. */
const COPIES_FORMAT: DatabaseFormat = { application: 0x66756d63, migrations: ['', ''] }

export const copiesPath = (directory: string): string => join(directory, COPIES_FILE)

type CopyRow = Omit<BackedUpFile, 'first_seen' | 'side_of' | 'root'> & { readonly root: string | null }

interface CopyPiece {
  readonly start: number
  readonly length: number
  readonly hash: Buffer
  readonly body: Buffer
}

/**
 * Adds what is not in the backup yet. To be called in a transaction on `db`.
 * @returns whether everything could be read
 */
export function importCopies(db: Db, directory: string): boolean {
  const path = copiesPath(directory)
  if (!existsSync(path)) return true
  try {
    const opened = openToRead(path)
    try {
      return opened === undefined ? false : importFrom(opened.db, db)
    } finally {
      opened?.close()
    }
  } catch (error) {
    if (!isSqliteDamage(error)) throw error
    debug(`${path}: ${String(error)}`)
    return false
  }
}

function openToRead(path: string): { readonly db: Db; close(): void } | undefined {
  const open = (at: string): Db => openSqlite(at, { readonly: true, fileMustExist: true })
  try {
    const db = open(path)
    db.prepare('SELECT 1 FROM sqlite_schema').get()
    return { db, close: () => db.close() }
  } catch (error) {
    if (!needsDatabaseCopy(error)) throw error
    return openDatabaseCopy(path, open)
  }
}

const isSqliteDamage = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^SQLITE_(?:CORRUPT|NOTADB|ERROR)/.test(String(error.code))

function importFrom(copies: Db, db: Db): boolean {
  if (copies.prepare('SELECT 1 FROM sqlite_schema').get() === undefined) return true
  if (copies.pragma('application_id', { simple: true }) !== COPIES_FORMAT.application) return false
  const pieces = new PieceTable(db)
  const files = new FileTable(db, pieces)
  const known = new Set(files.list().map(contentKey))
  const rows = copies
    .prepare('SELECT id, agent, path, root, inode, size, modified, probe FROM copy ORDER BY id')
    .all() as CopyRow[]
  const select = copies.prepare('SELECT start, length, hash, body FROM piece WHERE copy_id = ? ORDER BY start')
  let isComplete = true
  for (const { root, id, ...copy } of rows) {
    if (known.has(contentKey(copy))) continue
    if (!isSound(copy.size, select.iterate(id) as IterableIterator<CopyPiece>)) {
      isComplete = false
      continue
    }
    // The index names a file by its number.
    const isFree = files.get(id) === undefined
    const file = files.add({ ...copy, ...(root !== null && { root }) }, isFree ? id : undefined)
    for (const { start, length, hash, body } of select.iterate(id) as IterableIterator<CopyPiece>)
      files.setPiece(file.id, start, length, pieces.putPacked(hash, body))
  }
  return isComplete
}

const contentKey = ({ agent, path, inode, size, probe }: Omit<CopyRow, 'root' | 'id'>): string =>
  JSON.stringify([agent, path, inode, size, probe])

/** Whether the pieces follow each other and have the content that was stored. */
function isSound(size: number, pieces: Iterable<CopyPiece>): boolean {
  let at = 0
  for (const { start, length, hash, body } of pieces) {
    if (start !== at) return false
    try {
      const bytes = unpackPiece(body)
      if (bytes.length !== length || sha256(bytes) !== hash.toString('hex')) return false
    } catch {
      return false
    }
    at += length
  }
  return at === size
}

/**
 * Removes the earlier database once all of it is in the backup. A process of version 0.1.0 that still has it open gets an
 * error instead of writing to a file that no longer exists. Does nothing while another process uses it.
 */
export function removeCopies(db: Db, directory: string): void {
  const path = copiesPath(directory)
  if (!existsSync(path)) return
  let isComplete = false
  try {
    const copies = openSqlite(path, { fileMustExist: true, timeout: 0 })
    try {
      copies.exec('BEGIN EXCLUSIVE')
      // Another process may have written to it since.
      isComplete = db.transaction(() => importCopies(db, directory)).immediate()
      if (isComplete) copies.exec('DROP TABLE IF EXISTS piece; DROP TABLE IF EXISTS copy; COMMIT')
      else copies.exec('ROLLBACK')
    } finally {
      copies.close()
    }
  } catch (error) {
    debug(`${path}: ${String(error)}`)
    if (!isSqliteDamage(error)) return
  }
  for (const suffix of ['', '-wal', '-shm'])
    if (!existsSync(path + suffix)) continue
    else if (isComplete) rmSync(path + suffix, { force: true })
    else renameSync(path + suffix, join(directory, DAMAGED_COPIES_FILE + suffix))
}
