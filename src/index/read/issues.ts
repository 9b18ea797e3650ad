/** What the index knows of sources and lines that could not be read. */

import type { Db } from '../../lib/sqlite/own-database.ts'
import type { AgentId, SessionId } from '../../model/ids.ts'
import type { Issue } from '../../model/issue.ts'
import { prepareCached } from './statements.ts'

const MAX_ISSUES_LISTED = 1000

export function readUnreadableSources(db: Db, agent?: AgentId): readonly Issue[] {
  const rows = db
    .prepare(
      `SELECT i.code, i.reason, s.path, s.key, i.line FROM issue i JOIN source s ON s.id = i.source_id
       WHERE ((i.code = 'unreadable' AND i.pass = 1) OR i.code = 'internal_error') AND s.gone = 0 AND (:agent IS NULL OR s.agent = :agent)
       GROUP BY s.path, s.key, i.code, i.line, i.reason ORDER BY s.path, min(i.id) LIMIT :most`,
    )
    .all({ agent: agent ?? null, most: MAX_ISSUES_LISTED }) as {
    code: Issue['code']
    reason: string
    path: string
    key: string
    line: number | null
  }[]
  return rows.map(({ key, line, ...issue }) => ({
    ...issue,
    ...(key !== '' && { key }),
    ...(line !== null && { line }),
  }))
}

/** Of one session, in the order of its lines. What both passes met comes once. */
export function readSessionIssues(db: Db, session: SessionId, limit: number): readonly Omit<Issue, 'path' | 'key'>[] {
  const rows = prepareCached(
    db,
    `SELECT i.code, i.reason, i.line FROM session t JOIN issue i ON i.source_id = t.source_id
     WHERE t.name = ? AND i.code <> 'not_a_session' GROUP BY i.code, i.line ORDER BY i.line, min(i.id) LIMIT ?`,
  ).all(session, limit) as { code: Issue['code']; reason: string; line: number | null }[]
  return rows.map(({ line, ...issue }) => ({ ...issue, ...(line !== null && { line }) }))
}
