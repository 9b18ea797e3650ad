/** Looks words up in the segments of the text index. */
import { cachedQuery } from '../../index/query-cache.ts'
import { findBlock, type SegmentDocuments, type SegmentRow, unpackDocuments } from '../../index/text-segments.ts'
import type { Db } from '../../lib/sqlite/own-database.ts'
import { getRow, getRows, getValue } from '../../lib/sqlite/statements.ts'
import { findPrefix, findWord, firstWordOf, PostingList, readPostings } from '../segments/blocks.ts'

/** All segments, the one with the newest row first. */
export const readSegments = (db: Db): readonly SegmentRow[] =>
  cachedQuery(db, 'segments', () =>
    getRows<SegmentRow>(
      db,
      'SELECT id, documents, low, high, first_block, blocks FROM text_segment ORDER BY high DESC, id DESC',
    ),
  )

/** Above this, removed rows are looked up one by one instead of being kept in memory. */
const MAX_CACHED_REMOVED = 5000

/** Whether the text of a row was removed from a segment. Undefined if nothing is removed. */
export function removedTest(db: Db): ((row: number, segment: number) => boolean) | undefined {
  const removed = cachedQuery(db, 'removed', () =>
    getRows<{ row: number; before: number }>(
      db,
      `SELECT row, before FROM text_removed LIMIT ${MAX_CACHED_REMOVED + 1}`,
    ),
  )
  if (removed.length === 0) return undefined
  if (removed.length > MAX_CACHED_REMOVED) {
    return (row, segment) => (getValue<number>(db, 'SELECT before FROM text_removed WHERE row = ?', row) ?? 0) > segment
  }
  const before = cachedQuery(db, 'removed by row', () => new Map(removed.map((one) => [one.row, one.before])))
  return (row, segment) => (before.get(row) ?? 0) > segment
}

/** A segment with what is read of it once. */
export interface LoadedSegment extends SegmentDocuments {
  readonly row: SegmentRow
  readonly directory: Buffer
  /** For each document, the first document of its message. The documents of a message are adjacent. */
  readonly messages: Uint32Array
}

/** Segments never change, so they stay in memory while there is room. */
const MAX_CACHED_DOCUMENTS = 1_500_000

interface SegmentCache {
  readonly segments: Map<number, LoadedSegment>
  documents: number
}

const caches = new WeakMap<Db, SegmentCache>()

export function loadSegment(db: Db, row: SegmentRow): LoadedSegment {
  let cache = caches.get(db)
  if (!cache) {
    cache = { segments: new Map(), documents: 0 }
    caches.set(db, cache)
  }
  const known = cache.segments.get(row.id)
  if (known) return known
  const stored = getRow<{ directory: Buffer; members: Buffer }>(
    db,
    'SELECT directory, members FROM text_segment WHERE id = ?',
    row.id,
  )
  if (!stored) throw new RangeError('the text index is damaged')
  const documents = unpackDocuments(stored.members, row.documents, row.low)
  const messages = new Uint32Array(row.documents)
  for (let at = 1; at < messages.length; at++)
    messages[at] = documents.rows[at] === documents.rows[at - 1] ? (messages[at - 1] ?? 0) : at
  const loaded: LoadedSegment = { row, directory: stored.directory, ...documents, messages }
  if (cache.documents + row.documents > MAX_CACHED_DOCUMENTS) {
    cache.segments.clear()
    cache.documents = 0
  }
  cache.segments.set(row.id, loaded)
  cache.documents += row.documents
  return loaded
}

const readBlock = (db: Db, id: number): Buffer => {
  const bytes = getValue<Buffer>(db, 'SELECT bytes FROM text_block WHERE id = ?', id)
  if (!bytes) throw new RangeError('the text index is damaged')
  return bytes
}

/** The documents that contain a word, or one that begins with it. */
export function lookUp(db: Db, { row, directory }: LoadedSegment, word: Uint8Array, isPrefix: boolean): PostingList {
  const found = new PostingList()
  const block = findBlock(directory, row.blocks, word)
  if (!isPrefix) {
    if (block >= 0) findWord(readBlock(db, row.first_block + block), word, found)
    return found
  }
  /** By document. Several words with the prefix may be in one document. */
  let frequencies: Uint8Array | undefined
  const list = new PostingList()
  for (let at = Math.max(0, block); at < row.blocks; at++) {
    const bytes = readBlock(db, row.first_block + at)
    if (at > block && !startsWith(firstWordOf(bytes), word)) break
    const mayContinue = findPrefix(bytes, word, (postingsAt) => {
      frequencies ??= new Uint8Array(row.documents)
      list.count = 0
      readPostings(bytes, postingsAt, list)
      for (let one = 0; one < list.count; one++) {
        const document = list.documents[one] ?? 0
        frequencies[document] = Math.min(255, (frequencies[document] ?? 0) + (list.frequencies[one] ?? 1))
      }
    })
    if (!mayContinue) break
  }
  for (const [document, frequency] of frequencies?.entries() ?? []) if (frequency > 0) found.add(document, frequency)
  return found
}

function startsWith(word: Uint8Array, prefix: Uint8Array): boolean {
  if (word.length < prefix.length) return false
  for (let at = 0; at < prefix.length; at++) if (word[at] !== prefix[at]) return false
  return true
}
