/** The file of the index. It is derived data: a damaged one is set aside and built again. */

import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readRegularFile, refuseSpecialAt } from '../lib/files/regular-file.ts'
import { statOf } from '../lib/files/safe-fs.ts'
import { openSqlite } from '../lib/sqlite/driver.ts'
import {
  checkDatabaseHealth,
  type Db,
  needsDatabaseCopy,
  openDatabaseCopy,
  openOwnDatabase,
  withDatabaseErrors,
} from '../lib/sqlite/own-database.ts'
import { AppError } from '../model/error.ts'
import { INDEX_FORMAT } from './schema.ts'

interface Seal {
  /** Another one is a copy, which has times of its own: it is believed. */
  readonly inode: number
  readonly size: number
  readonly modified: number
  /** How often in a row the index was not as it had been left. */
  readonly broken: number
}

/** On a disk that does not keep times, every look would make the index again: such seals are no longer believed. */
const MAX_MISMATCHES = 3

const sealPath = (directory: string): string => join(directory, 'index.sqlite3.seal')

/** While it is open nothing is known: a crash leaves no seal, and SQLite recovers from crashes by itself. */
export interface SealCheck {
  /** The file is ours, and another program or the disk changed it. */
  readonly isChanged: boolean
  /** For the next seal. */
  readonly mismatches: number
}

export function checkAndRemoveSeal(directory: string, index: string): SealCheck {
  const seal = readSeal(directory)
  rmSync(sealPath(directory), { force: true })
  if (!seal) return { isChanged: false, mismatches: 0 }
  const current = fileStateOf(index)
  const isSame = current?.size === seal.size && current.modified === seal.modified
  if (isSame || current?.inode !== seal.inode) return { isChanged: false, mismatches: 0 }
  return { isChanged: seal.broken < MAX_MISMATCHES && isOwnIndex(index), mismatches: seal.broken + 1 }
}

/** Nothing where another process still has it open: then its log is not empty, and the file changes later. */
export function sealIndex(directory: string, index: string, mismatches: number): void {
  const current = fileStateOf(index)
  if (!current || (statOf(`${index}-wal`)?.size ?? 0) > 0) return
  try {
    const seal: Seal = { ...current, broken: mismatches }
    writeFileSync(sealPath(directory), JSON.stringify(seal), { mode: 0o600, flag: 'wx' })
  } catch {
    // Without a seal the next one believes the file.
  }
}

export const removeSeal = (directory: string): void => rmSync(sealPath(directory), { force: true })

function readSeal(directory: string): Seal | undefined {
  try {
    const seal = JSON.parse(readRegularFile(sealPath(directory)).toString()) as {
      readonly [key in keyof Seal]: unknown
    }
    const { inode, size, modified, broken } = seal
    return [inode, size, modified, broken].every(Number.isFinite) ? (seal as Seal) : undefined
  } catch {
    return undefined
  }
}

function fileStateOf(index: string): Omit<Seal, 'broken'> | undefined {
  const stat = statOf(index)
  return stat && { inode: stat.ino, size: stat.size, modified: stat.mtimeMs }
}

/**
 * A database of another program is left alone. It is recognized by its tables: the numbers in the header may be damaged. A newer
 * version of fumibako leaves a seal that matches, so its index is never asked about here.
 */
function isOwnIndex(index: string): boolean {
  try {
    const db = openSqlite(index, { readonly: true, fileMustExist: true })
    try {
      return db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'said_config'").get() !== undefined
    } finally {
      db.close()
    }
  } catch {
    return false
  }
}

export const indexPath = (directory: string): string => join(directory, 'index.sqlite3')

export interface OpenIndex {
  readonly db: Db
  /** Another one means that the index was made anew. */
  readonly epoch: string
  /** Where a damaged index was put. */
  readonly setAside?: string
  /** For the seal: how often in a row the file was not as it had been left. */
  readonly sealMismatches?: number
  close(): void
}

/** Makes it where it does not exist. Throws an AppError for one that a newer version wrote. */
export function openIndexToWrite(directory: string): OpenIndex {
  const path = indexPath(directory)
  const { isChanged, mismatches } = checkAndRemoveSeal(directory, path)
  const setAsidePath = isIndexSuspect(directory) || isChanged ? moveDamagedIndex(directory) : undefined
  try {
    return {
      ...withDatabaseErrors(path, () => prepareConnection(openOwnDatabase(path, INDEX_FORMAT))),
      ...(setAsidePath !== undefined && { setAside: setAsidePath }),
      sealMismatches: mismatches,
    }
  } catch (error) {
    if (!isIndexDamage(error, directory)) throw error
    const setAside = moveDamagedIndex(directory)
    return {
      ...withDatabaseErrors(path, () => prepareConnection(openOwnDatabase(path, INDEX_FORMAT))),
      setAside,
      sealMismatches: mismatches,
    }
  }
}

/** Beside the process that holds the lock, to which a damaged or doubted one is left. Throws where it cannot be used. */
export function openIndexWithoutLock(directory: string): OpenIndex {
  const path = indexPath(directory)
  removeSeal(directory)
  return withDatabaseErrors(path, () => prepareConnection(openOwnDatabase(path, INDEX_FORMAT)))
}

function prepareConnection(db: Db): OpenIndex {
  try {
    // A crash of the machine may cost the last batches, which are then read again.
    db.pragma('synchronous = NORMAL')
    db.pragma('foreign_keys = OFF')
    db.pragma('cache_size = -32000')
    db.pragma('journal_size_limit = 67108864')
    db.pragma('temp_store = MEMORY')
    db.pragma('wal_autocheckpoint = 8000')
    if (!hasEpoch(db))
      db.prepare("INSERT OR IGNORE INTO setting VALUES ('epoch', ?), ('revision', '0')").run(randomUUID().slice(0, 8))
    setAutomerge(db, true)
    // Damage that shows at once is mended at once, also by a sync that has nothing to write there.
    db.prepare('SELECT max(id) FROM message').get()
    return { db, epoch: epochOf(db), close: () => db.close() }
  } catch (error) {
    db.close()
    throw error
  }
}

/** How many pieces of one size FTS5 lets be before it begins to put them together after each transaction; 0: it does not. */
const AUTOMERGE_SEGMENTS = 4

export function setAutomerge(db: Db, isEnabled: boolean): void {
  const segments = isEnabled ? AUTOMERGE_SEGMENTS : 0
  const current = db.prepare("SELECT v FROM said_config WHERE k = 'automerge'").pluck().get() ?? AUTOMERGE_SEGMENTS
  if (current !== segments) db.exec(`INSERT INTO said (said, rank) VALUES ('automerge', ${segments})`)
}

const hasEpoch = (db: Db): boolean => db.prepare("SELECT 1 FROM setting WHERE name = 'epoch'").get() !== undefined

const epochOf = (db: Db): string => String(db.prepare("SELECT value FROM setting WHERE name = 'epoch'").pluck().get())

/** Nothing when there is no index yet. Where nothing may be written, a copy is read. */
export function openIndexToRead(directory: string): OpenIndex | undefined {
  const path = indexPath(directory)
  if (!existsSync(path)) return undefined
  return withDatabaseErrors(path, () => {
    try {
      const db = openSqlite(path, { readonly: true, timeout: 5000 })
      return checkIndexVersion(path, { db, close: () => db.close() })
    } catch (error) {
      if (!needsDatabaseCopy(error)) throw error
      const copy = openDatabaseCopy(path, (at) => openSqlite(at))
      if (!copy) throw error
      return checkIndexVersion(path, copy)
    }
  })
}

/** Only for who holds the lock. Who reads it goes on with what it has until it looks again. */
export function removeIndex(directory: string): void {
  removeSeal(directory)
  for (const suffix of ['-wal', '-shm', '']) rmSync(indexPath(directory) + suffix, { force: true })
}

function checkIndexVersion(path: string, { db, close }: Pick<OpenIndex, 'db' | 'close'>): OpenIndex | undefined {
  try {
    const version = Number(db.pragma('user_version', { simple: true }))
    if (version > INDEX_FORMAT.migrations.length)
      throw new AppError(
        'unusable_data',
        `${path} was written by a newer fumibako. Update fumibako.`,
        `${path} はもっと新しい fumibako が書いたものです。fumibako を更新してください。`,
      )
    if (version < INDEX_FORMAT.migrations.length) {
      close()
      return undefined
    }
    db.pragma('cache_size = -16000')
    db.pragma('mmap_size = 268435456')
    return { db, epoch: epochOf(db), close }
  } catch (error) {
    close()
    throw error
  }
}

const DAMAGE_CODES = /^(?:SQLITE_(?:CORRUPT|NOTADB)|Z_)/

/** The index could not answer. It is noted as damaged: the next sync makes it again from the logs. */
export class IndexDamagedError extends AppError {
  constructor(path: string, cause: unknown) {
    super(
      'unusable_data',
      `${path} is damaged. Run fumi sync: it makes the index again from the logs.`,
      `${path} が壊れています。fumi sync を実行すると、ログから索引を作り直します。`,
    )
    this.name = 'IndexDamagedError'
    this.cause = cause
  }
}

/** Of the index: what else is damaged is not for us to set aside. */
export const isIndexDamage = (error: unknown, directory: string): boolean =>
  error instanceof Error &&
  (error instanceof AppError
    ? error.code === 'unusable_data' && error.message.startsWith(`${indexPath(directory)} is damaged`)
    : 'code' in error && DAMAGE_CODES.test(String(error.code)))

const suspectPath = (directory: string): string => `${indexPath(directory)}.doubt`

/** Who reads may not set a damaged index aside, but leaves a note for the one who writes. */
export function markIndexSuspect(directory: string): void {
  try {
    refuseSpecialAt(suspectPath(directory))
    writeFileSync(suspectPath(directory), '', { mode: 0o600 })
  } catch {
    // Where nothing may be written, nobody writes the index either.
  }
}

/** Notes an index that SQLite finds damaged. @returns whether it is */
export function markIndexIfDamaged(directory: string): boolean {
  const { kind } = checkDatabaseHealth(indexPath(directory), INDEX_FORMAT, 'SELECT 1')
  if (kind === 'unsound') markIndexSuspect(directory)
  return kind === 'unsound'
}

export const isIndexSuspect = (directory: string): boolean => existsSync(suspectPath(directory))

/** The one that was set aside before goes. @returns the name it has now */
export function moveDamagedIndex(directory: string): string {
  const path = indexPath(directory)
  removeSeal(directory)
  const setAsidePath = `${path}.damaged-${Math.trunc(statOf(path)?.mtimeMs ?? 0)}`
  for (const earlier of listDamagedIndexes(directory)) rmSync(earlier, { force: true })
  for (const suffix of ['', '-wal', '-shm'])
    if (existsSync(path + suffix)) renameSync(path + suffix, `${setAsidePath}${suffix}`)
  rmSync(suspectPath(directory), { force: true })
  return setAsidePath
}

/** Files of indexes that were set aside. */
export function listDamagedIndexes(directory: string): readonly string[] {
  const prefix = `${basename(indexPath(directory))}.damaged-`
  try {
    return readdirSync(directory)
      .filter((name) => name.startsWith(prefix))
      .map((name) => join(directory, name))
  } catch {
    return []
  }
}
