/** A session from end to end, by its rows alone: where its turns begin, and of which kind each message is. */
import { type Instant, instantOf, messageId, type SessionId } from '../../model/ids.ts'
import type { Db } from '../open.ts'
import { DUPLICATE, ERROR, INJECTED, REPLAYED, roleOf, typeOf } from '../rows/kind.ts'
import { timeOf } from '../rows/time-id.ts'
import { plucked, prepared } from './statements.ts'

export interface LaidTurn {
  /** Of the prompt. */
  readonly message: string
  /** Messages of the session before it. */
  readonly offset: number
  /** Up to the next turn. */
  readonly messages: number
  readonly started_at: Instant
  readonly ended_at: Instant
  readonly tools: number
  readonly errors: number
}

export interface Layout {
  readonly total: number
  /** What stands before the first prompt is in none of them. */
  readonly turns: readonly LaidTurn[]
  /**
   * A letter for each message: u prompt, a answer, c call, r result, e error, i injected, s system, h header, m event that says
   * something, x event that does not, d duplicate, p copied from another session.
   */
  readonly shape: string
}

interface Row {
  readonly id: number
  readonly line: number
  readonly part: number
  readonly kind: number
  readonly rest: number
  readonly says: number
}

export const NO_LAYOUT: Layout = { total: 0, turns: [], shape: '' }

/** Events that were not told otherwise are all that is left of some logs: what they say is in the index, and nothing else is. */
export function layoutOf(db: Db, session: SessionId): Layout {
  const id = plucked(db, 'SELECT id FROM session WHERE name = ?').get(session) as number | undefined
  if (id === undefined) return NO_LAYOUT
  const rows = prepared(
    db,
    `SELECT m.id, m.line, m.part, m.kind, m.rest,
       m.kind & 7 = 4 AND EXISTS (SELECT 1 FROM said_docsize d WHERE d.id = m.id) AS says
     FROM message m WHERE m.session_id = ? ORDER BY m.line, m.part`,
  ).iterate(id) as IterableIterator<Row>
  const turns: Writable<LaidTurn>[] = []
  const letters: string[] = []
  for (const row of rows) {
    const letter = letterOf(row)
    const at = instantOf(timeOf(row.id) + row.rest) ?? EPOCH
    if (letter === 'u') turns.push(begun(row, at, letters.length))
    const turn = turns.at(-1)
    if (turn && letter !== 'd' && letter !== 'p') count(turn, row, at)
    if (turn) turn.messages = letters.length + 1 - turn.offset
    letters.push(letter)
  }
  return { total: letters.length, turns, shape: letters.join('') }
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

const EPOCH = '1970-01-01T00:00:00.000Z' as Instant

const begun = ({ line, part }: Row, at: Instant, offset: number): Writable<LaidTurn> => ({
  message: messageId(at, line, part),
  offset,
  messages: 1,
  started_at: at,
  ended_at: at,
  tools: 0,
  errors: 0,
})

function count(turn: Writable<LaidTurn>, { kind }: Row, at: Instant): void {
  if (at > turn.ended_at) turn.ended_at = at
  if (typeOf(kind) === 'tool_call') turn.tools++
  if ((kind & ERROR) !== 0) turn.errors++
}

function letterOf({ kind, says }: Row): string {
  if ((kind & REPLAYED) !== 0) return 'p'
  if ((kind & DUPLICATE) !== 0) return 'd'
  if ((kind & ERROR) !== 0) return 'e'
  const type = typeOf(kind)
  if (type === 'session') return 'h'
  if (type === 'tool_call') return 'c'
  if (type === 'tool_result') return 'r'
  if ((kind & INJECTED) !== 0) return 'i'
  const role = roleOf(kind)
  if (role === 'user') return 'u'
  if (role === 'assistant') return 'a'
  if (role === 'system') return 's'
  return role === 'meta' && says === 0 ? 'x' : 'm'
}
