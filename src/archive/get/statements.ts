/** Statements that are asked again and again, prepared once for each connection. */
import type { Statement } from 'better-sqlite3'
import type { Db } from '../open.ts'

/** Texts of statements follow from filters and sorts: few, but nobody counts them. */
const MOST = 200

const known = new WeakMap<Db, Map<string, Statement>>()

export function prepared(db: Db, sql: string): Statement {
  return statementOf(db, sql, sql, (statement) => statement)
}

/** Gives the first column alone. */
export function plucked(db: Db, sql: string): Statement {
  return statementOf(db, sql, `pluck ${sql}`, (statement) => statement.pluck())
}

/** Gives rows as lists instead of objects. */
export function listed(db: Db, sql: string): Statement {
  return statementOf(db, sql, `list ${sql}`, (statement) => statement.raw())
}

function statementOf(db: Db, sql: string, name: string, make: (statement: Statement) => Statement): Statement {
  let statements = known.get(db)
  if (!statements) {
    statements = new Map()
    known.set(db, statements)
  }
  let statement = statements.get(name)
  if (statement) return statement
  if (statements.size >= MOST) statements.clear()
  statement = make(db.prepare(sql))
  statements.set(name, statement)
  return statement
}
