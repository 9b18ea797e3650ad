/** A session from end to end, by its rows alone: where its turns begin, and of which kind each message is. */
import { type Instant, instantOf, messageId, type SessionId } from '../../model/ids.ts'
import type { Db } from '../open.ts'
import { DUPLICATE, ERROR, INJECTED, REPLAYED, roleOf, typeOf } from '../rows/kind.ts'
import { timeOf } from '../rows/time-id.ts'
import { asideFrom, asideOf, compare, countAside, END, type Place, START } from './aside.ts'
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
  /** Where it can be gone on with when the session has grown. */
  readonly mark?: LayoutMark
}

/** An anchor before the last one, and what is known of all that stands before it. */
interface LayoutMark extends Anchor {
  readonly offset: number
  /** The turn that it stands in, as far as it goes there, and how many there are up to that. */
  readonly turn: Open | undefined
  readonly turns: number
  readonly sum: string
}

export interface Anchor {
  readonly line: number
  readonly part: number
}

export const ANCHOR_EVERY = 512

/** A hundred thousand of them are read at once: as lists, and as numbers, for as long as that will do. */
type Row = readonly [id: number, line: number, part: number, kind: number, rest: number]

export const NO_LAYOUT: Layout = { total: 0, turns: [], shape: '', anchors: [] }

/** @param before the layout that it had: what only grew is not gone over again */
export function layoutOf(db: Db, session: SessionId, before = NO_LAYOUT): Layout {
  const id = numberOf(db, session)
  if (id === undefined) return NO_LAYOUT
  const from = before.mark?.sum === sumBefore(db, id, before.mark) ? before.mark : undefined
  const turns: Open[] = from?.turn ? [{ ...from.turn }] : []
  const isDone = from ? before.turns.slice(0, from.turns - turns.length) : []
  const anchors = from ? before.anchors.slice(0, from.offset / ANCHOR_EVERY) : []
  let shape = from ? before.shape.slice(0, from.offset) : ''
  let total = from?.offset ?? 0
  const marks: Omit<LayoutMark, 'sum'>[] = []
  for (const { line, part, kind, at, isAside } of everything(db, id, from)) {
    const turn = turns.at(-1)
    if (total % ANCHOR_EVERY === 0) {
      anchors.push({ line, part })
      marks.splice(0, marks.length - 1)
      marks.push({ line, part, offset: total, turn: turn && { ...turn }, turns: isDone.length + turns.length })
    }
    const letter = letterOf(kind, isAside)
    if (letter === 'u') turns.push({ line, part, offset: total, messages: 0, from: at, to: at, tools: 0, errors: 0 })
    const open = turns.at(-1)
    if (open) count(open, kind, letter, at)
    shape += letter
    total++
  }
  const mark = marks.length > 1 ? marks[0] : from
  return {
    total,
    turns: [...isDone, ...turns.map(laid)],
    shape,
    anchors,
    ...(mark && { mark: mark === from ? from : { ...mark, sum: sumBefore(db, id, mark) ?? '' } }),
  }
}

/** Another one when other messages stand before a place than stood there. Ids are times. */
function sumBefore(db: Db, session: number, place: Anchor | undefined): string | undefined {
  if (!place) return undefined
  const sql = 'SELECT count(*), total(id) FROM message WHERE session_id = ? AND (line, part) < (?, ?)'
  const [found, ids] = listed(db, sql).get(session, place.line, place.part) as [number, number]
  return `${found} ${ids} ${countAside(db, session, START, [place.line, place.part])}`
}

interface Standing extends Anchor {
  readonly id: number
  readonly kind: number
  readonly at: number
  readonly isAside: boolean
}

/** Those that a search finds and those that lie aside, in the order of their source. @param from a place: that one and all after it */
function* everything(db: Db, session: number, from?: Anchor): Generator<Standing> {
  const place: Place = from ? [from.line, from.part] : START
  const aside = from ? asideFrom(db, session, place, false, 1, Number.POSITIVE_INFINITY).values() : asideOf(db, session)
  let next = aside.next()
  const rows = listed(
    db,
    'SELECT id, line, part, kind, rest FROM message WHERE session_id = ? AND (line, part) >= (?, ?) ORDER BY line, part',
  ).iterate(session, ...place) as IterableIterator<Row>
  for (const [id, line, part, kind, rest] of rows) {
    for (; !next.done && compare([next.value.line, next.value.part], [line, part]) < 0; next = aside.next())
      yield { ...next.value, id: 0, isAside: true }
    yield { id, line, part, kind, at: timeOf(id) + rest, isAside: false }
  }
  for (; !next.done; next = aside.next()) yield { ...next.value, id: 0, isAside: true }
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

/** An event that says something is found by a search, and so does not lie aside. */
function letterOf(kind: number, isAside: boolean): string {
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
  return role === 'meta' && isAside ? 'x' : 'm'
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

const FIRST = { offset: 0, line: START[0], part: START[1] }

type Known = NonNullable<ReturnType<typeof anchorBefore>>

/** The place of the message that has so many before it. Goes over all from the anchor on. */
export function placeAt(db: Db, session: number, offset: number, from: Known = FIRST): Place | undefined {
  const ahead = offset - from.offset
  const rows = listed(
    db,
    'SELECT line, part FROM message WHERE session_id = ? AND (line, part) >= (?, ?) ORDER BY line, part LIMIT ?',
  ).all(session, from.line, from.part, ahead + 1) as Place[]
  const aside = asideFrom(db, session, [from.line, from.part], false, 1, ahead + 1)
  if (aside.length === 0) return rows[ahead]
  return [...rows, ...aside.map(({ line, part }): Place => [line, part])].sort(compare)[ahead]
}

/** How many messages of the session stand before a place. */
export function offsetOf(db: Db, session: SessionId, { line, part }: Anchor, from: Known = FIRST): number {
  const id = numberOf(db, session)
  if (id === undefined) return 0
  const sql = `SELECT count(*) FROM message WHERE session_id = ? AND (line, part) >= (?, ?) AND (line, part) < (?, ?)`
  const found = plucked(db, sql).get(id, from.line, from.part, line, part) as number
  return from.offset + found + countAside(db, id, [from.line, from.part], [line, part])
}

/** Where rows of a session stand in it, in its order. */
export function offsetsOf(db: Db, session: SessionId, rows: ReadonlySet<number>): ReadonlyMap<number, number> {
  const id = numberOf(db, session)
  const offsets = new Map<number, number>()
  let offset = 0
  for (const row of id === undefined ? [] : everything(db, id)) {
    if (rows.has(row.id)) offsets.set(row.id, offset)
    offset++
  }
  return offsets
}

export function countOf(db: Db, session: SessionId): number {
  const id = numberOf(db, session)
  if (id === undefined) return 0
  const found = plucked(db, 'SELECT count(*) FROM message WHERE session_id = ?').get(id) as number
  return found + countAside(db, id, START, END)
}

const numberOf = (db: Db, session: SessionId): number | undefined =>
  plucked(db, 'SELECT id FROM session WHERE name = ?').get(session) as number | undefined
