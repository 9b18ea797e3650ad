/** What people asked: the rows of prompts, without what programs put there. */
import type { Db } from '../open.ts'
import type { IndexedMessage } from '../record.ts'
import { DUPLICATE, INJECTED, REPLAYED, ROLES, roleOfKind } from '../rows/kind.ts'
import { readUnsearchableFrom, START_POSITION } from './aside.ts'
import { MESSAGE_COLUMNS, type MessageRow, toIndexedMessage } from './messages.ts'

const USER_ROLE = ROLES.indexOf('user')
const ASSISTANT_ROLE = ROLES.indexOf('assistant')
const NOT_TYPED = DUPLICATE | REPLAYED | INJECTED

/**
 * Session by session, so that one log after the other is opened. What a sub-agent is asked was written by its parent. Of a log that
 * was trimmed to its events all rows come that say something: which of them were typed, their bodies tell.
 */
export function readPromptRows(db: Db): readonly IndexedMessage[] {
  const rows = db
    .prepare(
      `SELECT t.id AS session, ${MESSAGE_COLUMNS} FROM session t CROSS JOIN message m ON m.session_id = t.id
       WHERE t.relation IS NOT 'subagent' AND m.kind & ${NOT_TYPED} = 0 AND (m.kind & 7 = ${USER_ROLE} OR NOT EXISTS
         (SELECT 1 FROM message o WHERE o.session_id = t.id AND o.kind & 7 IN (${USER_ROLE}, ${ASSISTANT_ROLE})))
       ORDER BY t.id, m.line, m.part`,
    )
    .all() as (MessageRow & { session: number })[]
  const events = new Map<number, boolean>()
  const isTrimmed = (session: number): boolean => {
    const known = events.get(session) ?? !hasReplayedMessages(db, session)
    events.set(session, known)
    return known
  }
  return rows.filter(({ kind, session }) => roleOfKind(kind) === 'user' || isTrimmed(session)).map(toIndexedMessage)
}

/** What people and models said before a fork lies aside. */
function hasReplayedMessages(db: Db, session: number): boolean {
  const unsearchable = readUnsearchableFrom(db, session, START_POSITION, true, 1, Number.POSITIVE_INFINITY)
  return unsearchable.some(({ kind }) => roleOfKind(kind) === 'user' || roleOfKind(kind) === 'assistant')
}
