/** Opens and seals the index file. The index is derived data, so a damaged one is set aside and rebuilt. */

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
  /** A different inode means that the file was copied. The copy has its own times, so its seal is not checked. */
  readonly inode: number
  readonly size: number
  readonly modified: number
  /** Consecutive openings at which the index differed from its seal. */
  readonly broken: number
}

/**
 * On a disk that does not preserve times, every seal would fail and every opening would rebuild the index. After this
 * many failures in a row the seal is ignored.
 */
const MAX_MISMATCHES = 3

const sealPath = (directory: string): string => join(directory, 'index.sqlite3.seal')

/**
 * Result of comparing the index with its seal, the record of size and times made at the last close. While the index is
 * open there is no seal: SQLite itself recovers from a crash.
 */
export interface SealCheck {
  /** The file is ours, but another program or the disk changed it. */
  readonly isChanged: boolean
  /** Goes into the next seal. */
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

/**
 * Writes no seal while another process has the index open: the write-ahead log is then not empty, and the file still
 * changes.
 */
export function sealIndex(directory: string, index: string, mismatches: number): void {
  const current = fileStateOf(index)
  if (!current || (statOf(`${index}-wal`)?.size ?? 0) > 0) return
  try {
    const seal: Seal = { ...current, broken: mismatches }
    writeFileSync(sealPath(directory), JSON.stringify(seal), { mode: 0o600, flag: 'wx' })
  } catch {
    // Without a seal, the next process trusts the file.
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
 * Databases of other programs are never set aside. Our own is recognized by its tables, because the header may be
 * damaged. An index of a newer version never gets here: that version leaves a seal that matches.
 */
function isOwnIndex(index: string): boolean {
  try {
    const db = openSqlite(index, { readonly: true, fileMustExist: true })
    try {
      return db.prepare("SELECT 1 FROM sqlite_schema WHERE name IN ('text_segment', 'said_config')").get() !== undefined
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
  /** Changes whenever the index is rebuilt. */
  readonly epoch: string
  /** New path of the damaged index that this one replaces. */
  readonly setAside?: string
  /** For the next seal: consecutive openings at which the file differed from its seal. */
  readonly sealMismatches?: number
  close(): void
}

/** Creates the index if needed. Throws an AppError if a newer version wrote it. */
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

/**
 * Opens the index next to the process that holds the lock, which also repairs a damaged one. Throws if the index cannot
 * be used.
 */
export function openIndexWithoutLock(directory: string): OpenIndex {
  const path = indexPath(directory)
  removeSeal(directory)
  return withDatabaseErrors(path, () => prepareConnection(openOwnDatabase(path, INDEX_FORMAT)))
}

function prepareConnection(db: Db): OpenIndex {
  try {
    // A power failure may lose the last batches; the next sync reads them again.
    db.pragma('synchronous = NORMAL')
    db.pragma('foreign_keys = OFF')
    db.pragma('cache_size = -32000')
    db.pragma('journal_size_limit = 67108864')
    db.pragma('temp_store = MEMORY')
    db.pragma('wal_autocheckpoint = 8000')
    if (!hasEpoch(db))
      db.prepare("INSERT OR IGNORE INTO setting VALUES ('epoch', ?), ('revision', '0')").run(randomUUID().slice(0, 8))
    // Finds obvious damage now, so that even a sync with nothing to write repairs it.
    db.prepare('SELECT max(id) FROM message').get()
    return { db, epoch: epochOf(db), close: () => db.close() }
  } catch (error) {
    db.close()
    throw error
  }
}

const hasEpoch = (db: Db): boolean => db.prepare("SELECT 1 FROM setting WHERE name = 'epoch'").get() !== undefined

const epochOf = (db: Db): string => String(db.prepare("SELECT value FROM setting WHERE name = 'epoch'").pluck().get())

/** How much of the index a reader keeps in memory. */
export interface ReadCache {
  readonly pagesKb: number
  readonly mappedBytes: number
}

const FAST_CACHE: ReadCache = { pagesKb: 16_000, mappedBytes: 268_435_456 }
/** For processes of which many run at once. */
export const SMALL_CACHE: ReadCache = { pagesKb: 2000, mappedBytes: 0 }

/** Returns undefined if there is no index yet. In a read-only directory it reads a copy. */
export function openIndexToRead(directory: string, cache: ReadCache = FAST_CACHE): OpenIndex | undefined {
  const path = indexPath(directory)
  if (!existsSync(path)) return undefined
  return withDatabaseErrors(path, () => {
    try {
      const db = openSqlite(path, { readonly: true, timeout: 5000 })
      return checkIndexVersion(path, { db, close: () => db.close() }, cache)
    } catch (error) {
      if (!needsDatabaseCopy(error)) throw error
      const copy = openDatabaseCopy(path, (at) => openSqlite(at))
      if (!copy) throw error
      return checkIndexVersion(path, copy, cache)
    }
  })
}

/** Only the lock holder may call this. Open readers keep the old file until they check again. */
export function removeIndex(directory: string): void {
  removeSeal(directory)
  for (const suffix of ['-wal', '-shm', '']) rmSync(indexPath(directory) + suffix, { force: true })
}

function checkIndexVersion(
  path: string,
  { db, close }: Pick<OpenIndex, 'db' | 'close'>,
  { pagesKb, mappedBytes }: ReadCache,
): OpenIndex | undefined {
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
    db.pragma(`cache_size = -${pagesKb}`)
    db.pragma(`mmap_size = ${mappedBytes}`)
    return { db, epoch: epochOf(db), close }
  } catch (error) {
    close()
    throw error
  }
}

const DAMAGE_CODES = /^(?:SQLITE_(?:CORRUPT|NOTADB)|Z_)/

/** The index could not answer a query. It is flagged as damaged, and the next sync rebuilds it from the logs. */
export class IndexDamagedError extends AppError {
  constructor(path: string, cause: unknown) {
    super(
      'unusable_data',
      `${path} is damaged. Run fumi sync to rebuild the index from the logs.`,
      `${path} が壊れています。fumi sync を実行すると、ログから索引を作り直します。`,
    )
    this.name = 'IndexDamagedError'
    this.cause = cause
  }
}

/** True only for damage in the index itself: other databases must not be set aside. */
export const isIndexDamage = (error: unknown, directory: string): boolean =>
  error instanceof Error &&
  (error instanceof AppError
    ? error.code === 'unusable_data' && error.message.startsWith(`${indexPath(directory)} is damaged`)
    : 'code' in error && DAMAGE_CODES.test(String(error.code)))

const suspectPath = (directory: string): string => `${indexPath(directory)}.doubt`

/** A reader must not set a damaged index aside, so it leaves a note for the next writer. */
export function markIndexSuspect(directory: string): void {
  try {
    refuseSpecialAt(suspectPath(directory))
    writeFileSync(suspectPath(directory), '', { mode: 0o600 })
  } catch {
    // In a read-only directory there is no writer to notify.
  }
}

/** Flags the index if SQLite reports damage. @returns whether it is damaged */
export function markIndexIfDamaged(directory: string): boolean {
  const { kind } = checkDatabaseHealth(indexPath(directory), INDEX_FORMAT, [])
  if (kind === 'unsound') markIndexSuspect(directory)
  return kind === 'unsound'
}

export const isIndexSuspect = (directory: string): boolean => existsSync(suspectPath(directory))

/** Replaces the index that was set aside before. @returns the new name of the file */
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

/** Files of indexes that were set aside because of damage. */
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
