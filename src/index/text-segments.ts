/**
 * The segments of the text index as rows of the database. A segment is immutable: its words in blocks, one row each,
 * and the row and scope of each of its documents. Text that is deleted stays in its segment until a merge; until then
 * `text_removed` hides it.
 */
import type { Db } from '../lib/sqlite/own-database.ts'
import { firstWordOf } from '../search/segments/blocks.ts'
import type { BuiltTerms } from '../search/segments/term-builder.ts'
import { ERROR, IMAGE } from './row-encoding.ts'

/** The message and traits of each document. Row 0 marks a document without a message. */
export interface SegmentDocuments {
  readonly rows: Float64Array
  /** See `traitsOf`. */
  readonly traits: Uint8Array
  /** Numbers of words, as `lengthCode` stores them. */
  readonly lengths: Uint8Array
}

export interface SegmentRow {
  readonly id: number
  readonly documents: number
  /** The smallest and the greatest row. */
  readonly low: number
  readonly high: number
  readonly first_block: number
  readonly blocks: number
}

export interface SegmentWriter {
  /** Writes a segment, unless none of its documents has a row. */
  add(terms: BuiltTerms, rows: Float64Array, traits: Uint8Array): void
  /** Hides the text that was written for a row so far. */
  remove(row: number): void
  drop(segment: SegmentRow): void
}

export function segmentWriter(db: Db): SegmentWriter {
  const addSegment = db.prepare(
    'INSERT INTO text_segment (documents, low, high, first_block, blocks, directory, members) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  const lastBlock = db.prepare('SELECT coalesce(max(id), 0) FROM text_block').pluck()
  const addBlock = db.prepare('INSERT INTO text_block VALUES (?, ?)')
  const lastSegment = db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'text_segment'").pluck()
  const remove = db.prepare('INSERT INTO text_removed VALUES (?, ?) ON CONFLICT DO UPDATE SET before = excluded.before')
  const dropSegment = db.prepare('DELETE FROM text_segment WHERE id = ?')
  const dropBlocks = db.prepare('DELETE FROM text_block WHERE id >= ? AND id < ?')
  return {
    add({ bytes, ends, lengths }, rows, traits) {
      let low = Number.POSITIVE_INFINITY
      let high = 0
      for (const row of rows) {
        if (row === 0) continue
        low = Math.min(low, row)
        high = Math.max(high, row)
      }
      if (high === 0) return
      const first = (lastBlock.get() as number) + 1
      const blocks = Array.from(ends, (end, at) => bytes.subarray(at === 0 ? 0 : (ends[at - 1] ?? 0), end))
      for (const [at, block] of blocks.entries()) addBlock.run(first + at, block)
      const members = packDocuments({ rows, traits, lengths }, low, high)
      addSegment.run(rows.length, low, high, first, blocks.length, packDirectory(blocks), members)
    },
    remove(row) {
      const last = lastSegment.get() as number | undefined
      if (last !== undefined) remove.run(row, last + 1)
    },
    drop({ id, first_block, blocks }) {
      dropSegment.run(id)
      dropBlocks.run(first_block, first_block + blocks)
    },
  }
}

/**
 * What filters of a search need to know of a document, in one byte: the scope (an index into `TEXT_SCOPES`) and, from
 * the kind of its message, the role and whether it has an error or an image. So these filters read no other row.
 */
export const traitsOf = (scope: number, kind: number): number =>
  scope | ((kind & 7) << 3) | (kind & ERROR ? ERROR_TRAIT : 0) | (kind & IMAGE ? IMAGE_TRAIT : 0)

export const scopeOfTraits = (traits: number): number => traits & 7
/** Index into `ROLES`. */
export const roleOfTraits = (traits: number): number => (traits >> 3) & 7
export const ERROR_TRAIT = 1 << 6
export const IMAGE_TRAIT = 1 << 7

/** Marks a document without a row among the distances of four bytes. */
const NO_ROW = 0xffffffff

/** Rows as distances from the smallest, in four bytes where that is enough; then traits; then lengths. */
function packDocuments({ rows, traits, lengths }: SegmentDocuments, low: number, high: number): Buffer {
  const isWide = high - low >= NO_ROW
  const packed = isWide ? rows : Uint32Array.from(rows, (row) => (row === 0 ? NO_ROW : row - low))
  return Buffer.concat([Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength), traits, lengths])
}

export function unpackDocuments(members: Uint8Array, count: number, low: number): SegmentDocuments {
  const width = count === 0 ? 0 : members.length / count - 2
  if (width !== 4 && width !== 8) throw new RangeError('the text index is damaged')
  const { buffer } = new Uint8Array(members)
  const rows = width === 8 ? new Float64Array(buffer, 0, count) : addDistances(new Uint32Array(buffer, 0, count), low)
  const traits = new Uint8Array(buffer, count * width, count)
  return { rows, traits, lengths: new Uint8Array(buffer, count * (width + 1), count) }
}

/** A loop, because `Float64Array.from` takes ten times as long. */
function addDistances(distances: Uint32Array, low: number): Float64Array {
  const rows = new Float64Array(distances.length)
  for (let at = 0; at < distances.length; at++) {
    const distance = distances[at] ?? 0
    rows[at] = distance === NO_ROW ? 0 : low + distance
  }
  return rows
}

/** The ends of the words as numbers of four bytes, then the first word of each block. */
function packDirectory(blocks: readonly Uint8Array[]): Buffer {
  const words = blocks.map(firstWordOf)
  const ends = new Uint32Array(words.length)
  let end = 0
  for (const [at, word] of words.entries()) {
    end += word.length
    ends[at] = end
  }
  return Buffer.concat([Buffer.from(ends.buffer), ...words])
}

/** Number of the block that contains a word if the segment does. Negative if the word sorts before all blocks. */
export function findBlock(directory: Buffer, blocks: number, word: Uint8Array): number {
  const start = blocks * 4
  const endOf = (at: number): number => start + (at < 0 ? 0 : directory.readUInt32LE(at * 4))
  let low = 0
  let high = blocks
  while (low < high) {
    const middle = (low + high) >> 1
    if (directory.compare(word, 0, word.length, endOf(middle - 1), endOf(middle)) <= 0) low = middle + 1
    else high = middle
  }
  return low - 1
}
