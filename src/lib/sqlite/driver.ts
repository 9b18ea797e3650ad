/** SQLite in the release that this Node.js can run, loaded when it is first needed: most commands do without and start sooner. */
import { createRequire } from 'node:module'
import type Database from 'better-sqlite3'
import { AppError } from '../../model/error.ts'
import { phrase } from '../../model/phrase.ts'
import { refuseSpecialAt } from '../files/regular-file.ts'

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
