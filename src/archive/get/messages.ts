/** A stretch of a session's messages, in the order of their source. */
import { type Instant, instantOf, messageId, type SessionId } from '../../model/ids.ts'
import type { Db } from '../open.ts'
import type { Known } from '../record.ts'
import { DUPLICATE, ERROR, IMAGE, INJECTED, REPLAYED, roleOf, typeOf } from '../rows/kind.ts'
import { unpackLocator } from '../rows/locator.ts'
import { timeOf } from '../rows/time-id.ts'
import { asideFrom, compare, END, type Place, START } from './aside.ts'
import { placeAt } from './layout.ts'
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
  const page = (sign: '<' | '>' | '>=', place: Place, most: number): RawMessage[] => {
    const [direction, way] = sign === '<' ? (['DESC', -1] as const) : (['ASC', 1] as const)
    const found = prepared(
      db,
      `SELECT ${MESSAGE_COLUMNS} FROM message m JOIN session t ON t.id = m.session_id
       WHERE m.session_id = ? AND (m.line, m.part) ${sign} (?, ?) ORDER BY m.line ${direction}, m.part ${direction} LIMIT ?`,
    ).all(id, ...place, most) as RawMessage[]
    const aside = asideFrom(db, id, place, sign !== '>=', way, most)
    if (aside.length === 0) return found
    return [...found, ...aside.map(({ at, ...row }) => ({ id: 0, name: session, rest: at, ...row }))]
      .sort((a, b) => compare([a.line, a.part], [b.line, b.part]) * way)
      .slice(0, most)
  }
  if (around !== undefined) {
    const place = placeOf(around)
    const earlier = page('<', place, Math.floor(limit / 2)).reverse()
    return [...earlier, ...page('>=', place, limit - earlier.length)].map(knownOf)
  }
  if (before !== undefined) return page('<', placeOf(before), limit).reverse().map(knownOf)
  if (end) return page('<', END, limit).reverse().map(knownOf)
  if (offset !== undefined) {
    const place = placeAt(db, id, offset, anchor)
    return place ? page('>=', place, limit).map(knownOf) : []
  }
  return page('>', after === undefined ? START : placeOf(after), limit).map(knownOf)
}

const PLACE = /#(\d+)(?:\.(\d+))?$/

/** What is no id stands before everything. */
export function placeOf(id: string): Place {
  const [, line, part] = PLACE.exec(id) ?? []
  return line === undefined ? START : [Number(line), Number(part ?? 1)]
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
