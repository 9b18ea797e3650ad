/** Messages that the index finds, and what it does not contain yet. */
import { MESSAGE_COLUMNS, type MessageRow, toIndexedMessage } from '../../index/message-window.ts'
import { cachedQuery } from '../../index/query-cache.ts'
import type { IndexedMessage } from '../../index/records.ts'
import type { SessionFilter } from '../../index/session-filter.ts'
import type { Db } from '../../lib/sqlite/own-database.ts'
import { prepareCached } from '../../lib/sqlite/statements.ts'
import type { ParsedQuery } from '../query/query.ts'
import { sessionConditions } from './find-rows.ts'

/** In the order of the ids. Leaves out rows that were deleted since, because their log was read again. */
export function readCandidates(db: Db, ids: readonly number[]): readonly IndexedMessage[] {
  const row = prepareCached(
    db,
    `SELECT ${MESSAGE_COLUMNS} FROM message m CROSS JOIN session t ON t.id = m.session_id WHERE m.id = ?`,
  )
  return ids.flatMap((id) => {
    const found = row.get(id) as MessageRow | undefined
    return found ? toIndexedMessage(found) : []
  })
}

/** What a search may miss because it is not indexed yet. */
export interface Unindexed {
  readonly sessions: number
  readonly bytes: number
}

export function countUnindexed(db: Db, query: ParsedQuery, filter: SessionFilter = {}): Unindexed {
  const { sql, values } = sessionConditions(query, filter)
  const text = `SELECT count(*) AS sessions, coalesce(sum(max(0, s.size - t.read_bytes)), 0) AS bytes
    FROM session t JOIN source s ON s.id = t.source_id WHERE ${sql} AND t.indexed = 0`
  return cachedQuery(db, `${text} ${JSON.stringify(values)}`, () => prepareCached(db, text).get(...values) as Unindexed)
}
