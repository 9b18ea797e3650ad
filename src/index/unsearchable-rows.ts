/**
 * Rows that no search returns (copies, token counts). Many are packed into one row and read only when a session is
 * opened.
 */
import type { Db } from '../lib/sqlite/own-database.ts'
import { prepareCached } from '../lib/sqlite/statements.ts'
import { type PackableRow, packRows, type UnsearchableRow, unpackRows } from './packed-rows.ts'

/** Consecutive rows of one session, with their first and last line. */
export interface UnsearchableBatch {
  readonly first: number
  readonly last: number
  readonly count: number
  readonly packed: Uint8Array
}

/** Larger batches cost more to unpack for a few rows; smaller ones take more space. */
const ROWS_PER_BATCH = 512

export function toUnsearchableBatches(rows: readonly PackableRow[]): readonly UnsearchableBatch[] {
  const batches: UnsearchableBatch[] = []
  for (let at = 0; at < rows.length; at += ROWS_PER_BATCH) {
    const some = rows.slice(at, at + ROWS_PER_BATCH)
    const lines = some.map(({ line }) => line)
    const packed = packRows(some)
    batches.push({ first: Math.min(...lines), last: Math.max(...lines), count: some.length, packed })
  }
  return batches
}

export type MessagePosition = readonly [line: number, part: number]

/** Sorts before every message. */
export const START_POSITION: MessagePosition = [-1, 0]
/** Sorts after every message. */
export const END_POSITION: MessagePosition = [Number.MAX_SAFE_INTEGER, 0]

/** Negative if `a` comes before `b`. */
export const comparePositions = (a: MessagePosition, b: MessagePosition): number => a[0] - b[0] || a[1] - b[1]

const positionOfRow = ({ line, part }: UnsearchableRow): MessagePosition => [line, part]

/**
 * Reads forward or backward from a position, which `isExclusive` leaves out. Returns at least the first `limit` rows.
 */
export function readUnsearchableFrom(
  db: Db,
  session: number,
  from: MessagePosition,
  isExclusive: boolean,
  direction: 1 | -1,
  limit: number,
): readonly UnsearchableRow[] {
  if (limit <= 0) return []
  // The + keeps SQLite from using the index for the condition. It then serves the order, so that no more rows are
  // unpacked than needed.
  const [border, order] = direction === 1 ? ['+last_line >= ?', 'first_line'] : ['+first_line <= ?', 'last_line DESC']
  const pieces = prepareCached(
    db,
    `SELECT first_line, last_line, packed FROM aside WHERE session_id = ? AND ${border} ORDER BY ${order}`,
  ).iterate(session, from[0]) as Iterable<{ first_line: number; last_line: number; packed: Uint8Array }>
  const found: UnsearchableRow[] = []
  for (const { first_line, last_line, packed } of pieces) {
    const end = found[limit - 1]
    if (end && (direction === 1 ? first_line > end.line : last_line < end.line)) break
    for (const row of unpackRows(packed)) {
      const beyond = comparePositions(positionOfRow(row), from) * direction
      if (beyond > 0 || (beyond === 0 && !isExclusive)) found.push(row)
    }
    found.sort((a, b) => comparePositions(positionOfRow(a), positionOfRow(b)) * direction)
  }
  return found
}

/** All rows in order. Holds only overlapping batches in memory. */
export function* readUnsearchable(db: Db, session: number): Generator<UnsearchableRow> {
  const pieces = prepareCached(
    db,
    'SELECT first_line, packed FROM aside WHERE session_id = ? ORDER BY first_line',
  ).iterate(session) as Iterable<{ first_line: number; packed: Uint8Array }>
  let pending: UnsearchableRow[] = []
  for (const { first_line, packed } of pieces) {
    const firstLater = pending.findIndex(({ line }) => line >= first_line)
    yield* firstLater < 0 ? pending : pending.slice(0, firstLater)
    pending = [...(firstLater < 0 ? [] : pending.slice(firstLater)), ...unpackRows(packed)]
    pending.sort((a, b) => comparePositions(positionOfRow(a), positionOfRow(b)))
  }
  yield* pending
}

/** Number of rows from `from` up to, not including, `to`. */
export function countUnsearchable(db: Db, session: number, from: MessagePosition, to: MessagePosition): number {
  const batches = prepareCached(
    db,
    'SELECT id, first_line > ? AND last_line < ? AS is_within, count FROM aside WHERE session_id = ? AND last_line >= ? AND +first_line <= ?',
  ).all(from[0], to[0], session, from[0], to[0]) as { id: number; is_within: number; count: number }[]
  const piece = prepareCached(db, 'SELECT packed FROM aside WHERE id = ?')
  return batches.reduce((sum, { id, is_within, count }) => {
    if (is_within === 1) return sum + count
    const { packed } = piece.get(id) as { packed: Uint8Array }
    const within = unpackRows(packed)
      .map(positionOfRow)
      .filter((position) => comparePositions(position, from) >= 0 && comparePositions(position, to) < 0)
    return sum + within.length
  }, 0)
}
