/**
 * The segments of the text index as rows of the database. A segment is immutable: its words in blocks, one row each,
 * and what `SegmentDocuments` says of its documents. Text that is deleted stays in its segment until a merge; until then
 * `text_removed` hides it.
 */
import type { Db } from '../lib/sqlite/own-database.ts'
import { firstWordOf, type TermBlocks } from '../search/segments/blocks.ts'
import { packDocuments, type SegmentDocuments } from './segment-documents.ts'

export interface SegmentRow {
  readonly id: number
  readonly documents: number
  /** The smallest and the greatest row. */
  readonly low: number
  readonly high: number
  readonly first_block: number
  readonly blocks: number
  /** All traits of its documents together. */
  readonly traits: number
}

export const SELECT_SEGMENTS = 'SELECT id, documents, low, high, first_block, blocks, traits FROM text_segment'

export interface SegmentWriter {
  /** Writes a segment, unless none of its documents has a row. */
  add(terms: TermBlocks, documents: SegmentDocuments): void
  /** Hides the text that was written for a row so far. */
  remove(row: number): void
  drop(segment: SegmentRow): void
}

export function segmentWriter(db: Db): SegmentWriter {
  const addSegment = db.prepare(
    'INSERT INTO text_segment (documents, low, high, first_block, blocks, traits, directory, members) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const lastBlock = db.prepare('SELECT coalesce(max(id), 0) FROM text_block').pluck()
  const addBlock = db.prepare('INSERT INTO text_block VALUES (?, ?)')
  const lastSegment = db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'text_segment'").pluck()
  const remove = db.prepare('INSERT INTO text_removed VALUES (?, ?) ON CONFLICT DO UPDATE SET before = excluded.before')
  const dropSegment = db.prepare('DELETE FROM text_segment WHERE id = ?')
  const dropBlocks = db.prepare('DELETE FROM text_block WHERE id >= ? AND id < ?')
  return {
    add({ bytes, ends }, documents) {
      const { rows } = documents
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
      const members = packDocuments(documents, low)
      const traits = documents.traits.reduce((all, one) => all | one, 0)
      addSegment.run(rows.length, low, high, first, blocks.length, traits, packDirectory(blocks), members)
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
