/** How rows are put together: the last layout of each generation in each row, to the byte. */

import type { Statement } from 'better-sqlite3'
import type { Db } from '../lib/sqlite/own-database.ts'
import type { ByteSpan, Capture } from '../model/capture.ts'
import { type PieceTable, packPiece, unpackPiece } from './piece-table.ts'

/** A piece of a row and how many bytes of the frame stand before it. */
export interface RecipePart {
  readonly gap: number
  readonly piece: number
  readonly isEntry: boolean
}

export interface RowPiece extends ByteSpan {
  readonly isEntry: boolean
}

/** Entries and repeats in the order of their bytes. */
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

/** What lies between the cuts. */
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

/** Entries of the conversation that the row itself no longer holds, for a row that shows them all. */
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

/** Small numbers, and the same ones for pieces that follow each other again: what a compressor likes. */
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

/** Seven bits to a byte, the lowest first. */
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
  /** How many kept entries stand before the row's first one. */
  readonly skip: number
  /** How many entries the row holds. */
  readonly entries: number
  /** Of the whole row, in bytes. */
  readonly size: number
  /** Of the whole row, hex. */
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

interface LayoutHead {
  readonly skip: number
  readonly hash: Buffer
}

/** Where a generation has several, the one that reaches furthest, then the latest. */
export const BEST_LAYOUT_FIRST = 'ORDER BY skip + entries DESC, revision DESC LIMIT 1'

export class LayoutTable {
  readonly #save: Statement<LayoutRow & { generation: number; row: number; blank: number }, { id: number }>
  readonly #inRow: Statement<[number, number], LayoutRow>
  readonly #best: Statement<[number], LayoutRow>
  readonly #headInRow: Statement<[number, number], LayoutHead>
  readonly #bestHead: Statement<[number], LayoutHead>
  readonly #bestWithEntries: Statement<[number], LayoutRow>
  readonly #blank: Statement<[number, number], { id: number }>
  readonly #drop: Statement<[number]>
  readonly #parts: Statement<[number], { piece_id: number }>
  readonly #addPart: Statement<[number, number]>
  readonly #dropPart: Statement<[number, number]>
  readonly #pieces: PieceTable

  constructor(db: Db, pieces: PieceTable) {
    this.#pieces = pieces
    this.#save = db.prepare(
      `INSERT INTO layout (generation_id, row_id, blank, revision, skip, entries, size, hash, recipe, frame)
       VALUES (:generation, :row, :blank, (SELECT coalesce(max(revision), 0) + 1 FROM layout),
               :skip, :entries, :size, :hash, :recipe, :frame)
       ON CONFLICT (generation_id, row_id, blank) DO UPDATE SET
         revision = excluded.revision, skip = excluded.skip, entries = excluded.entries, size = excluded.size,
         hash = excluded.hash, recipe = excluded.recipe, frame = excluded.frame
       RETURNING id`,
    )
    const latestInRow = 'AND row_id = ? ORDER BY revision DESC LIMIT 1'
    const head = 'SELECT skip, hash FROM layout WHERE generation_id = ?'
    this.#headInRow = db.prepare(`${head} ${latestInRow}`)
    this.#bestHead = db.prepare(`${head} ${BEST_LAYOUT_FIRST}`)
    const columns = 'SELECT skip, entries, size, hash, recipe, frame FROM layout WHERE generation_id = ?'
    this.#inRow = db.prepare(`${columns} ${latestInRow}`)
    this.#best = db.prepare(`${columns} ${BEST_LAYOUT_FIRST}`)
    this.#bestWithEntries = db.prepare(`${columns} AND blank = 0 ${BEST_LAYOUT_FIRST}`)
    this.#blank = db.prepare('SELECT id FROM layout WHERE generation_id = ? AND row_id = ? AND blank = 1')
    this.#drop = db.prepare('DELETE FROM layout WHERE id = ?')
    this.#parts = db.prepare('SELECT piece_id FROM part WHERE layout_id = ?')
    this.#addPart = db.prepare('INSERT INTO part (layout_id, piece_id) VALUES (?, ?)')
    this.#dropPart = db.prepare('DELETE FROM part WHERE layout_id = ? AND piece_id = ?')
  }

  /**
   * Takes the place of the generation's last layout in that row. One without entries never takes the place of one that
   * has some: without that one nobody would know where in the row the entries go.
   * @returns the number of bytes stored
   */
  save(generation: number, row: number, layout: RowLayout): number {
    const { skip, entries, size } = layout
    const hash = Buffer.from(layout.hash, 'hex')
    const recipe = packPiece(encodeRecipe(layout.parts))
    const frame = packPiece(layout.frame)
    const blank = entries === 0 ? 1 : 0
    const saved = this.#save.get({ generation, row, blank, skip, entries, size, hash, recipe, frame })
    if (!saved) throw new Error('a layout was not stored')
    this.#need(saved.id, new Set(layout.parts.filter((part) => !part.isEntry).map((part) => part.piece)))
    if (blank === 0) this.#dropBlank(generation, row)
    return recipe.length + frame.length
  }

  /** Whether a generation's row, when it was last seen there, was this one to the byte. */
  isLast(generation: number, row: number, hash: string): boolean {
    return this.#headInRow.get(generation, row)?.hash.toString('hex') === hash
  }

  /** How many entries the row lacked at its front; where the generation was never in that row, the best there is. */
  skip(generation: number, row: number | undefined): number {
    const head = row === undefined ? undefined : this.#headInRow.get(generation, row)
    return (head ?? this.#bestHead.get(generation))?.skip ?? 0
  }

  /** As it was last, in any row or in a given one. */
  read(generation: number, row?: number): RowLayout | undefined {
    return toRowLayout(row === undefined ? this.#best.get(generation) : this.#inRow.get(generation, row))
  }

  /** The one to read the whole conversation by. */
  readWithEntries(generation: number): RowLayout | undefined {
    return toRowLayout(this.#bestWithEntries.get(generation) ?? this.#best.get(generation))
  }

  #dropBlank(generation: number, row: number): void {
    const blank = this.#blank.get(generation, row)
    if (!blank) return
    this.#need(blank.id, new Set())
    this.#drop.run(blank.id)
  }

  #need(layout: number, pieces: ReadonlySet<number>): void {
    const before = new Set(this.#parts.all(layout).map((row) => row.piece_id))
    for (const piece of pieces) if (!before.has(piece)) this.#addPart.run(layout, piece)
    for (const piece of before) {
      if (pieces.has(piece)) continue
      this.#dropPart.run(layout, piece)
      this.#pieces.drop(piece)
    }
  }
}

function toRowLayout(found: LayoutRow | undefined): RowLayout | undefined {
  if (!found) return undefined
  const { skip, entries, size, hash, recipe, frame } = found
  return {
    skip,
    entries,
    size,
    hash: hash.toString('hex'),
    parts: decodeRecipe(unpackPiece(recipe)),
    frame: unpackPiece(frame),
  }
}
