/** The messages of a session that no search finds, in the order of their source. */
import type { Db } from '../open.ts'
import { type AsideRow, unpackAside } from '../rows/aside.ts'
import { prepared } from './statements.ts'

export type Place = readonly [line: number, part: number]

/** Before everything. */
export const START: Place = [-1, 0]
/** After everything. */
export const END: Place = [Number.MAX_SAFE_INTEGER, 0]

/** Before or after each other. */
export const compare = (a: Place, b: Place): number => a[0] - b[0] || a[1] - b[1]

const placeOf = ({ line, part }: AsideRow): Place => [line, part]

/** From a place on, or back from it; without the place itself where `open` says so. The first `limit` are all there. */
export function asideFrom(
  db: Db,
  session: number,
  from: Place,
  open: boolean,
  direction: 1 | -1,
  limit: number,
): readonly AsideRow[] {
  if (limit <= 0) return []
  // +: the index is for the order, so that no more is unpacked than is wanted.
  const [border, order] = direction === 1 ? ['+last_line >= ?', 'first_line'] : ['+first_line <= ?', 'last_line DESC']
  const pieces = prepared(
    db,
    `SELECT first_line, last_line, packed FROM aside WHERE session_id = ? AND ${border} ORDER BY ${order}`,
  ).iterate(session, from[0]) as Iterable<{ first_line: number; last_line: number; packed: Uint8Array }>
  const found: AsideRow[] = []
  for (const { first_line, last_line, packed } of pieces) {
    const end = found[limit - 1]
    if (end && (direction === 1 ? first_line > end.line : last_line < end.line)) break
    for (const row of unpackAside(packed)) {
      const beyond = compare(placeOf(row), from) * direction
      if (beyond > 0 || (beyond === 0 && !open)) found.push(row)
    }
    found.sort((a, b) => compare(placeOf(a), placeOf(b)) * direction)
  }
  return found
}

/** All of them, in order; no more of them are held than overlap. */
export function* asideOf(db: Db, session: number): Generator<AsideRow> {
  const pieces = prepared(db, 'SELECT first_line, packed FROM aside WHERE session_id = ? ORDER BY first_line').iterate(
    session,
  ) as Iterable<{ first_line: number; packed: Uint8Array }>
  let held: AsideRow[] = []
  for (const { first_line, packed } of pieces) {
    const later = held.findIndex(({ line }) => line >= first_line)
    yield* later < 0 ? held : held.slice(0, later)
    held = [...(later < 0 ? [] : held.slice(later)), ...unpackAside(packed)]
    held.sort((a, b) => compare(placeOf(a), placeOf(b)))
  }
  yield* held
}

/** How many lie in a stretch, the end not among them. */
export function countAside(db: Db, session: number, from: Place, to: Place): number {
  const whole = prepared(
    db,
    'SELECT id, first_line > ? AND last_line < ? AS is_within, count FROM aside WHERE session_id = ? AND last_line >= ? AND +first_line <= ?',
  ).all(from[0], to[0], session, from[0], to[0]) as { id: number; is_within: number; count: number }[]
  const piece = prepared(db, 'SELECT packed FROM aside WHERE id = ?')
  return whole.reduce((sum, { id, is_within, count }) => {
    if (is_within === 1) return sum + count
    const { packed } = piece.get(id) as { packed: Uint8Array }
    const within = unpackAside(packed)
      .map(placeOf)
      .filter((place) => compare(place, from) >= 0 && compare(place, to) < 0)
    return sum + within.length
  }, 0)
}
