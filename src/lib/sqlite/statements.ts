/** Caches prepared statements per connection. */
import type { RunResult, Statement } from 'better-sqlite3'
import type { Db } from './own-database.ts'

/** Filters and sort orders produce a limited but unknown number of different statements. */
const MAX_STATEMENTS = 200

const statementsByConnection = new WeakMap<Db, Map<string, Statement>>()

export function prepareCached(db: Db, sql: string): Statement {
  return cachedStatement(db, sql, sql, (statement) => statement)
}

/** Returns only the first column. */
export function prepareFirstColumn(db: Db, sql: string): Statement {
  return cachedStatement(db, sql, `pluck ${sql}`, (statement) => statement.pluck())
}

/** Returns rows as arrays instead of objects. */
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

type Parameters = readonly unknown[]

/** The first row, as the query selects it. */
export const getRow = <T>(db: Db, sql: string, ...parameters: Parameters): T | undefined =>
  prepareCached(db, sql).get(...parameters) as T | undefined

export const getRows = <T>(db: Db, sql: string, ...parameters: Parameters): readonly T[] =>
  prepareCached(db, sql).all(...parameters) as T[]

/** The first column of the first row. */
export const getValue = <T>(db: Db, sql: string, ...parameters: Parameters): T | undefined =>
  prepareFirstColumn(db, sql).get(...parameters) as T | undefined

export const getValues = <T>(db: Db, sql: string, ...parameters: Parameters): readonly T[] =>
  prepareFirstColumn(db, sql).all(...parameters) as T[]

export const runStatement = (db: Db, sql: string, ...parameters: Parameters): RunResult =>
  prepareCached(db, sql).run(...parameters)

/** @returns the id of the new row */
export const insertRow = (db: Db, sql: string, ...parameters: Parameters): number =>
  Number(runStatement(db, sql, ...parameters).lastInsertRowid)
