/** The last layout of each generation in each row, from which the row is restored byte for byte. */

import type { Db } from '../lib/sqlite/own-database.ts'
import { getRow, getValue, getValues, runStatement } from '../lib/sqlite/statements.ts'
import type { ByteSpan, Capture } from '../model/capture.ts'
import { packPiece, unpackPiece } from './pack-piece.ts'
import type { PieceTable } from './piece-table.ts'

/** A piece of a row, with the number of bytes of the frame before it. */
export interface RecipePart {
  readonly gap: number
  readonly piece: number
  readonly isEntry: boolean
}

export interface RowPiece extends ByteSpan {
  readonly isEntry: boolean
}

/** Entries and repeated pieces in byte order. */
export function cutRow(capture: Capture): readonly RowPiece[] {
  const cuts: RowPiece[] = []
  const { entries, repeats } = capture
  let at = 0
  for (let e = 0, r = 0; e < entries.length || r < repeats.length; ) {
    const entry = entries[e]
    const repeat = repeats[r]
    const isEntry = entry !== undefined && (repeat === undefined || entry.start <= repeat.start)
    const next = isEntry ? entry : repeat
    if (next === undefined || next.start < at || next.end < next.start || next.end > capture.bytes.length)
      throw new Error('the stretches of a capture overlap, or are out of order')
    cuts.push({ start: next.start, end: next.end, isEntry })
    at = next.end
    if (isEntry) e++
    else r++
  }
  return cuts
}

/** The bytes outside the cuts. */
export function frameBetween(bytes: Uint8Array, cuts: readonly ByteSpan[]): Buffer {
  const between: Uint8Array[] = []
  let at = 0
  for (const cut of cuts) {
    between.push(bytes.subarray(at, cut.start))
    at = cut.end
  }
  between.push(bytes.subarray(at))
  return Buffer.concat(between)
}

/** Entries that the row itself has dropped, inserted to show the complete conversation. */
export interface MissingEntries {
  readonly before: readonly Uint8Array[]
  readonly after: readonly Uint8Array[]
}

const COMMA = Buffer.from(',')

export function assembleRow(
  parts: readonly RecipePart[],
  frame: Uint8Array,
  pieceOf: (piece: number) => Uint8Array,
  missing: MissingEntries = { before: [], after: [] },
): Buffer {
  const chunks: Uint8Array[] = []
  const first = parts.findIndex((part) => part.isEntry)
  const last = parts.findLastIndex((part) => part.isEntry)
  let at = 0
  parts.forEach((part, index) => {
    chunks.push(frame.subarray(at, at + part.gap))
    at += part.gap
    if (index === first) for (const bytes of missing.before) chunks.push(bytes, COMMA)
    chunks.push(pieceOf(part.piece))
    if (index === last) for (const bytes of missing.after) chunks.push(COMMA, bytes)
  })
  chunks.push(frame.subarray(at))
  return Buffer.concat(chunks)
}

/** Stores differences: small numbers, and repeated ones for repeated sequences, compress well. */
export function encodeRecipe(parts: readonly RecipePart[]): Buffer {
  const bytes: number[] = []
  let expected = 0
  for (const { gap, piece, isEntry } of parts) {
    writeVarint(bytes, gap * 2 + (isEntry ? 1 : 0))
    const distance = piece - expected
    writeVarint(bytes, distance < 0 ? -2 * distance - 1 : 2 * distance)
    expected = piece + 1
  }
  return Buffer.from(bytes)
}

export function decodeRecipe(bytes: Uint8Array): readonly RecipePart[] {
  const parts: RecipePart[] = []
  const reader = { bytes, at: 0 }
  let expected = 0
  while (reader.at < bytes.length) {
    const head = readVarint(reader)
    const distance = readVarint(reader)
    const piece = expected + (distance % 2 === 1 ? -(distance + 1) / 2 : distance / 2)
    parts.push({ gap: Math.floor(head / 2), piece, isEntry: head % 2 === 1 })
    expected = piece + 1
  }
  return parts
}

/** Seven bits per byte, lowest first. */
function writeVarint(bytes: number[], value: number): void {
  let remaining = value
  for (; remaining >= 128; remaining = Math.floor(remaining / 128)) bytes.push((remaining % 128) + 128)
  bytes.push(remaining)
}

function readVarint(reader: { readonly bytes: Uint8Array; at: number }): number {
  let value = 0
  for (let scale = 1; ; scale *= 128) {
    const byte = reader.bytes[reader.at++] ?? 0
    value += (byte % 128) * scale
    if (byte < 128) return value
  }
}

export interface RowLayout {
  /** Number of backed-up entries before the row's first one. */
  readonly skip: number
  /** Number of entries in the row. */
  readonly entries: number
  /** Size of the row in bytes. */
  readonly size: number
  /** Hash of the row, hex. */
  readonly hash: string
  readonly parts: readonly RecipePart[]
  readonly frame: Uint8Array
}

interface LayoutRow {
  readonly skip: number
  readonly entries: number
  readonly size: number
  readonly hash: Buffer
  readonly recipe: Buffer
  readonly frame: Buffer
}

/** Of several layouts of a generation: the one that reaches furthest, then the latest. */
export const BEST_LAYOUT_FIRST = 'ORDER BY skip + entries DESC, revision DESC LIMIT 1'
const LATEST_IN_ROW = 'AND row_id = ? ORDER BY revision DESC LIMIT 1'
const SELECT_LAYOUT = 'SELECT skip, entries, size, hash, recipe, frame FROM layout WHERE generation_id = ?'

export class LayoutTable {
  readonly #db: Db
  readonly #pieces: PieceTable

  constructor(db: Db, pieces: PieceTable) {
    this.#db = db
    this.#pieces = pieces
  }

  /**
   * Replaces the last layout of the generation in this row. A layout without entries never replaces one with entries,
   * which shows where entries belong in the row.
   * @returns the number of bytes stored
   */
  save(generation: number, row: number, layout: RowLayout): number {
    const { skip, entries, size } = layout
    const hash = Buffer.from(layout.hash, 'hex')
    const recipe = packPiece(encodeRecipe(layout.parts))
    const frame = packPiece(layout.frame)
    const blank = entries === 0 ? 1 : 0
    const id = getValue<number>(
      this.#db,
      `INSERT INTO layout (generation_id, row_id, blank, revision, skip, entries, size, hash, recipe, frame)
       VALUES (:generation, :row, :blank, (SELECT coalesce(max(revision), 0) + 1 FROM layout),
               :skip, :entries, :size, :hash, :recipe, :frame)
       ON CONFLICT (generation_id, row_id, blank) DO UPDATE SET
         revision = excluded.revision, skip = excluded.skip, entries = excluded.entries, size = excluded.size,
         hash = excluded.hash, recipe = excluded.recipe, frame = excluded.frame
       RETURNING id`,
      { generation, row, blank, skip, entries, size, hash, recipe, frame },
    )
    if (id === undefined) throw new Error('a layout was not stored')
    this.#need(id, new Set(layout.parts.filter((part) => !part.isEntry).map((part) => part.piece)))
    if (blank === 0) this.#dropBlank(generation, row)
    return recipe.length + frame.length
  }

  /** Whether the last state of the row was identical, and of this generation. */
  isLast(generation: number, row: number, hash: string): boolean {
    const sql = `SELECT lower(hex(hash)) FROM layout WHERE generation_id = ? ${LATEST_IN_ROW}`
    return getValue<string>(this.#db, sql, generation, row) === hash
  }

  /**
   * Number of entries dropped from the front of the row, or, for a generation that was never in this row, in its best
   * layout.
   */
  skip(generation: number, row: number | undefined): number {
    const select = 'SELECT skip FROM layout WHERE generation_id = ?'
    const inRow =
      row === undefined ? undefined : getValue<number>(this.#db, `${select} ${LATEST_IN_ROW}`, generation, row)
    return inRow ?? getValue<number>(this.#db, `${select} ${BEST_LAYOUT_FIRST}`, generation) ?? 0
  }

  /** The last layout, in any row or in the given one. */
  read(generation: number, row?: number): RowLayout | undefined {
    return row === undefined ? this.#find(BEST_LAYOUT_FIRST, generation) : this.#find(LATEST_IN_ROW, generation, row)
  }

  /** The layout for reading the complete conversation. */
  readWithEntries(generation: number): RowLayout | undefined {
    return this.#find(`AND blank = 0 ${BEST_LAYOUT_FIRST}`, generation) ?? this.read(generation)
  }

  #find(condition: string, ...parameters: readonly number[]): RowLayout | undefined {
    const found = getRow<LayoutRow>(this.#db, `${SELECT_LAYOUT} ${condition}`, ...parameters)
    if (!found) return undefined
    const { hash, recipe, frame, ...rest } = found
    return {
      ...rest,
      hash: hash.toString('hex'),
      parts: decodeRecipe(unpackPiece(recipe)),
      frame: unpackPiece(frame),
    }
  }

  #dropBlank(generation: number, row: number): void {
    const sql = 'SELECT id FROM layout WHERE generation_id = ? AND row_id = ? AND blank = 1'
    const id = getValue<number>(this.#db, sql, generation, row)
    if (id === undefined) return
    this.#need(id, new Set())
    runStatement(this.#db, 'DELETE FROM layout WHERE id = ?', id)
  }

  #need(layout: number, pieces: ReadonlySet<number>): void {
    const before = new Set(getValues<number>(this.#db, 'SELECT piece_id FROM part WHERE layout_id = ?', layout))
    for (const piece of pieces)
      if (!before.has(piece))
        runStatement(this.#db, 'INSERT INTO part (layout_id, piece_id) VALUES (?, ?)', layout, piece)
    for (const piece of before) {
      if (pieces.has(piece)) continue
      runStatement(this.#db, 'DELETE FROM part WHERE layout_id = ? AND piece_id = ?', layout, piece)
      this.#pieces.drop(piece)
    }
  }
}
