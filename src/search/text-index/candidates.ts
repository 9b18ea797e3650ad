/** Messages and sessions that the index finds, and the sources that are not completely indexed. */
import { MESSAGE_COLUMNS, type MessageRow, toIndexedMessage } from '../../index/message-window.ts'
import { cachedQuery } from '../../index/query-cache.ts'
import type { IndexedMessage, SourceLocation } from '../../index/records.ts'
import { TRUNCATED } from '../../index/row-encoding.ts'
import type { SessionFilter } from '../../index/session-filter.ts'
import type { Db } from '../../lib/sqlite/own-database.ts'
import { prepareCached } from '../../lib/sqlite/statements.ts'
import type { SessionId } from '../../model/ids.ts'
import type { ParsedQuery } from '../query/query.ts'
import { messageConditions } from './conditions.ts'
import { findRows, matchExpression, type RowSearchOptions, sessionConditions } from './find-rows.ts'

/** A message that matches according to the index. */
export interface SearchCandidate extends IndexedMessage {
  /** Part of the text is not indexed. */
  readonly isTruncated: boolean
}

export const findCandidates = (db: Db, query: ParsedQuery, options: RowSearchOptions): readonly SearchCandidate[] =>
  readCandidates(db, findRows(db, query, options))

/** In the order of the ids. Leaves out rows that were deleted since, because their log was read again. */
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
  readonly filter?: SessionFilter | undefined
  readonly limit: number
  /** Further sessions that match by the name the user gave them. */
  readonly more: readonly SessionId[]
}

/** Sessions whose title matches, newest first. */
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

/** A session whose text is not completely indexed. */
export interface PartlyIndexedSession extends SourceLocation {
  readonly session: number
  readonly name: SessionId
  readonly root?: string
  readonly indexed: boolean
  /** The id inside the source, if the source can hold several sessions. */
  readonly claim?: string
}

/** Sessions that the query may concern, newest first. */
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

/** Truncated messages of a session that satisfy the query's filters. */
export function findTruncatedMessages(db: Db, query: ParsedQuery, session: number): readonly SearchCandidate[] {
  const { message, from, until } = messageConditions(query.filters)
  const rows = prepareCached(
    db,
    `SELECT ${MESSAGE_COLUMNS} FROM message m CROSS JOIN session t ON t.id = m.session_id
     WHERE m.session_id = ? AND m.kind & ${TRUNCATED} AND m.id >= ? AND m.id < ? AND ${message.sql} ORDER BY m.id DESC`,
  ).all(session, from, until, ...message.values) as MessageRow[]
  return rows.map(toCandidate)
}

/** What a search may miss because it is not indexed. */
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
