/** Merges small segments, and rewrites those with much removed text. No answer of a search changes. */
import type { Db } from '../lib/sqlite/own-database.ts'
import { BlockWriter, compareWords, WordCursor } from '../search/segments/blocks.ts'
import { PostingList } from '../search/segments/postings.ts'
import { newDocuments, type SegmentDocuments, unpackDocuments } from './segment-documents.ts'
import { SELECT_SEGMENTS, type SegmentRow, segmentWriter } from './text-segments.ts'

/** As many segments of similar size are merged at once. */
const SEGMENTS_PER_MERGE = 8
/** Larger segments stay as they are, which bounds a merge. */
const MAX_BLOCKS_TO_MERGE = 64
/** A segment with a greater part of removed documents is rewritten. */
const MAX_REMOVED_PART = 0.5
/** Fewer removed rows are not worth looking for. */
const MIN_REMOVED_ROWS = 1000

export interface SegmentMerger {
  /** One step, inside a transaction. @returns whether there is more to do */
  step(): boolean
  /** Erases all removed text, inside a transaction. */
  erase(): void
}

export function segmentMerger(db: Db): SegmentMerger {
  const all = db.prepare(`${SELECT_SEGMENTS} ORDER BY id`)
  const readMembers = db.prepare('SELECT members FROM text_segment WHERE id = ?').pluck()
  const readBlock = db.prepare('SELECT bytes FROM text_block WHERE id = ?').pluck()
  const removedRows = db.prepare('SELECT row, before FROM text_removed').raw()
  const countRemoved = db.prepare('SELECT count(*) FROM text_removed').pluck()
  const forgetRow = db.prepare('DELETE FROM text_removed WHERE row = ?')
  const clearRemoved = db.prepare('DELETE FROM text_removed')
  const writer = segmentWriter(db)

  const segments = (): readonly SegmentRow[] => all.all() as SegmentRow[]
  const removed = (): ReadonlyMap<number, number> => new Map(removedRows.all() as [number, number][])

  const documentsOf = ({ id, documents, low }: SegmentRow, hidden: ReadonlyMap<number, number>): SegmentDocuments => {
    const found = unpackDocuments(readMembers.get(id) as Uint8Array, documents, low)
    if (hidden.size > 0)
      for (const [at, row] of found.rows.entries()) if ((hidden.get(row) ?? 0) > id) found.rows[at] = 0
    return found
  }

  const blocksOf = ({ first_block, blocks }: SegmentRow): (() => Uint8Array | undefined) => {
    let next = first_block
    return () => (next < first_block + blocks ? (readBlock.get(next++) as Uint8Array) : undefined)
  }

  const merge = (some: readonly SegmentRow[], hidden: ReadonlyMap<number, number>): void => {
    const parts = some.map((segment) => ({ segment, documents: documentsOf(segment, hidden) }))
    const merged = mergeParts(parts.map(({ segment, documents }) => ({ nextBlock: blocksOf(segment), documents })))
    for (const segment of some) writer.drop(segment)
    writer.add(merged.terms, merged.documents)
  }

  /** Rewrites segments with more than this part of removed documents, then forgets the rows that no segment contains. */
  const dropRemoved = (maxPart: number): void => {
    const hidden = removed()
    const remaining = new Set<number>()
    for (const segment of segments()) {
      const before = unpackDocuments(readMembers.get(segment.id) as Uint8Array, segment.documents, segment.low).rows
      const hiddenRows = before.filter((row) => (hidden.get(row) ?? 0) > segment.id)
      if (hiddenRows.length > maxPart * segment.documents) merge([segment], hidden)
      else for (const row of hiddenRows) remaining.add(row)
    }
    if (remaining.size === 0) clearRemoved.run()
    else for (const row of hidden.keys()) if (!remaining.has(row)) forgetRow.run(row)
  }

  return {
    step() {
      if ((countRemoved.get() as number) >= MIN_REMOVED_ROWS) dropRemoved(MAX_REMOVED_PART)
      const group = chooseSegments(segments())
      if (group.length === 0) return false
      merge(group, removed())
      return true
    },
    erase: () => dropRemoved(0),
  }
}

/** Segments of similar size, smallest first; empty if there are too few of every size. */
function chooseSegments(segments: readonly SegmentRow[]): readonly SegmentRow[] {
  const byTier = new Map<number, SegmentRow[]>()
  for (const segment of segments) {
    if (segment.blocks >= MAX_BLOCKS_TO_MERGE) continue
    const tier = Math.floor(Math.log(Math.max(1, segment.blocks)) / Math.log(SEGMENTS_PER_MERGE))
    const group = byTier.get(tier)
    if (group) group.push(segment)
    else byTier.set(tier, [segment])
  }
  const tiers = [...byTier].filter(([, group]) => group.length >= SEGMENTS_PER_MERGE)
  return tiers.sort(([a], [b]) => a - b)[0]?.[1].slice(0, SEGMENTS_PER_MERGE) ?? []
}

interface MergePart {
  readonly nextBlock: () => Uint8Array | undefined
  readonly documents: SegmentDocuments
}

/** Documents keep their order; those without a row are left out. */
function mergeParts(parts: readonly MergePart[]) {
  const count = parts.reduce((sum, { documents }) => sum + documents.rows.filter((row) => row !== 0).length, 0)
  const merged = newDocuments(count)
  let next = 0
  const numbersByPart = parts.map(({ documents: { rows, sessions, tools, traits, lengths } }) =>
    Int32Array.from(rows, (row, at) => {
      if (row === 0) return -1
      merged.rows[next] = row
      merged.sessions[next] = sessions[at] ?? 0
      merged.tools[next] = tools[at] ?? 0
      merged.traits[next] = traits[at] ?? 0
      merged.lengths[next] = lengths[at] ?? 0
      return next++
    }),
  )
  const open = parts.map(({ nextBlock }, at) => ({ cursor: new WordCursor(nextBlock), numbers: numbersByPart[at] }))
  let cursors = open.filter(({ cursor }) => cursor.advance())
  const writer = new BlockWriter()
  const read = new PostingList()
  const postings = new PostingList()
  while (cursors.length > 0) {
    let smallest = cursors[0]?.cursor
    for (const { cursor } of cursors)
      if (smallest && compareWords(cursor.word, cursor.length, smallest.word, smallest.length) < 0) smallest = cursor
    if (!smallest) break
    const word = smallest.word.slice(0, smallest.length)
    postings.count = 0
    let isEnded = false
    for (const { cursor, numbers } of cursors) {
      if (compareWords(cursor.word, cursor.length, word, word.length) !== 0) continue
      read.count = 0
      cursor.postings(read)
      for (let at = 0; at < read.count; at++) {
        const number = numbers?.[read.documents[at] ?? 0] ?? -1
        if (number >= 0) postings.add(number, read.frequencies[at] ?? 1)
      }
      if (!cursor.advance()) {
        cursor.length = -1
        isEnded = true
      }
    }
    if (postings.count > 0) writer.add(word, postings)
    if (isEnded) cursors = cursors.filter(({ cursor }) => cursor.length >= 0)
  }
  return { documents: merged, terms: writer.take() }
}
