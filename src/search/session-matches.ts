/** Searches whose answer is no list of hits: every place in one session, and the sessions that say something. */

import type { SessionAnnotation } from '../annotations/records.ts'
import type { SessionFilter } from '../index/read/session-filter.ts'
import { readOffsets } from '../index/read/session-layout.ts'
import { prepareFirstColumn } from '../index/read/statements.ts'
import type { IndexReader } from '../index/reader.ts'
import type { SessionId } from '../model/ids.ts'
import { findSessionsByAnnotation } from './annotation-filters.ts'
import type { QueryProblem } from './query/query.ts'
import type { SearchEngine } from './search-engine.ts'
import { findSessionsByTitle, readCandidates } from './text-index/candidates.ts'
import { findRows } from './text-index/find-rows.ts'
import { countUnindexed } from './text-index/unindexed.ts'

/** A message, and how many of its session stand before it. */
export interface MessageMatch {
  readonly message_id: string
  readonly offset: number
}

export type MessageMatchesAnswer =
  | QueryProblem
  | { readonly kind: 'found'; readonly spots: readonly MessageMatch[]; readonly complete: boolean }

const MAX_MATCHES = 10_000
const MAX_MATCHING_ROWS = 20_000
/** Bodies that are looked at together, where the index alone cannot tell. */
const MESSAGES_PER_CHECK = 200

/** Every message of a session that says it, in its order. */
export async function findMatchesInSession(
  reader: IndexReader,
  engine: SearchEngine,
  session: SessionId,
  text: string,
): Promise<MessageMatchesAnswer> {
  const query = engine.parse(text)
  if (query.kind === 'problem') return query
  const filter: SessionFilter = { ids: [session], kind: 'any' }
  const { rows, left: unindexed } = reader.read(
    (db) => ({
      rows: findRows(db, query, { limit: MAX_MATCHES + 1, filter }),
      left: countUnindexed(db, query, filter),
    }),
    { rows: [], left: { sessions: 0, bytes: 0 } },
  )
  const matchingRows = new Set<number>()
  const isSure = query.patterns.length === 0 && query.mustNot.length === 0
  for (let at = 0; at < Math.min(rows.length, MAX_MATCHES); at += MESSAGES_PER_CHECK) {
    const page = rows.slice(at, at + MESSAGES_PER_CHECK)
    const found = isSure ? page : (await engine.checkCandidates(query, engine.candidatesAt(page))).map(({ row }) => row)
    for (const row of found) matchingRows.add(row)
  }
  const matches = reader.read((db) => {
    const offsets = readOffsets(db, session, matchingRows)
    const known = readCandidates(db, [...offsets.keys()])
    return known.map(({ id, row }) => ({ message_id: id, offset: offsets.get(row) ?? 0 }))
  }, [])
  return { kind: 'found', spots: matches, complete: unindexed.sessions === 0 && rows.length <= MAX_MATCHES }
}

export type MatchingSessionsAnswer = QueryProblem | { readonly kind: 'found'; readonly sessions: readonly SessionId[] }

/** Sessions in which it was said, or whose title or marks say it. */
export async function findMatchingSessions(
  reader: IndexReader,
  engine: SearchEngine,
  text: string,
  filter: SessionFilter,
  annotations: readonly SessionAnnotation[],
): Promise<MatchingSessionsAnswer> {
  const query = engine.parse(text)
  if (query.kind === 'problem') return query
  if (query.patterns.length > 0) {
    const answer = await engine.search(text, { filter, limit: MESSAGES_PER_CHECK })
    return answer.kind === 'problem' ? answer : { kind: 'found', sessions: answer.sessions.map(({ id }) => id) }
  }
  const sessions = reader.read((db) => {
    const rows = findRows(db, query, { limit: MAX_MATCHING_ROWS, filter })
    const byText = prepareFirstColumn(
      db,
      `SELECT DISTINCT t.name FROM json_each(?) j CROSS JOIN message m ON m.id = j.value JOIN session t ON t.id = m.session_id`,
    ).all(JSON.stringify(rows)) as SessionId[]
    const byTitle = findSessionsByTitle(db, query, {
      filter,
      limit: MAX_MATCHING_ROWS,
      more: findSessionsByAnnotation(query, annotations),
    })
    return [...new Set([...byTitle, ...byText])]
  }, [])
  return { kind: 'found', sessions }
}
