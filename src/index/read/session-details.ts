/** What a line of the list tells beside the session's own row: turns, errors, issues, and its header. */

import type { Db } from '../../lib/sqlite/own-database.ts'
import type { SessionId } from '../../model/ids.ts'
import type { Session } from '../../model/session.ts'
import { prepareCached } from './statements.ts'

export interface SessionDetails {
  readonly header: Session
  /** What people asked. */
  readonly turns: number
  /** Results of tools that failed. */
  readonly errors: number
  /** Lines and entries that could not be read as they should. */
  readonly issues: number
}

interface DetailsRow {
  readonly name: SessionId
  readonly header: string
  readonly turns: number
  readonly errors: number
  readonly issues: number
}

export function readSessionDetails(db: Db, ids: readonly SessionId[]): ReadonlyMap<SessionId, SessionDetails> {
  const rows = prepareCached(
    db,
    `SELECT t.name, t.header,
       (SELECT coalesce(sum(prompts), 0) FROM activity a WHERE a.session_id = t.id) AS turns,
       (SELECT coalesce(sum(errors), 0) FROM tool_use u WHERE u.session_id = t.id) AS errors,
       (SELECT count(DISTINCT i.code || ' ' || coalesce(i.line, '')) FROM issue i
        WHERE i.source_id = t.source_id AND i.code <> 'not_a_session') AS issues
     FROM json_each(?) j CROSS JOIN session t ON t.name = j.value`,
  ).all(JSON.stringify(ids)) as DetailsRow[]
  return new Map(
    rows.map(({ name, header, ...counts }) => [name, { header: JSON.parse(header) as Session, ...counts }]),
  )
}
