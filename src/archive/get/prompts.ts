/** What people asked: the rows of prompts, without what programs put there. */
import type { Db } from '../open.ts'
import type { Known } from '../record.ts'
import { DUPLICATE, INJECTED, REPLAYED, ROLES } from '../rows/kind.ts'
import { knownOf, MESSAGE_COLUMNS, type RawMessage } from './messages.ts'

const USER = ROLES.indexOf('user')
const ASSISTANT = ROLES.indexOf('assistant')
const NOT_TYPED = DUPLICATE | REPLAYED | INJECTED

/**
 * Session by session, so that one log after the other is opened. What a sub-agent is asked was written by its parent. Of a log that
 * was trimmed to its events all rows come: which of them were typed, their bodies tell.
 */
export function promptsOf(db: Db): readonly Known[] {
  const rows = db
    .prepare(
      `SELECT ${MESSAGE_COLUMNS} FROM session t CROSS JOIN message m ON m.session_id = t.id
       WHERE t.relation IS NOT 'subagent' AND m.kind & ${NOT_TYPED} = 0 AND (m.kind & 7 = ${USER} OR NOT EXISTS
         (SELECT 1 FROM message o WHERE o.session_id = t.id AND o.kind & 7 IN (${USER}, ${ASSISTANT})))
       ORDER BY t.id, m.line, m.part`,
    )
    .all() as RawMessage[]
  return rows.map(knownOf)
}
