/** Finds messages by what they say, newest first: the index alone, without a look at any body. */

import { MESSAGE_COLUMNS, type MessageRow, toIndexedMessage } from '../../index/read/message-window.ts'
import type { SessionFilter } from '../../index/read/session-filter.ts'
import { prepareCached } from '../../index/read/statements.ts'
import type { IndexedMessage } from '../../index/records.ts'
import { TRUNCATED } from '../../index/rows/message-kind.ts'
import type { Db } from '../../lib/sqlite/own-database.ts'
import type { SessionId } from '../../model/ids.ts'
import type { ParsedQuery } from '../query/query.ts'
import { findRows, type RowSearchOptions, sessionConditions } from './find-rows.ts'
import { matchExpression } from './match-expression.ts'

/** A message that the index says is meant. */
export interface SearchCandidate extends IndexedMessage {
  /** Not all that it says is in the index. */
  readonly isTruncated: boolean
}

export const findCandidates = (db: Db, query: ParsedQuery, options: RowSearchOptions): readonly SearchCandidate[] =>
  readCandidates(db, findRows(db, query, options))

/** In the order of the ids; a row may be gone since it was found, when its log was read anew meanwhile. */
export function readCandidates(db: Db, ids: readonly number[]): readonly SearchCandidate[] {
  const row = prepareCached(
    db,
    `SELECT ${MESSAGE_COLUMNS} FROM message m CROSS JOIN session t ON t.id = m.session_id WHERE m.id = ?`,
  )
  return ids.flatMap((id) => {
    const found = row.get(id) as MessageRow | undefined
    return found ? toCandidate(found) : []
  })
}

export const toCandidate = (row: MessageRow): SearchCandidate => ({
  ...toIndexedMessage(row),
  isTruncated: (row.kind & TRUNCATED) !== 0,
})

export interface TitleSearchOptions {
  readonly filter?: SessionFilter
  readonly limit: number
  /** Sessions that are named otherwise than in the index. */
  readonly more: readonly SessionId[]
}

/** Sessions whose title says it, newest first. */
export function findSessionsByTitle(
  db: Db,
  query: ParsedQuery,
  { filter, limit, more }: TitleSearchOptions,
): readonly SessionId[] {
  const must = matchExpression(query, { title: 'title' })
  if (must === undefined || must === '""') return []
  const { sql, values } = sessionConditions(query, filter)
  const titled = `SELECT t.name, t.last_at FROM titled f CROSS JOIN session t ON t.id = f.rowid WHERE titled MATCH ? AND ${sql}
    ORDER BY t.last_at DESC LIMIT ?`
  const named = `SELECT t.name, t.last_at FROM json_each(?) j CROSS JOIN session t ON t.name = j.value WHERE ${sql}
    ORDER BY t.last_at DESC LIMIT ?`
  const found = prepareCached(db, titled).all(must, ...values, limit) as TitleRow[]
  if (more.length > 0)
    found.push(...(prepareCached(db, named).all(JSON.stringify(more), ...values, limit) as TitleRow[]))
  const newest = found.sort((a, b) => b.last_at - a.last_at).map(({ name }) => name)
  return [...new Set(newest)].slice(0, limit)
}

interface TitleRow {
  readonly name: SessionId
  readonly last_at: number
}
