/** SQLite in the release that this Node.js can run, loaded when first needed, and connections to files that exist. */

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
 * One package in two releases, as neither runs everywhere: 12 ends the process on Node.js 24.19 and later when a statement is
 * collected, 13 ends it where Node-API 10 is missing (before 22.14).
 */
const SQLITE_PACKAGE = Number(process.versions.napi) >= 10 ? 'better-sqlite3-13' : 'better-sqlite3'

export const INSTALL_HINT = phrase(
  `Install it for this Node.js (${process.version}): npm install --include=optional, or npm rebuild better-sqlite3 where it was made for another one. To compile it takes python3, make and a C++ compiler.`,
  `この Node.js（${process.version}）用にインストールしてください: npm install --include=optional。別の Node.js 用に作られたものがある場合は npm rebuild better-sqlite3。コンパイルには python3、make、C++ コンパイラーが必要です。`,
)

type LoadedDriver =
  | { readonly kind: 'loaded'; readonly Sqlite: typeof Database }
  | { readonly kind: 'failed'; readonly reason: string }

const require = createRequire(import.meta.url)
let loadedDriver: LoadedDriver | undefined

export function loadSqlite(): LoadedDriver {
  loadedDriver ??= loadDriver()
  return loadedDriver
}

function loadDriver(): LoadedDriver {
  try {
    const Sqlite = require(SQLITE_PACKAGE) as typeof Database
    // Its native part is loaded with the first database.
    new Sqlite(':memory:').close()
    return { kind: 'loaded', Sqlite }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { kind: 'failed', reason: reason.split(/\n|\. /)[0] ?? '' }
  }
}

/** The database itself, and what SQLite reads or makes beside it. */
const SIDECARS = ['', '-wal', '-journal', '-shm'] as const

/** Throws what SQLite says, a SpecialFileError for what is no regular file, and an AppError where there is none. */
export function openSqlite(path: string, options: Database.Options = {}): Connection {
  const driver = loadSqlite()
  if (driver.kind === 'loaded') {
    // SQLite opens by path and would wait for a pipe, or read a device without end.
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

/** Throws what SQLite says. */
export function connectToFile(path: string, { readonly, busyMs }: SqliteConnectOptions): Connection {
  const connection = openSqlite(path, { readonly, fileMustExist: true, timeout: busyMs })
  // The file may have been made by anybody.
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
 * Its folder too. One that is there is not opened: closing it would drop all locks that this process holds on it, those of
 * other connections included. Throws what the system says, also about one that may not be written.
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
