/** The layout of a session, computed from its rows alone: where turns begin, and the kind of each message. */
import type { Db } from '../lib/sqlite/own-database.ts'
import { prepareAsArrays, prepareFirstColumn } from '../lib/sqlite/statements.ts'
import { type Instant, makeMessageId, type SessionId } from '../model/ids.ts'
import {
  DUPLICATE,
  ERROR,
  fromStoredTime,
  INJECTED,
  instantOf,
  REPLAYED,
  roleOfKind,
  sourceTypeOfKind,
  timeOfId,
  UNDATED,
} from './row-encoding.ts'
import {
  comparePositions,
  countUnsearchable,
  END_POSITION,
  type MessagePosition,
  readUnsearchable,
  readUnsearchableFrom,
  START_POSITION,
} from './unsearchable-rows.ts'

export interface LayoutTurn {
  /** Id of the prompt. */
  readonly message: string
  /** Number of messages of the session before the turn. */
  readonly offset: number
  /** Number of messages up to the next turn. */
  readonly messages: number
  /** Null if the log records no time of the prompt. */
  readonly started_at: Instant | null
  readonly ended_at: Instant | null
  readonly tools: number
  readonly errors: number
}

export interface SessionLayout {
  readonly total: number
  /** Turns, without the messages before the first prompt. */
  readonly turns: readonly LayoutTurn[]
  /**
   * One letter per message: u prompt, a answer, c call, r result, e error, i injected, s system, h header, m event with
   * text, x event without text, d duplicate, p copied from another session.
   */
  readonly shape: string
  /** Positions of messages at a fixed interval, from the first. Windows are located from the nearest one. */
  readonly anchors: readonly Anchor[]
  /** Where to continue once the session has grown. */
  readonly mark?: LayoutCheckpoint
}

/** An anchor before the last one, with the state at that point. */
interface LayoutCheckpoint extends Anchor {
  readonly offset: number
  /** The turn that contains the anchor, up to it, and the number of turns so far. */
  readonly turn: OpenTurn | undefined
  readonly turns: number
  readonly sum: string
}

export interface Anchor {
  readonly line: number
  readonly part: number
}

export const ANCHOR_EVERY = 512

/** Arrays of numbers where possible, because up to a hundred thousand rows are read at once. */
type LayoutRow = readonly [id: number, line: number, part: number, kind: number, rest: number]

export const EMPTY_LAYOUT: SessionLayout = { total: 0, turns: [], shape: '', anchors: [] }

/** @param before the previous layout; only rows added since then are read */
export function readSessionLayout(db: Db, session: SessionId, before = EMPTY_LAYOUT): SessionLayout {
  const id = sessionRowId(db, session)
  if (id === undefined) return EMPTY_LAYOUT
  const from = before.mark?.sum === checksumBefore(db, id, before.mark) ? before.mark : undefined
  const turns: OpenTurn[] = from?.turn ? [{ ...from.turn }] : []
  const isDone = from ? before.turns.slice(0, from.turns - turns.length) : []
  const anchors = from ? before.anchors.slice(0, from.offset / ANCHOR_EVERY) : []
  let shape = from ? before.shape.slice(0, from.offset) : ''
  let total = from?.offset ?? 0
  const checkpoints: Omit<LayoutCheckpoint, 'sum'>[] = []
  for (const { line, part, kind, at, isAside: isUnsearchable } of readAllRows(db, id, from)) {
    const turn = turns.at(-1)
    if (total % ANCHOR_EVERY === 0) {
      anchors.push({ line, part })
      checkpoints.splice(0, checkpoints.length - 1)
      checkpoints.push({ line, part, offset: total, turn: turn && { ...turn }, turns: isDone.length + turns.length })
    }
    const letter = shapeCodeOf(kind, isUnsearchable)
    if (letter === 'u') turns.push(beginTurn({ line, part, offset: total, at, isDated: (kind & UNDATED) === 0 }))
    const currentTurn = turns.at(-1)
    if (currentTurn) countMessage(currentTurn, kind, letter, at)
    shape += letter
    total++
  }
  const checkpoint = checkpoints.length > 1 ? checkpoints[0] : from
  return {
    total,
    turns: [...isDone, ...turns.map(toLayoutTurn)],
    shape,
    anchors,
    ...(checkpoint && {
      mark: checkpoint === from ? from : { ...checkpoint, sum: checksumBefore(db, id, checkpoint) ?? '' },
    }),
  }
}

/** Changes when the messages before a position change. Ids are times. */
function checksumBefore(db: Db, session: number, position: Anchor | undefined): string | undefined {
  if (!position) return undefined
  const sql = 'SELECT count(*), total(id) FROM message WHERE session_id = ? AND (line, part) < (?, ?)'
  const [found, ids] = prepareAsArrays(db, sql).get(session, position.line, position.part) as [number, number]
  return `${found} ${ids} ${countUnsearchable(db, session, START_POSITION, [position.line, position.part])}`
}

interface RowPosition extends Anchor {
  readonly id: number
  readonly kind: number
  readonly at: number
  readonly isAside: boolean
}

/** Searchable and unsearchable rows in source order. @param from the first position returned */
function* readAllRows(db: Db, session: number, from?: Anchor): Generator<RowPosition> {
  const position: MessagePosition = from ? [from.line, from.part] : START_POSITION
  const unsearchable = from
    ? readUnsearchableFrom(db, session, position, false, 1, Number.POSITIVE_INFINITY).values()
    : readUnsearchable(db, session)
  let next = unsearchable.next()
  const rows = prepareAsArrays(
    db,
    'SELECT id, line, part, kind, rest FROM message WHERE session_id = ? AND (line, part) >= (?, ?) ORDER BY line, part',
  ).iterate(session, ...position) as IterableIterator<LayoutRow>
  for (const [id, line, part, kind, rest] of rows) {
    for (
      ;
      !next.done && comparePositions([next.value.line, next.value.part], [line, part]) < 0;
      next = unsearchable.next()
    )
      yield { ...next.value, id: 0, isAside: true }
    yield { id, line, part, kind, at: timeOfId(id) + rest, isAside: false }
  }
  for (; !next.done; next = unsearchable.next()) yield { ...next.value, id: 0, isAside: true }
}

/** Times in milliseconds. */
interface OpenTurn extends Anchor {
  readonly offset: number
  messages: number
  readonly from: number
  /** The greatest recorded time; -1 if there is none. */
  to: number
  readonly isDated: boolean
  tools: number
  errors: number
}

const beginTurn = ({ at, ...start }: Anchor & { offset: number; at: number; isDated: boolean }): OpenTurn => ({
  ...start,
  messages: 0,
  from: at,
  to: start.isDated ? at : -1,
  tools: 0,
  errors: 0,
})

function countMessage(turn: OpenTurn, kind: number, letter: string, at: number): void {
  turn.messages++
  if (letter === 'd' || letter === 'p') return
  if (at > turn.to && (kind & UNDATED) === 0) turn.to = at
  if (sourceTypeOfKind(kind) === 'tool_call') turn.tools++
  if ((kind & ERROR) !== 0) turn.errors++
}

function toLayoutTurn({ line, part, from, to, isDated, ...turn }: OpenTurn): LayoutTurn {
  const time = instantOf(from)
  return {
    message: makeMessageId(time, line, part),
    started_at: isDated ? time : null,
    ended_at: fromStoredTime(to),
    ...turn,
  }
}

/** An event with text is searchable, so it is never among the unsearchable rows. */
function shapeCodeOf(kind: number, isUnsearchable: boolean): string {
  if ((kind & REPLAYED) !== 0) return 'p'
  if ((kind & DUPLICATE) !== 0) return 'd'
  if ((kind & ERROR) !== 0) return 'e'
  const type = sourceTypeOfKind(kind)
  if (type === 'session') return 'h'
  if (type === 'tool_call') return 'c'
  if (type === 'tool_result') return 'r'
  if ((kind & INJECTED) !== 0) return 'i'
  const role = roleOfKind(kind)
  if (role === 'user') return 'u'
  if (role === 'assistant') return 'a'
  if (role === 'system') return 's'
  return role === 'meta' && isUnsearchable ? 'x' : 'm'
}

/** The last anchor with at most this many messages before it. */
export function anchorBefore(
  { anchors }: SessionLayout,
  offset: number,
): (Anchor & { readonly offset: number }) | undefined {
  const at = Math.min(Math.floor(offset / ANCHOR_EVERY), anchors.length - 1)
  const anchor = anchors[at]
  return anchor && { ...anchor, offset: at * ANCHOR_EVERY }
}

/** The last anchor at or before a message. */
export function anchorOf(layout: SessionLayout, { line, part }: Anchor): ReturnType<typeof anchorBefore> {
  const at = layout.anchors.findLastIndex((one) => one.line < line || (one.line === line && one.part <= part))
  return at < 0 ? undefined : anchorBefore(layout, at * ANCHOR_EVERY)
}

const FIRST_ANCHOR = { offset: 0, line: START_POSITION[0], part: START_POSITION[1] }

type KnownAnchor = NonNullable<ReturnType<typeof anchorBefore>>

/** The position of the message that has this many messages before it. Reads all rows from the anchor on. */
export function positionAt(
  db: Db,
  session: number,
  offset: number,
  from: KnownAnchor = FIRST_ANCHOR,
): MessagePosition | undefined {
  const distance = offset - from.offset
  const rows = prepareAsArrays(
    db,
    'SELECT line, part FROM message WHERE session_id = ? AND (line, part) >= (?, ?) ORDER BY line, part LIMIT ?',
  ).all(session, from.line, from.part, distance + 1) as MessagePosition[]
  const unsearchable = readUnsearchableFrom(db, session, [from.line, from.part], false, 1, distance + 1)
  if (unsearchable.length === 0) return rows[distance]
  return [...rows, ...unsearchable.map(({ line, part }): MessagePosition => [line, part])].sort(comparePositions)[
    distance
  ]
}

/** Number of messages of the session before a position. */
export function readOffset(
  db: Db,
  session: SessionId,
  { line, part }: Anchor,
  from: KnownAnchor = FIRST_ANCHOR,
): number {
  const id = sessionRowId(db, session)
  if (id === undefined) return 0
  const sql = `SELECT count(*) FROM message WHERE session_id = ? AND (line, part) >= (?, ?) AND (line, part) < (?, ?)`
  const found = prepareFirstColumn(db, sql).get(id, from.line, from.part, line, part) as number
  return from.offset + found + countUnsearchable(db, id, [from.line, from.part], [line, part])
}

/** For each row of a session, the number of messages before it. */
export function readOffsets(db: Db, session: SessionId, rows: ReadonlySet<number>): ReadonlyMap<number, number> {
  const id = sessionRowId(db, session)
  const offsets = new Map<number, number>()
  let offset = 0
  for (const row of id === undefined ? [] : readAllRows(db, id)) {
    if (rows.has(row.id)) offsets.set(row.id, offset)
    offset++
  }
  return offsets
}

export function countMessages(db: Db, session: SessionId): number {
  const id = sessionRowId(db, session)
  if (id === undefined) return 0
  const found = prepareFirstColumn(db, 'SELECT count(*) FROM message WHERE session_id = ?').get(id) as number
  return found + countUnsearchable(db, id, START_POSITION, END_POSITION)
}

const sessionRowId = (db: Db, session: SessionId): number | undefined =>
  prepareFirstColumn(db, 'SELECT id FROM session WHERE name = ?').get(session) as number | undefined
