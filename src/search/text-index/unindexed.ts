/** What a search by the index may miss: sessions that are not read yet, and what a lean index leaves out. */

import { MESSAGE_COLUMNS, type MessageRow } from '../../index/read/message-window.ts'
import { cachedQuery } from '../../index/read/query-cache.ts'
import type { SessionFilter } from '../../index/read/session-filter.ts'
import { prepareCached } from '../../index/read/statements.ts'
import type { SourceLocation } from '../../index/records.ts'
import { TRUNCATED } from '../../index/rows/message-kind.ts'
import type { Db } from '../../lib/sqlite/own-database.ts'
import type { SessionId } from '../../model/ids.ts'
import type { ParsedQuery } from '../query/query.ts'
import { type SearchCandidate, toCandidate } from './candidates.ts'
import { messageConditions } from './filter-conditions.ts'
import { sessionConditions } from './find-rows.ts'

/** A session of which the index does not know all that is said. */
export interface PartlyIndexedSession extends SourceLocation {
  readonly session: number
  readonly name: SessionId
  readonly root?: string
  readonly indexed: boolean
  /** What its source calls it, where that may hold several sessions. */
  readonly claim?: string
}

/** Newest first; those that a query may be about. */
export function findPartlyIndexedSessions(
  db: Db,
  query: ParsedQuery,
  filter: SessionFilter = {},
): readonly PartlyIndexedSession[] {
  const { sql, values } = sessionConditions(query, filter)
  const isAboutOutput = !query.scopes || query.scopes.includes('output')
  const rows = db
    .prepare(
      `SELECT t.id AS session, t.name, t.indexed, s.agent, s.path, CASE WHEN s.whole IS NULL THEN s.key ELSE '' END AS key, s.root, s.kept, s.whole, s.claim FROM session t JOIN source s ON s.id = t.source_id
       WHERE ${sql} AND (t.indexed = 0 ${isAboutOutput ? 'OR t.cut_bytes + t.cut_after > 0' : ''})
       ORDER BY t.last_at DESC`,
    )
    .all(...values) as (Omit<PartlyIndexedSession, 'indexed' | 'kept' | 'root' | 'claim'> & {
    indexed: number
    kept: number
    root: string | null
    whole: number | null
    claim: string | null
  })[]
  return rows.map(({ indexed, kept, root, key, whole: container, claim, ...rest }) => ({
    ...rest,
    indexed: indexed === 1,
    kept: kept === 1,
    ...(key !== undefined && key !== '' && { key }),
    ...(root !== null && { root }),
    ...(container !== null && claim !== null && { claim }),
  }))
}

/** Messages of a session of which not all is in the index, as far as the query's filters let them through. */
export function findTruncatedMessages(db: Db, query: ParsedQuery, session: number): readonly SearchCandidate[] {
  const { message, from, until } = messageConditions(query.filters)
  const rows = prepareCached(
    db,
    `SELECT ${MESSAGE_COLUMNS} FROM message m CROSS JOIN session t ON t.id = m.session_id
     WHERE m.session_id = ? AND m.kind & ${TRUNCATED} AND m.id >= ? AND m.id < ? AND ${message.sql} ORDER BY m.id DESC`,
  ).all(session, from, until, ...message.values) as MessageRow[]
  return rows.map(toCandidate)
}

/** What a search may miss because it is not in the index. */
export interface Unindexed {
  readonly sessions: number
  readonly bytes: number
}

export function countUnindexed(db: Db, query: ParsedQuery, filter: SessionFilter = {}): Unindexed {
  const { sql, values } = sessionConditions(query, filter)
  const isAboutOutput = !query.scopes || query.scopes.includes('output')
  const unread = 'max(0, s.size - t.read_bytes)'
  const cut = isAboutOutput ? '(t.cut_bytes + t.cut_after)' : '0'
  const text = `SELECT count(*) AS sessions, coalesce(sum(CASE WHEN t.indexed = 0 THEN ${unread} ELSE 0 END + ${cut}), 0) AS bytes
    FROM session t JOIN source s ON s.id = t.source_id WHERE ${sql} AND (t.indexed = 0 OR ${cut} > 0)`
  return cachedQuery(db, `${text} ${JSON.stringify(values)}`, () => prepareCached(db, text).get(...values) as Unindexed)
}
