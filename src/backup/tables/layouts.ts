/** How rows were put together when they were last seen: for each generation and row the last state, to the byte. */
import type { Statement } from 'better-sqlite3'
import type { Db } from '../../lib/sqlite/own-database.ts'
import { packPiece, unpackPiece } from '../compress-piece.ts'
import { decodeRecipe, encodeRecipe, type RecipePart } from '../row-recipe.ts'
import type { PieceTable } from './pieces.ts'

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
