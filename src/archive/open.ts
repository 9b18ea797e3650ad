/** Opens a database of our own: private to its user, safe against crashes, never one that a newer fumibako wrote. */
import { existsSync } from 'node:fs'
import { makeFile } from '../lib/disk/make-file.ts'
import { SpecialFileError } from '../lib/files/regular-file.ts'
import { isSystemError } from '../lib/files/system-error.ts'
import { type Copy, copyDatabase } from '../lib/sqlite/copy.ts'
import { type Connection, openSqlite } from '../lib/sqlite/driver.ts'
import { filesAt } from '../lib/sqlite/header.ts'
import { AppError } from '../model/error.ts'

export type Db = Connection

export interface Kind {
  /** Written into the file, so that no other database is taken for it. */
  readonly application: number
  /** Each takes the database one version further; its place is the version it starts from. Never changed, only added. */
  readonly migrations: readonly string[]
  /** Room that is no longer needed can be given back to the disk. */
  readonly shrinks?: true
}

/** How long one process waits for another. */
const PATIENCE_MS = 30_000
/** A log that grew beyond this for one large row is cut back. */
const LOG_BYTES = 4 << 20

/** One that may not be written is opened all the same, for reading: what lies there is still to be had. */
export function openToReadAtLeast(path: string, kind: Kind): { readonly db: Db; close(): void } {
  try {
    const db = openDatabase(path, kind)
    return { db, close: () => db.close() }
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'no_permission' || !existsSync(path)) throw error
    return explained(path, () => {
      const opened = openCopy(path, (copy) => openDatabase(copy, kind))
      if (!opened) throw error
      opened.db.pragma('query_only = ON')
      return opened
    })
  }
}

/** What SQLite says where it would have to make a file beside the database and cannot. */
const NEEDS_A_COPY = /^SQLITE_(?:CANTOPEN|READONLY|FULL|IOERR_SHM)/

export const needsCopy = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && NEEDS_A_COPY.test(String(error.code))

/** A copy in the system's folder for such things, removed when it is closed. Nothing when somebody is writing just now. */
export function openCopy(path: string, open: (copy: string) => Db): { readonly db: Db; close(): void } | undefined {
  const copy = patientCopy(path)
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

const ATTEMPTS = 8
const PAUSE_MS = 30

function patientCopy(path: string): Copy | undefined {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const copy = copyDatabase(filesAt(path))
    if (copy) return copy
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
  }
  return undefined
}

/** Makes the folder and the file where they do not exist. */
export function openDatabase(path: string, kind: Kind): Db {
  return explained(path, () => {
    makeFile(path)
    const db = openSqlite(path, { timeout: PATIENCE_MS })
    try {
      prepare(db, path, kind)
      return db
    } catch (error) {
      db.close()
      throw error
    }
  })
}

function prepare(db: Db, path: string, kind: Kind): void {
  // Written anew each time it is set, also where it is set already.
  if (checkVersion(db, path, kind) === 0 && kind.shrinks) db.pragma('auto_vacuum = INCREMENTAL')
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  db.pragma('foreign_keys = ON')
  db.pragma(`journal_size_limit = ${LOG_BYTES}`)
  if (versionOf(db) === kind.migrations.length) return
  const migrate = db.transaction(() => {
    // Another process may have come first.
    for (const step of kind.migrations.slice(checkVersion(db, path, kind))) db.exec(step)
    db.pragma(`application_id = ${kind.application}`)
    db.pragma(`user_version = ${kind.migrations.length}`)
  })
  migrate.immediate()
}

const versionOf = (db: Db): number => Number(db.pragma('user_version', { simple: true }))

function checkVersion(db: Db, path: string, kind: Kind): number {
  const version = versionOf(db)
  const isEmpty = db.prepare('SELECT 1 FROM sqlite_schema').get() === undefined
  if (!isEmpty && db.pragma('application_id', { simple: true }) !== kind.application)
    throw new AppError(
      'unusable_data',
      `${path} is a database of another program. Move it away, or set FUMI_HOME.`,
      `${path} は別のプログラムのデータベースです。別の場所へ移すか、FUMI_HOME を設定してください。`,
    )
  if (version > kind.migrations.length)
    throw new AppError(
      'unusable_data',
      `${path} was written by a newer fumibako (format ${version}; this one knows ${kind.migrations.length}). Update fumibako.`,
      `${path} はもっと新しい fumibako が書いたものです（形式 ${version}。この版が扱えるのは ${kind.migrations.length} まで）。fumibako を更新してください。`,
    )
  return version
}

/** Failures of the disk and of the file as AppErrors that say what to do; anything else as it is. */
export function explained<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw explain(path, error)
  }
}

function explain(path: string, error: unknown): unknown {
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
      `Another process holds ${path}. Let it finish, then try again.`,
      `${path} は別のプロセスが使用中です。終わるのを待ってから、もう一度実行してください。`,
    )
  if (/^(?:SQLITE_READONLY|SQLITE_CANTOPEN|SQLITE_PERM|EACCES|EPERM|EROFS|ENOTDIR|EEXIST|EISDIR)/.test(code))
    return new AppError(
      'no_permission',
      `${path} cannot be opened for writing (${code}). Check its folder, or set FUMI_HOME.`,
      `${path} を書き込み用に開けません（${code}）。フォルダーを確認するか、FUMI_HOME を設定してください。`,
    )
  // Anything else comes from values that nobody wrote, or from a mistake of ours: the file itself can tell which.
  const isDamaged =
    /^(?:SQLITE_CORRUPT|SQLITE_NOTADB|Z_)/.test(code) ||
    error instanceof SyntaxError ||
    (!isSystemError(error) && !isSound(path))
  if (isDamaged)
    return new AppError(
      'unusable_data',
      `${path} is damaged (${code || 'unreadable content'}). Move it away, and restore it from a backup if you have one.`,
      `${path} が壊れています（${code || '内容を読めません'}）。別の場所へ移し、バックアップがあれば復元してください。`,
    )
  return error
}

/** Whether what SQLite can check holds. Reads all of it. */
function isSound(path: string): boolean {
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
