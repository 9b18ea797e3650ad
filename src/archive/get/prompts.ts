/** What people asked: the rows of prompts, without what programs put there. */
import type { Db } from '../open.ts'
import type { Known } from '../record.ts'
import { DUPLICATE, INJECTED, REPLAYED, ROLES, roleOf } from '../rows/kind.ts'
import { asideFrom, START } from './aside.ts'
import { knownOf, MESSAGE_COLUMNS, type RawMessage } from './messages.ts'

const USER = ROLES.indexOf('user')
const ASSISTANT = ROLES.indexOf('assistant')
const NOT_TYPED = DUPLICATE | REPLAYED | INJECTED

/**
 * Session by session, so that one log after the other is opened. What a sub-agent is asked was written by its parent. Of a log that
 * was trimmed to its events all rows come that say something: which of them were typed, their bodies tell.
 */
export function promptsOf(db: Db): readonly Known[] {
  const rows = db
    .prepare(
      `SELECT t.id AS session, ${MESSAGE_COLUMNS} FROM session t CROSS JOIN message m ON m.session_id = t.id
       WHERE t.relation IS NOT 'subagent' AND m.kind & ${NOT_TYPED} = 0 AND (m.kind & 7 = ${USER} OR NOT EXISTS
         (SELECT 1 FROM message o WHERE o.session_id = t.id AND o.kind & 7 IN (${USER}, ${ASSISTANT})))
       ORDER BY t.id, m.line, m.part`,
    )
    .all() as (RawMessage & { session: number })[]
  const events = new Map<number, boolean>()
  const isTrimmed = (session: number): boolean => {
    const known = events.get(session) ?? !hasCopies(db, session)
    events.set(session, known)
    return known
  }
  return rows.filter(({ kind, session }) => roleOf(kind) === 'user' || isTrimmed(session)).map(knownOf)
}

/** What people and models said before a fork lies aside. */
function hasCopies(db: Db, session: number): boolean {
  const aside = asideFrom(db, session, START, true, 1, Number.POSITIVE_INFINITY)
  return aside.some(({ kind }) => roleOf(kind) === 'user' || roleOf(kind) === 'assistant')
}
