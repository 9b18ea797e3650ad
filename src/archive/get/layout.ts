/** A session from end to end, by its rows alone: where its turns begin, and of which kind each message is. */
import { type Instant, instantOf, messageId, type SessionId } from '../../model/ids.ts'
import type { Db } from '../open.ts'
import { DUPLICATE, ERROR, INJECTED, REPLAYED, roleOf, typeOf } from '../rows/kind.ts'
import { timeOf } from '../rows/time-id.ts'
import { listed, plucked } from './statements.ts'

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
  /** The place of every so many-th message, from the first: windows are found from there. */
  readonly anchors: readonly Anchor[]
}

export interface Anchor {
  readonly line: number
  readonly part: number
}

export const ANCHOR_EVERY = 512

/** A hundred thousand of them are read at once: as lists, and as numbers, for as long as that will do. */
type Row = readonly [id: number, line: number, part: number, kind: number, rest: number, says: number]

export const NO_LAYOUT: Layout = { total: 0, turns: [], shape: '', anchors: [] }

/** Events that were not told otherwise are all that is left of some logs: what they say is in the index, and nothing else is. */
export function layoutOf(db: Db, session: SessionId): Layout {
  const id = plucked(db, 'SELECT id FROM session WHERE name = ?').get(session) as number | undefined
  if (id === undefined) return NO_LAYOUT
  const rows = listed(
    db,
    `SELECT m.id, m.line, m.part, m.kind, m.rest,
       m.kind & 7 = 4 AND EXISTS (SELECT 1 FROM said_docsize d WHERE d.id = m.id)
     FROM message m WHERE m.session_id = ? ORDER BY m.line, m.part`,
  ).iterate(id) as IterableIterator<Row>
  const turns: Open[] = []
  const anchors: Anchor[] = []
  let shape = ''
  let total = 0
  for (const [row, line, part, kind, rest, says] of rows) {
    if (total % ANCHOR_EVERY === 0) anchors.push({ line, part })
    const letter = letterOf(kind, says)
    const at = timeOf(row) + rest
    if (letter === 'u') turns.push({ line, part, offset: total, messages: 0, from: at, to: at, tools: 0, errors: 0 })
    const turn = turns.at(-1)
    if (turn) count(turn, kind, letter, at)
    shape += letter
    total++
  }
  return { total, turns: turns.map(laid), shape, anchors }
}

/** Times in milliseconds. */
interface Open extends Anchor {
  readonly offset: number
  messages: number
  readonly from: number
  to: number
  tools: number
  errors: number
}

function count(turn: Open, kind: number, letter: string, at: number): void {
  turn.messages++
  if (letter === 'd' || letter === 'p') return
  if (at > turn.to) turn.to = at
  if (typeOf(kind) === 'tool_call') turn.tools++
  if ((kind & ERROR) !== 0) turn.errors++
}

const EPOCH = '1970-01-01T00:00:00.000Z' as Instant

function laid({ line, part, from, to, ...turn }: Open): LaidTurn {
  const started_at = instantOf(from) ?? EPOCH
  return { message: messageId(started_at, line, part), started_at, ended_at: instantOf(to) ?? EPOCH, ...turn }
}

function letterOf(kind: number, says: number): string {
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

/** The last anchor with no more than so many messages before it. */
export function anchorBefore({ anchors }: Layout, offset: number): (Anchor & { readonly offset: number }) | undefined {
  const at = Math.min(Math.floor(offset / ANCHOR_EVERY), anchors.length - 1)
  const anchor = anchors[at]
  return anchor && { ...anchor, offset: at * ANCHOR_EVERY }
}

/** The last anchor that does not stand after a message. */
export function anchorOf(layout: Layout, { line, part }: Anchor): ReturnType<typeof anchorBefore> {
  const at = layout.anchors.findLastIndex((one) => one.line < line || (one.line === line && one.part <= part))
  return at < 0 ? undefined : anchorBefore(layout, at * ANCHOR_EVERY)
}
