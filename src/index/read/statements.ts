/** Statements that are asked again and again, prepared once for each connection. */
import type { Statement } from 'better-sqlite3'
import type { Db } from '../../lib/sqlite/own-database.ts'

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
