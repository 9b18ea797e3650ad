/** Opens fumibako's own databases: private to the user, crash-safe, and never one that a newer version wrote. */
import { existsSync } from 'node:fs'
import { AppError } from '../../model/error.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import { SpecialFileError } from '../files/regular-file.ts'
import { statOf } from '../files/safe-fs.ts'
import { isSystemError } from '../files/system-error.ts'
import { databaseFilesAt } from './database-file.ts'
import { type Connection, ensurePrivateFile, openSqlite } from './driver.ts'
import { copyDatabase, type DatabaseCopy } from './foreign-database.ts'

export type Db = Connection

export interface DatabaseFormat {
  /** Identifies the database as this kind. */
  readonly application: number
  /** Each upgrades by one version, starting at its index, all in one transaction. Only ever append. */
  readonly migrations: readonly (string | ((db: Db) => void))[]
  /** Frees unused pages to the disk. */
  readonly canShrink?: true
}

const BUSY_TIMEOUT_MS = 30_000
/** Truncates the log after one large row. */
const MAX_WAL_BYTES = 4 << 20

/** Falls back to a readable copy of a database that cannot be written. */
export function openWritableOrCopy(
  path: string,
  format: DatabaseFormat,
): { readonly db: Db; readonly isCopy: boolean; close(): void } {
  try {
    const db = openOwnDatabase(path, format)
    return { db, isCopy: false, close: () => db.close() }
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'no_permission' || !existsSync(path)) throw error
    return withDatabaseErrors(path, () => {
      const opened = openDatabaseCopy(path, (copy) => openOwnDatabase(copy, format))
      if (!opened) throw error
      opened.db.pragma('query_only = ON')
      return { ...opened, isCopy: true }
    })
  }
}

/** SQLite would have to create a file beside the database and cannot. */
const NEEDS_COPY_CODES = /^SQLITE_(?:CANTOPEN|READONLY|FULL|IOERR_SHM)/

export const needsDatabaseCopy = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && NEEDS_COPY_CODES.test(String(error.code))

/** A temporary copy, deleted on close. Undefined while another process writes. */
export function openDatabaseCopy(
  path: string,
  open: (copy: string) => Db,
): { readonly db: Db; close(): void } | undefined {
  const copy = copyWithRetries(path)
  if (!copy) return undefined
  try {
    const db = open(copy.path)
    const close = (): void => {
      db.close()
      copy.remove()
    }
    return { db, close }
  } catch (error) {
    copy.remove()
    throw error
  }
}

const MAX_COPY_ATTEMPTS = 8
const COPY_RETRY_MS = 30

function copyWithRetries(path: string): DatabaseCopy | undefined {
  for (let attempt = 0; attempt < MAX_COPY_ATTEMPTS; attempt++) {
    const copy = copyDatabase(databaseFilesAt(path))
    if (copy) return copy
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, COPY_RETRY_MS)
  }
  return undefined
}

/** Creates the folder and the file if missing. */
export function openOwnDatabase(path: string, format: DatabaseFormat): Db {
  return withDatabaseErrors(path, () => {
    ensurePrivateFile(path)
    const db = openSqlite(path, { timeout: BUSY_TIMEOUT_MS })
    try {
      migrateDatabase(db, path, format)
      return db
    } catch (error) {
      db.close()
      throw error
    }
  })
}

function migrateDatabase(db: Db, path: string, format: DatabaseFormat): void {
  // Only if needed, because setting it writes to the file.
  if (checkFormatVersion(db, path, format) === 0 && format.canShrink) db.pragma('auto_vacuum = INCREMENTAL')
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  db.pragma('foreign_keys = ON')
  db.pragma(`journal_size_limit = ${MAX_WAL_BYTES}`)
  if (formatVersionOf(db) === format.migrations.length) return
  const migrate = db.transaction(() => {
    // Another process may have migrated it meanwhile.
    for (const step of format.migrations.slice(checkFormatVersion(db, path, format)))
      if (typeof step === 'string') db.exec(step)
      else step(db)
    db.pragma(`application_id = ${format.application}`)
    db.pragma(`user_version = ${format.migrations.length}`)
  })
  migrate.immediate()
}

const formatVersionOf = (db: Db): number => Number(db.pragma('user_version', { simple: true }))

const otherProgramError = (path: string): AppError =>
  new AppError(
    'unusable_data',
    `${path} is a database of another program. Move it away, or set FUMI_HOME.`,
    `${path} は別のプログラムのデータベースです。別の場所へ移すか、FUMI_HOME を設定してください。`,
  )

function checkFormatVersion(db: Db, path: string, format: DatabaseFormat): number {
  const version = formatVersionOf(db)
  const isEmpty = db.prepare('SELECT 1 FROM sqlite_schema').get() === undefined
  if (!isEmpty && db.pragma('application_id', { simple: true }) !== format.application) throw otherProgramError(path)
  if (version > format.migrations.length)
    throw new AppError(
      'unusable_data',
      `${path} was written by a newer fumibako (format ${version}; this one knows ${format.migrations.length}). Update fumibako.`,
      `${path} はもっと新しい fumibako が書いたものです（形式 ${version}。この版が扱えるのは ${format.migrations.length} まで）。fumibako を更新してください。`,
    )
  return version
}

/** Turns failures of the disk and the file into AppErrors; rethrows others. */
export function withDatabaseErrors<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw toDatabaseError(path, error)
  }
}

function toDatabaseError(path: string, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (error instanceof AppError) return error
  if (error instanceof SpecialFileError)
    return new AppError(
      'unusable_data',
      `${error.path} is a ${error.kind}, not a regular file, so it was not opened. Remove it, or set FUMI_HOME.`,
      `${error.path} は通常のファイルではないため（${error.kind}）、開きませんでした。取り除くか、FUMI_HOME を設定してください。`,
    )
  if (/^(?:SQLITE_FULL|ENOSPC|EDQUOT)/.test(code))
    return new AppError(
      'cannot_write',
      `The disk is full: nothing was added to ${path}. Free some space and try again.`,
      `ディスクがいっぱいです。${path} には何も追加していません。空きを作ってから、もう一度実行してください。`,
    )
  if (/^(?:SQLITE_IOERR|EIO|EFBIG)/.test(code))
    return new AppError(
      'cannot_write',
      `The disk failed (${code}): nothing was added to ${path}. Check the disk and try again.`,
      `ディスクのエラーです（${code}）。${path} には何も追加していません。ディスクを確認してから、もう一度実行してください。`,
    )
  if (/^(?:SQLITE_BUSY|SQLITE_LOCKED)/.test(code))
    return new AppError(
      'cannot_write',
      `Another process is using ${path}. Wait for it to finish, then try again.`,
      `${path} は別のプロセスが使用中です。終わるのを待ってから、もう一度実行してください。`,
    )
  if (/^(?:SQLITE_READONLY|SQLITE_CANTOPEN|SQLITE_PERM|EACCES|EPERM|EROFS|ENOTDIR|EEXIST|EISDIR)/.test(code))
    return new AppError(
      'no_permission',
      `${path} cannot be opened for writing (${code}). Check its folder, or set FUMI_HOME.`,
      `${path} を書き込み用に開けません（${code}）。フォルダーを確認するか、FUMI_HOME を設定してください。`,
    )
  // Any other error is damage or a bug; a check of the file decides.
  const isDamaged =
    /^(?:SQLITE_CORRUPT|SQLITE_NOTADB|Z_)/.test(code) ||
    error instanceof SyntaxError ||
    (!isSystemError(error) && !passesQuickCheck(path))
  if (isDamaged)
    return new AppError(
      'unusable_data',
      `${path} is damaged (${code || 'unreadable content'}). Move it away, and restore it from a backup if you have one.`,
      `${path} が壊れています（${code || '内容を読めません'}）。別の場所へ移し、バックアップがあれば復元してください。`,
    )
  return error
}

/** Reads the complete file. */
function passesQuickCheck(path: string): boolean {
  try {
    const db = openSqlite(path, { readonly: true, fileMustExist: true })
    try {
      return db.pragma('quick_check(1)', { simple: true }) === 'ok'
    } finally {
      db.close()
    }
  } catch {
    return false
  }
}

type DatabaseHealth =
  | { readonly kind: 'absent' }
  | { readonly kind: 'sound'; readonly bytes: number; readonly rows: number; readonly mode: number }
  | { readonly kind: 'unsound'; readonly bytes: number; readonly reason: Phrase }

/** @param tables whose rows are counted */
export function checkDatabaseHealth(path: string, format: DatabaseFormat, tables: readonly string[]): DatabaseHealth {
  const stat = statOf(path)
  if (!stat) return { kind: 'absent' }
  const bytes = stat.size + (statOf(`${path}-wal`)?.size ?? 0)
  try {
    return {
      kind: 'sound',
      bytes,
      mode: stat.mode & 0o777,
      rows: withDatabaseErrors(path, () => countRowsChecked(path, format, tables)),
    }
  } catch (error) {
    if (error instanceof AppError) return { kind: 'unsound', bytes, reason: error.phrase }
    if (!(error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_'))) throw error
    return { kind: 'unsound', bytes, reason: damagedPhrase(path, error.message) }
  }
}

const damagedPhrase = (path: string, finding: string): Phrase =>
  phrase(
    `${path} is damaged (${finding}). Make a copy of it, then try sqlite3 FILE .recover, or restore it from a backup.`,
    `${path} が壊れています（${finding}）。複製してから sqlite3 FILE .recover を試すか、バックアップから復元してください。`,
  )

function countRowsChecked(path: string, format: DatabaseFormat, tables: readonly string[]): number {
  const db = openSqlite(path, { readonly: true, fileMustExist: true })
  try {
    const version = Number(db.pragma('user_version', { simple: true }))
    if (version > format.migrations.length)
      throw new AppError(
        'unusable_data',
        `${path} was written by a newer fumibako. Update fumibako.`,
        `${path} はもっと新しい fumibako が書いたものです。fumibako を更新してください。`,
      )
    const isEmpty = db.prepare('SELECT 1 FROM sqlite_schema').get() === undefined
    if (isEmpty) return 0
    if (db.pragma('application_id', { simple: true }) !== format.application) throw otherProgramError(path)
    const finding = String(db.pragma('quick_check(1)', { simple: true })).replaceAll(/\s+/g, ' ')
    if (finding !== 'ok') throw new AppError('unusable_data', damagedPhrase(path, finding))
    // An earlier version may lack a table.
    const present = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all()
    return tables
      .filter((table) => present.includes(table))
      .reduce((sum, table) => sum + Number(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get()), 0)
  } finally {
    db.close()
  }
}
