/** A stretch of a session's messages, in the order of their source. */
import { type Instant, instantOf, messageId, type SessionId } from '../../model/ids.ts'
import type { Db } from '../open.ts'
import type { Known } from '../record.ts'
import { DUPLICATE, ERROR, IMAGE, INJECTED, REPLAYED, roleOf, typeOf } from '../rows/kind.ts'
import { unpackLocator } from '../rows/locator.ts'
import { timeOf } from '../rows/time-id.ts'
import { plucked, prepared } from './statements.ts'

export interface WindowOptions {
  /** Ids of messages. `around` is in the middle; `after` and `before` are not among the answers. */
  readonly around?: string
  readonly after?: string
  readonly before?: string
  /** So many messages of the session stand before the first answer. */
  readonly offset?: number
  /** The place of a message that is known to have so many before it, none of them after `offset`. */
  readonly anchor?: { readonly offset: number; readonly line: number; readonly part: number }
  /** The last ones. */
  readonly end?: true
  readonly limit?: number
}

export interface RawMessage {
  readonly id: number
  readonly name: SessionId
  readonly line: number
  readonly part: number
  readonly kind: number
  readonly tool: string | null
  readonly rest: number
  readonly locator: Uint8Array
}

export const MESSAGE_COLUMNS = `m.id, t.name, m.line, m.part, m.kind, (SELECT text FROM word WHERE id = m.tool) AS tool, m.rest, m.locator`

const PAGE = 100

export function windowOf(db: Db, session: SessionId, options: WindowOptions): readonly Known[] {
  const { around, after, before, offset, anchor, end, limit = PAGE } = options
  const id = plucked(db, 'SELECT id FROM session WHERE name = ?').get(session) as number | undefined
  if (id === undefined) return []
  const page = (sql: string, place: readonly number[], direction: 'ASC' | 'DESC', most: number): RawMessage[] =>
    prepared(
      db,
      `SELECT ${MESSAGE_COLUMNS} FROM message m JOIN session t ON t.id = m.session_id
       WHERE m.session_id = ? ${sql} ORDER BY m.line ${direction}, m.part ${direction} LIMIT ?`,
    ).all(id, ...place, most) as RawMessage[]
  if (around !== undefined) {
    const place = placeOf(around)
    const earlier = page('AND (m.line, m.part) < (?, ?)', place, 'DESC', Math.floor(limit / 2)).reverse()
    return [...earlier, ...page('AND (m.line, m.part) >= (?, ?)', place, 'ASC', limit - earlier.length)].map(knownOf)
  }
  if (before !== undefined)
    return page('AND (m.line, m.part) < (?, ?)', placeOf(before), 'DESC', limit).reverse().map(knownOf)
  if (after !== undefined) return page('AND (m.line, m.part) > (?, ?)', placeOf(after), 'ASC', limit).map(knownOf)
  if (end) return page('', [], 'DESC', limit).reverse().map(knownOf)
  if (offset !== undefined) {
    const place = placeAt(db, id, offset, anchor)
    return place ? page('AND (m.line, m.part) >= (?, ?)', place, 'ASC', limit).map(knownOf) : []
  }
  return page('', [], 'ASC', limit).map(knownOf)
}

const FIRST = { offset: 0, line: -1, part: 0 }

/** Goes over an index alone: a hundred thousand messages take a few milliseconds. */
function placeAt(
  db: Db,
  session: number,
  offset: number,
  from: NonNullable<WindowOptions['anchor']> = FIRST,
): readonly [line: number, part: number] | undefined {
  const sql = `SELECT line, part FROM message WHERE session_id = ? AND (line, part) >= (?, ?)
    ORDER BY line, part LIMIT 1 OFFSET ?`
  const found = prepared(db, sql).get(session, from.line, from.part, offset - from.offset) as
    | { line: number; part: number }
    | undefined
  return found && [found.line, found.part]
}

/** How many messages of the session stand before this one. */
export function offsetOf(
  db: Db,
  session: SessionId,
  { line, part }: Pick<Known, 'line' | 'part'>,
  from: NonNullable<WindowOptions['anchor']> = FIRST,
): number {
  const sql = `SELECT count(*) FROM message
    WHERE session_id = (SELECT id FROM session WHERE name = ?) AND (line, part) >= (?, ?) AND (line, part) < (?, ?)`
  return from.offset + (plucked(db, sql).get(session, from.line, from.part, line, part) as number)
}

export const countOf = (db: Db, session: SessionId): number =>
  plucked(db, 'SELECT count(*) FROM message WHERE session_id = (SELECT id FROM session WHERE name = ?)').get(
    session,
  ) as number

const PLACE = /#(\d+)(?:\.(\d+))?$/

/** What is no id stands before everything. */
export function placeOf(id: string): readonly [line: number, part: number] {
  const [, line, part] = PLACE.exec(id) ?? []
  return line === undefined ? [-1, 0] : [Number(line), Number(part ?? 1)]
}

const EPOCH = '1970-01-01T00:00:00.000Z' as Instant

export function knownOf({ id, name, line, part, kind, tool, rest, locator }: RawMessage): Known {
  const timestamp = instantOf(timeOf(id) + rest) ?? EPOCH
  return {
    id: messageId(timestamp, line, part),
    row: id,
    session: name,
    timestamp,
    line,
    part,
    role: roleOf(kind),
    source_type: typeOf(kind),
    ...(tool !== null && { tool }),
    duplicate: (kind & DUPLICATE) !== 0,
    replayed: (kind & REPLAYED) !== 0,
    injected: (kind & INJECTED) !== 0,
    error: (kind & ERROR) !== 0,
    image: (kind & IMAGE) !== 0,
    locator: unpackLocator(locator, { line, time: timestamp, session: name }),
  }
}
