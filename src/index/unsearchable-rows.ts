/** Rows that no search finds (copies, token counts): stored many in one piece, read when somebody opens the session. */
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { ByteBuffer } from '../lib/byte-buffer.ts'
import type { Db } from '../lib/sqlite/own-database.ts'
import { LocatorReader, writeLocatorNumber, writeLocatorText } from './locator.ts'
import { prepareCached } from './statements.ts'

/** Consecutive rows of one session, with their first and last line. */
export interface UnsearchableBatch {
  readonly first: number
  readonly last: number
  readonly count: number
  readonly packed: Uint8Array
}

export interface UnsearchableRow {
  readonly at: number
  readonly line: number
  readonly part: number
  readonly kind: number
  readonly tool: string | null
  readonly locator: Uint8Array
}

/** More would be unpacked for a few; fewer would take more room. */
const ROWS_PER_BATCH = 512

export class UnsearchableBatchWriter {
  #pieces: UnsearchableBatch[] = []
  readonly #bytes = new ByteBuffer()
  #count = 0
  #at = 0
  #first = 0
  #last = 0

  add({ at, line, part, kind, tool, locator }: UnsearchableRow): void {
    this.#first = this.#count === 0 ? line : Math.min(this.#first, line)
    this.#last = this.#count === 0 ? line : Math.max(this.#last, line)
    writeLocatorNumber(this.#bytes, at - this.#at)
    for (const number of [line, part, kind]) writeLocatorNumber(this.#bytes, number)
    writeLocatorText(this.#bytes, tool ?? '')
    writeLocatorNumber(this.#bytes, locator.length)
    this.#bytes.add(locator)
    this.#at = at
    if (++this.#count >= ROWS_PER_BATCH) this.#close()
  }

  take(): readonly UnsearchableBatch[] {
    if (this.#count > 0) this.#close()
    const pieces = this.#pieces
    this.#pieces = []
    return pieces
  }

  #close(): void {
    const packed = new Uint8Array(deflateRawSync(this.#bytes.take(), { level: 4 }))
    this.#pieces.push({ first: this.#first, last: this.#last, count: this.#count, packed })
    this.#count = 0
    this.#at = 0
  }
}

/** No more than came in one piece. */
export function packUnsearchable(rows: readonly UnsearchableRow[]): Uint8Array {
  const writer = new UnsearchableBatchWriter()
  for (const row of rows) writer.add(row)
  return writer.take()[0]?.packed ?? new Uint8Array()
}

export function unpackUnsearchable(packed: Uint8Array): readonly UnsearchableRow[] {
  const reader = new LocatorReader(inflateRawSync(packed))
  const rows: UnsearchableRow[] = []
  let at = 0
  while (!reader.isAtEnd()) {
    at += reader.number()
    const [line, part, kind] = [reader.number(), reader.number(), reader.number()]
    const tool = String(reader.value()) || null
    rows.push({ at, line, part, kind, tool, locator: reader.bytes(reader.number()) })
  }
  return rows
}

export type MessagePosition = readonly [line: number, part: number]

/** Before everything. */
export const START_POSITION: MessagePosition = [-1, 0]
/** After everything. */
export const END_POSITION: MessagePosition = [Number.MAX_SAFE_INTEGER, 0]

/** Before or after each other. */
export const comparePositions = (a: MessagePosition, b: MessagePosition): number => a[0] - b[0] || a[1] - b[1]

const positionOfRow = ({ line, part }: UnsearchableRow): MessagePosition => [line, part]

/** From a place on, or back from it; without the place itself where `isExclusive` says so. The first `limit` are all there. */
export function readUnsearchableFrom(
  db: Db,
  session: number,
  from: MessagePosition,
  isExclusive: boolean,
  direction: 1 | -1,
  limit: number,
): readonly UnsearchableRow[] {
  if (limit <= 0) return []
  // +: the index is for the order, so that no more is unpacked than is wanted.
  const [border, order] = direction === 1 ? ['+last_line >= ?', 'first_line'] : ['+first_line <= ?', 'last_line DESC']
  const pieces = prepareCached(
    db,
    `SELECT first_line, last_line, packed FROM aside WHERE session_id = ? AND ${border} ORDER BY ${order}`,
  ).iterate(session, from[0]) as Iterable<{ first_line: number; last_line: number; packed: Uint8Array }>
  const found: UnsearchableRow[] = []
  for (const { first_line, last_line, packed } of pieces) {
    const end = found[limit - 1]
    if (end && (direction === 1 ? first_line > end.line : last_line < end.line)) break
    for (const row of unpackUnsearchable(packed)) {
      const beyond = comparePositions(positionOfRow(row), from) * direction
      if (beyond > 0 || (beyond === 0 && !isExclusive)) found.push(row)
    }
    found.sort((a, b) => comparePositions(positionOfRow(a), positionOfRow(b)) * direction)
  }
  return found
}

/** All of them, in order; no more of them are held than overlap. */
export function* readUnsearchable(db: Db, session: number): Generator<UnsearchableRow> {
  const pieces = prepareCached(
    db,
    'SELECT first_line, packed FROM aside WHERE session_id = ? ORDER BY first_line',
  ).iterate(session) as Iterable<{ first_line: number; packed: Uint8Array }>
  let pending: UnsearchableRow[] = []
  for (const { first_line, packed } of pieces) {
    const firstLater = pending.findIndex(({ line }) => line >= first_line)
    yield* firstLater < 0 ? pending : pending.slice(0, firstLater)
    pending = [...(firstLater < 0 ? [] : pending.slice(firstLater)), ...unpackUnsearchable(packed)]
    pending.sort((a, b) => comparePositions(positionOfRow(a), positionOfRow(b)))
  }
  yield* pending
}

/** How many lie in a stretch, the end not among them. */
export function countUnsearchable(db: Db, session: number, from: MessagePosition, to: MessagePosition): number {
  const batches = prepareCached(
    db,
    'SELECT id, first_line > ? AND last_line < ? AS is_within, count FROM aside WHERE session_id = ? AND last_line >= ? AND +first_line <= ?',
  ).all(from[0], to[0], session, from[0], to[0]) as { id: number; is_within: number; count: number }[]
  const piece = prepareCached(db, 'SELECT packed FROM aside WHERE id = ?')
  return batches.reduce((sum, { id, is_within, count }) => {
    if (is_within === 1) return sum + count
    const { packed } = piece.get(id) as { packed: Uint8Array }
    const within = unpackUnsearchable(packed)
      .map(positionOfRow)
      .filter((position) => comparePositions(position, from) >= 0 && comparePositions(position, to) < 0)
    return sum + within.length
  }, 0)
}
