/** Loads the SQLite release that this Node.js can run, on first use, and connects to existing files. */

import { accessSync, closeSync, constants, mkdirSync, openSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import type Database from 'better-sqlite3'
import { AppError } from '../../model/error.ts'
import { phrase } from '../../model/phrase.ts'
import { refuseSpecialAt } from '../files/regular-file.ts'
import { isSystemError } from '../files/system-error.ts'

export type Connection = Database.Database

/**
 * The same package in two releases. Release 12 crashes on Node.js 24.19 and later when a statement is collected;
 * release 13 crashes without Node-API 10 (before 22.14).
 */
const SQLITE_PACKAGE = Number(process.versions.napi) >= 10 ? 'better-sqlite3-13' : 'better-sqlite3'

export const INSTALL_HINT = phrase(
  `Install it for this Node.js (${process.version}): npm install --include=optional, or npm rebuild better-sqlite3 where it was made for another one. To compile it takes python3, make and a C++ compiler.`,
  `この Node.js（${process.version}）用にインストールしてください: npm install --include=optional。別の Node.js 用に作られたものがある場合は npm rebuild better-sqlite3。コンパイルには python3、make、C++ コンパイラーが必要です。`,
)

type LoadedDriver =
  | { readonly kind: 'loaded'; readonly Sqlite: typeof Database }
  | { readonly kind: 'failed'; readonly reason: string }

const requirePackage = createRequire(import.meta.url)
let loadedDriver: LoadedDriver | undefined

export function loadSqlite(): LoadedDriver {
  loadedDriver ??= loadDriver()
  return loadedDriver
}

function loadDriver(): LoadedDriver {
  try {
    const Sqlite = requirePackage(SQLITE_PACKAGE) as typeof Database
    // Loads the native module.
    new Sqlite(':memory:').close()
    return { kind: 'loaded', Sqlite }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { kind: 'failed', reason: reason.split(/\n|\. /)[0] ?? '' }
  }
}

/** Suffixes of the files that SQLite opens. */
const SIDECARS = ['', '-wal', '-journal', '-shm'] as const

/** Throws SQLite errors, SpecialFileError for a special file, and AppError if SQLite cannot be loaded. */
export function openSqlite(path: string, options: Database.Options = {}): Connection {
  const driver = loadSqlite()
  if (driver.kind === 'loaded') {
    // SQLite would wait for a pipe, or read a device forever.
    for (const suffix of SIDECARS) refuseSpecialAt(path + suffix)
    return new driver.Sqlite(path, options)
  }
  throw new AppError(
    'not_found',
    `SQLite cannot be loaded: ${driver.reason}. ${INSTALL_HINT.en}`,
    `SQLite を読み込めません: ${driver.reason}。${INSTALL_HINT.ja}`,
  )
}

type SqlValue = null | number | string | Uint8Array
export type SqlRow = { readonly [column: string]: SqlValue }
export type SqlParameter = SqlValue | bigint

interface SqliteConnectOptions {
  readonly readonly: boolean
  readonly busyMs: number
}

/** Throws SQLite errors. */
export function connectToFile(path: string, { readonly, busyMs }: SqliteConnectOptions): Connection {
  const connection = openSqlite(path, { readonly, fileMustExist: true, timeout: busyMs })
  // Do not trust the schema of a foreign file.
  connection.pragma('trusted_schema = OFF')
  connection.pragma('cell_size_check = ON')
  return connection
}

export const selectRow = (
  connection: Connection,
  sql: string,
  parameters: readonly SqlParameter[],
): SqlRow | undefined => connection.prepare(sql).get(...parameters) as SqlRow | undefined

export const selectRows = (
  connection: Connection,
  sql: string,
  parameters: readonly SqlParameter[],
): readonly SqlRow[] => connection.prepare(sql).all(...parameters) as SqlRow[]

/**
 * Creates a private file and folder before SQLite does. Does not open an existing file: closing it would drop all locks
 * of this process on it. Throws system errors, also if it is not writable.
 */
export function ensurePrivateFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  try {
    closeSync(openSync(path, 'ax', 0o600))
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EEXIST') throw error
    accessSync(path, constants.R_OK | constants.W_OK)
  }
}
