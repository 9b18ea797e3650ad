/** Statements prepared once for each connection, answers that hold until the next write, and ids of strings that many rows share. */
import type { Statement } from 'better-sqlite3'
import type { Db } from '../lib/sqlite/own-database.ts'

/** Texts of statements follow from filters and sorts: few, but nobody counts them. */
const MAX_STATEMENTS = 200

const statementsByConnection = new WeakMap<Db, Map<string, Statement>>()

export function prepareCached(db: Db, sql: string): Statement {
  return cachedStatement(db, sql, sql, (statement) => statement)
}

/** Gives the first column alone. */
export function prepareFirstColumn(db: Db, sql: string): Statement {
  return cachedStatement(db, sql, `pluck ${sql}`, (statement) => statement.pluck())
}

/** Gives rows as lists instead of objects. */
export function prepareAsArrays(db: Db, sql: string): Statement {
  return cachedStatement(db, sql, `list ${sql}`, (statement) => statement.raw())
}

function cachedStatement(db: Db, sql: string, name: string, configure: (statement: Statement) => Statement): Statement {
  let statements = statementsByConnection.get(db)
  if (!statements) {
    statements = new Map()
    statementsByConnection.set(db, statements)
  }
  let statement = statements.get(name)
  if (statement) return statement
  if (statements.size >= MAX_STATEMENTS) statements.clear()
  statement = configure(db.prepare(sql))
  statements.set(name, statement)
  return statement
}

const MAX_CACHED_ANSWERS = 64

interface QueryCache {
  version: number
  readonly answers: Map<string, unknown>
}

const caches = new WeakMap<Db, QueryCache>()

/** For a connection that only reads, inside of a transaction. @param key tells the question from all others */
export function cachedQuery<T>(db: Db, key: string, runQuery: () => T): T {
  const version = prepareFirstColumn(db, 'PRAGMA data_version').get() as number
  let cache = caches.get(db)
  if (!cache) {
    cache = { version, answers: new Map() }
    caches.set(db, cache)
  }
  const { answers } = cache
  if (cache.version !== version || answers.size >= MAX_CACHED_ANSWERS) answers.clear()
  cache.version = version
  if (answers.has(key)) return answers.get(key) as T
  const answer = runQuery()
  answers.set(key, answer)
  return answer
}

export interface StringIds {
  (text: string): number
  /** Asks the database again: what was added last was taken back. */
  reset(): void
}

const MAX_CACHED_STRINGS = 20_000

export function stringIdsIn(db: Db, table: 'word' | 'file', column: 'text' | 'path'): StringIds {
  const find = db.prepare(`SELECT id FROM ${table} WHERE ${column} = ?`).pluck()
  const add = db.prepare(`INSERT INTO ${table} (${column}) VALUES (?)`)
  const cache = new Map<string, number>()
  const idOf = (text: string): number => {
    const cached = cache.get(text)
    if (cached !== undefined) return cached
    const id = (find.get(text) as number | undefined) ?? Number(add.run(text).lastInsertRowid)
    if (cache.size >= MAX_CACHED_STRINGS) cache.clear()
    cache.set(text, id)
    return id
  }
  return Object.assign(idOf, { reset: () => cache.clear() })
}
