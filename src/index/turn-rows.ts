/** Finds the rows of a turn: the number of the turn that a message belongs to, its prompt and its last answer. */
import type { Db } from '../lib/sqlite/own-database.ts'
import { getRow, getRows, getValue } from '../lib/sqlite/statements.ts'
import type { SessionId } from '../model/ids.ts'
import { MESSAGE_COLUMNS, type MessageRow, toIndexedMessage } from './message-window.ts'
import type { IndexedMessage } from './records.ts'
import { DUPLICATE, INJECTED, REPLAYED, ROLES } from './row-encoding.ts'

const OF_ROLE = (role: 'user' | 'assistant'): string =>
  `p.kind & 7 = ${ROLES.indexOf(role)} AND p.kind & ${DUPLICATE | REPLAYED | INJECTED} = 0`
const PROMPT = OF_ROLE('user')
const SELECT = `SELECT ${MESSAGE_COLUMNS} FROM session t CROSS JOIN message m ON m.session_id = t.id WHERE t.name = ?`
const OF_MESSAGE = (condition: string): string => condition.replaceAll('p.', 'm.')
/** Long sessions have turns with thousands of messages. */
const LAST_POSITION = Number.MAX_SAFE_INTEGER

export interface TurnRows {
  /** 1 starts at the first prompt; 0 is everything before it. */
  readonly turn: number
  readonly prompt?: IndexedMessage
  /** The last answer of the turn. */
  readonly answer?: IndexedMessage
}

type Place = Pick<IndexedMessage, 'session' | 'line' | 'part'>

export function readTurnOf(db: Db, { session, line, part }: Place): TurnRows {
  const turn =
    getValue<number>(
      db,
      `SELECT count(*) FROM session t CROSS JOIN message p ON p.session_id = t.id
       WHERE t.name = ? AND (p.line, p.part) <= (?, ?) AND ${PROMPT}`,
      session,
      line,
      part,
    ) ?? 0
  const prompt = getRow<MessageRow>(
    db,
    `${SELECT} AND (m.line, m.part) <= (?, ?) AND ${OF_MESSAGE(PROMPT)} ORDER BY m.line DESC, m.part DESC LIMIT 1`,
    session,
    line,
    part,
  )
  const next = getRow<{ line: number; part: number }>(
    db,
    `SELECT p.line, p.part FROM session t CROSS JOIN message p ON p.session_id = t.id
     WHERE t.name = ? AND (p.line, p.part) > (?, ?) AND ${PROMPT} ORDER BY p.line, p.part LIMIT 1`,
    session,
    line,
    part,
  )
  const answer = getRow<MessageRow>(
    db,
    `${SELECT} AND (m.line, m.part) < (?, ?) AND (m.line, m.part) >= (?, ?) AND ${OF_MESSAGE(OF_ROLE('assistant'))}
     ORDER BY m.line DESC, m.part DESC LIMIT 1`,
    session,
    next?.line ?? LAST_POSITION,
    next?.part ?? 0,
    prompt?.line ?? -1,
    prompt?.part ?? 0,
  )
  return {
    turn,
    ...(prompt && { prompt: toIndexedMessage(prompt) }),
    ...(answer && { answer: toIndexedMessage(answer) }),
  }
}

/** The id of the prompt that starts a turn. Undefined if the session has fewer turns. */
export function readTurnStart(db: Db, session: SessionId, turn: number): IndexedMessage | undefined {
  const row = getRow<MessageRow>(
    db,
    `${SELECT} AND ${OF_MESSAGE(PROMPT)} ORDER BY m.line, m.part LIMIT 1 OFFSET ?`,
    session,
    turn - 1,
  )
  return row && toIndexedMessage(row)
}

export const countTurns = (db: Db, session: SessionId): number =>
  getValue<number>(
    db,
    `SELECT count(*) FROM session t CROSS JOIN message p ON p.session_id = t.id WHERE t.name = ? AND ${PROMPT}`,
    session,
  ) ?? 0

/** Messages from a place on, in order, without repeats and context. */
export function readMessagesFrom(db: Db, { session, line, part }: Place, limit: number): readonly IndexedMessage[] {
  const rows = getRows<MessageRow>(
    db,
    `${SELECT} AND (m.line, m.part) >= (?, ?) AND m.kind & ${DUPLICATE | REPLAYED | INJECTED} = 0
     ORDER BY m.line, m.part LIMIT ?`,
    session,
    line,
    part,
    limit,
  )
  return rows.map(toIndexedMessage)
}

/** How many sessions have an id that starts with the text. At most two are counted. */
export const countSessionsFrom = (db: Db, start: string): number =>
  getValue<number>(
    db,
    'SELECT count(*) FROM (SELECT 1 FROM session WHERE name >= ? AND name < ? LIMIT 2)',
    start,
    `${start}\u{10ffff}`,
  ) ?? 0
