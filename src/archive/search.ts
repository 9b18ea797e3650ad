/** Finds messages by what they say, newest first: the index alone, without a look at any body. */
import type { SessionId } from '../model/ids.ts'
import type { SessionFilter } from './get/filter.ts'
import { knownOf, MESSAGE_COLUMNS, type RawMessage } from './get/messages.ts'
import { prepared } from './get/statements.ts'
import type { Db } from './open.ts'
import type { Known } from './record.ts'
import { CUT } from './rows/kind.ts'
import { type RowOptions, rowsOf, sessionConditions } from './search/rows.ts'
import { matchExpression } from './text/expression.ts'
import type { Query } from './text/query.ts'

/** A message that the index says is meant. */
export interface Candidate extends Known {
  /** Not all that it says is in the index. */
  readonly cut: boolean
}

export const candidatesOf = (db: Db, query: Query, options: RowOptions): readonly Candidate[] =>
  candidatesAt(db, rowsOf(db, query, options))

/** In the order of the ids; a row may be gone since it was found, when its log was read anew meanwhile. */
export function candidatesAt(db: Db, ids: readonly number[]): readonly Candidate[] {
  const row = prepared(
    db,
    `SELECT ${MESSAGE_COLUMNS} FROM message m CROSS JOIN session t ON t.id = m.session_id WHERE m.id = ?`,
  )
  return ids.flatMap((id) => {
    const found = row.get(id) as RawMessage | undefined
    return found ? candidateOf(found) : []
  })
}

export const candidateOf = (row: RawMessage): Candidate => ({ ...knownOf(row), cut: (row.kind & CUT) !== 0 })

export interface TitleOptions {
  readonly filter?: SessionFilter
  readonly limit: number
  /** Sessions that are named otherwise than in the index. */
  readonly more: readonly SessionId[]
}

/** Sessions whose title says it, newest first. */
export function titlesOf(db: Db, query: Query, { filter, limit, more }: TitleOptions): readonly SessionId[] {
  const must = matchExpression(query, { title: 'title' })
  if (must === undefined || must === '""') return []
  const { sql, values } = sessionConditions(query, filter)
  const titled = `SELECT t.name, t.last_at FROM titled f CROSS JOIN session t ON t.id = f.rowid WHERE titled MATCH ? AND ${sql}
    ORDER BY t.last_at DESC LIMIT ?`
  const named = `SELECT t.name, t.last_at FROM json_each(?) j CROSS JOIN session t ON t.name = j.value WHERE ${sql}
    ORDER BY t.last_at DESC LIMIT ?`
  const found = prepared(db, titled).all(must, ...values, limit) as Titled[]
  if (more.length > 0) found.push(...(prepared(db, named).all(JSON.stringify(more), ...values, limit) as Titled[]))
  const newest = found.sort((a, b) => b.last_at - a.last_at).map(({ name }) => name)
  return [...new Set(newest)].slice(0, limit)
}

interface Titled {
  readonly name: SessionId
  readonly last_at: number
}
