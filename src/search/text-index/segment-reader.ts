/** Looks words up in the segments of the text index. */
import { cachedQuery } from '../../index/query-cache.ts'
import { type SegmentDocuments, scopeOfTraits, unpackDocuments } from '../../index/segment-documents.ts'
import { findBlock, SELECT_SEGMENTS, type SegmentRow } from '../../index/text-segments.ts'
import type { Db } from '../../lib/sqlite/own-database.ts'
import { getRows, getValue } from '../../lib/sqlite/statements.ts'
import { findPrefix, findWord, firstWordOf, readPostings } from '../segments/blocks.ts'
import { PostingList } from '../segments/postings.ts'

/** All segments, the one with the newest row first. */
export const readSegments = (db: Db): readonly SegmentRow[] =>
  cachedQuery(db, 'segments', () => getRows<SegmentRow>(db, `${SELECT_SEGMENTS} ORDER BY high DESC, id DESC`))

/** Rows whose text was removed from segments with smaller ids than `before`. */
export interface RemovedRows {
  /** Ascending. */
  readonly rows: Float64Array
  readonly before: Float64Array
}

export const readRemovedRows = (db: Db): RemovedRows =>
  cachedQuery(db, 'removed', () => {
    const removed = getRows<{ row: number; before: number }>(db, 'SELECT row, before FROM text_removed ORDER BY row')
    return {
      rows: Float64Array.from(removed, ({ row }) => row),
      before: Float64Array.from(removed, ({ before }) => before),
    }
  })

/** Sets the elements of messages whose text was removed from the segment to 0. */
export function hideRemoved(
  removed: RemovedRows,
  { row: { id, low, high }, messages }: LoadedSegment,
  matches: Uint8Array,
): void {
  let next = countUntil(removed.rows, high) - 1
  if (next < 0 || (removed.rows[next] ?? 0) < low) return
  const { rows } = messages
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] ?? 0
    while (next >= 0 && (removed.rows[next] ?? 0) > row) next--
    if (next < 0) return
    if (removed.rows[next] === row && (removed.before[next] ?? 0) > id) matches[at] = 0
  }
}

/** How many values are not greater. @param values ascending */
export function countUntil(values: Float64Array, greatest: number): number {
  let low = 0
  let high = values.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((values[middle] ?? 0) <= greatest) low = middle + 1
    else high = middle
  }
  return low
}

/** A segment with what is read of it once. */
export interface LoadedSegment {
  readonly row: SegmentRow
  readonly directory: Buffer
  /** Read when a word was found. */
  readonly messages: SegmentMessages
}

/** The messages of a segment are numbered from 0, the newest first. */
export interface SegmentMessages {
  readonly count: number
  /** One value for each message. The documents of a message agree in all traits but the scope. */
  readonly rows: Float64Array
  readonly sessions: Uint32Array
  readonly tools: Uint32Array
  readonly traits: Uint8Array
  /** One value for each document: its message, or `count` if it has none, its scope and `lengthCode`. */
  readonly ofDocument: Uint32Array
  readonly scopes: Uint8Array
  readonly lengths: Uint8Array
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
  const directory = readColumn(db, row, 'directory')
  let messages: SegmentMessages | undefined
  const loaded: LoadedSegment = {
    row,
    directory,
    get messages() {
      messages ??= toMessages(unpackDocuments(readColumn(db, row, 'members'), row.documents, row.low))
      return messages
    },
  }
  if (cache.documents + row.documents > MAX_CACHED_DOCUMENTS) {
    cache.segments.clear()
    cache.documents = 0
  }
  cache.segments.set(row.id, loaded)
  cache.documents += row.documents
  return loaded
}

function readColumn(db: Db, { id }: SegmentRow, column: 'directory' | 'members'): Buffer {
  const stored = getValue<Buffer>(db, `SELECT ${column} FROM text_segment WHERE id = ?`, id)
  if (!stored) throw new RangeError('the text index is damaged')
  return stored
}

function toMessages(documents: SegmentDocuments): SegmentMessages {
  const { rows: documentRows, lengths } = documents
  const firsts = new Uint32Array(documentRows.length)
  let count = 0
  for (let at = 0; at < documentRows.length; at++) {
    if (documentRows[at] !== 0 && (at === 0 || documentRows[at] !== documentRows[at - 1])) firsts[count++] = at
  }
  const firstDocuments = newestFirst(firsts.subarray(0, count), documentRows)
  const rows = new Float64Array(count)
  const sessions = new Uint32Array(count)
  const tools = new Uint32Array(count)
  const traits = new Uint8Array(count)
  const ofDocument = new Uint32Array(documentRows.length).fill(count)
  for (let number = 0; number < count; number++) {
    const first = firstDocuments[number] ?? 0
    const row = documentRows[first] ?? 0
    rows[number] = row
    sessions[number] = documents.sessions[first] ?? 0
    tools[number] = documents.tools[first] ?? 0
    traits[number] = documents.traits[first] ?? 0
    for (let at = first; documentRows[at] === row; at++) ofDocument[at] = number
  }
  return { count, rows, sessions, tools, traits, ofDocument, scopes: documents.traits.map(scopeOfTraits), lengths }
}

/** Sorts documents by their rows. */
function newestFirst(documents: Uint32Array, rows: Float64Array): Uint32Array {
  const count = documents.length
  let low = Number.POSITIVE_INFINITY
  let high = 0
  for (const document of documents) {
    const row = rows[document] ?? 0
    if (row < low) low = row
    if (row > high) high = row
  }
  const isNarrow = (high - low + 1) * count < Number.MAX_SAFE_INTEGER
  if (!isNarrow) return documents.slice().sort((a, b) => (rows[b] ?? 0) - (rows[a] ?? 0))
  // Numbers sort ten times faster without a function that compares them.
  const keys = new Float64Array(count)
  for (let at = 0; at < count; at++) keys[at] = (high - (rows[documents[at] ?? 0] ?? 0)) * count + at
  keys.sort()
  return Uint32Array.from(keys, (key) => documents[key % count] ?? 0)
}

const readBlock = (db: Db, id: number): Buffer => {
  const bytes = getValue<Buffer>(db, 'SELECT bytes FROM text_block WHERE id = ?', id)
  if (!bytes) throw new RangeError('the text index is damaged')
  return bytes
}

/**
 * Adds the documents that contain one of some words with the same beginning.
 *
 * @param endings what follows the beginning
 * @param into empty
 */
export function lookUpForms(
  db: Db,
  segment: LoadedSegment,
  beginning: string,
  endings: ReadonlySet<string>,
  into: PostingList,
): void {
  const { row, directory } = segment
  const blocks = new Set<number>()
  for (const ending of endings) blocks.add(findBlock(directory, row.blocks, Buffer.from(beginning + ending)))
  blocks.delete(-1)
  const frequencies = new FrequencySum(row.documents, into)
  const prefix = Buffer.from(beginning)
  let maxLength = 0
  for (const { length } of endings) maxLength = Math.max(maxLength, length)
  for (const block of blocks) {
    const bytes = readBlock(db, row.first_block + block)
    findPrefix(bytes, prefix, (postingsAt, rest) => {
      if (rest.length > maxLength) return
      if (endings.has(String.fromCharCode(...rest.bytes.subarray(0, rest.length)))) frequencies.add(bytes, postingsAt)
    })
  }
  frequencies.finish()
}

/** Adds the documents that contain a word, or one that begins with it. @param into empty */
export function lookUp(db: Db, segment: LoadedSegment, word: Uint8Array, isPrefix: boolean, into: PostingList): void {
  if (isPrefix) return addPrefixed(db, segment, word, into)
  const { row, directory } = segment
  const block = findBlock(directory, row.blocks, word)
  if (block >= 0) findWord(readBlock(db, row.first_block + block), word, into)
}

function addPrefixed(db: Db, { row, directory }: LoadedSegment, prefix: Uint8Array, into: PostingList): void {
  const block = findBlock(directory, row.blocks, prefix)
  const frequencies = new FrequencySum(row.documents, into)
  for (let at = Math.max(0, block); at < row.blocks; at++) {
    const bytes = readBlock(db, row.first_block + at)
    if (at > block && !startsWith(firstWordOf(bytes), prefix)) break
    if (!findPrefix(bytes, prefix, (postingsAt) => frequencies.add(bytes, postingsAt))) break
  }
  frequencies.finish()
}

/** Adds up the postings of several words, which may be in the same documents. */
class FrequencySum {
  readonly #documents: number
  readonly #into: PostingList
  readonly #read = new PostingList()
  #sums: Uint8Array | undefined
  #isStarted = false

  /** @param into empty; complete after `finish` */
  constructor(documents: number, into: PostingList) {
    this.#documents = documents
    this.#into = into
  }

  add(block: Uint8Array, postingsAt: number): void {
    if (!this.#isStarted) {
      this.#isStarted = true
      readPostings(block, postingsAt, this.#into)
      return
    }
    if (!this.#sums) {
      this.#sums = new Uint8Array(this.#documents)
      addFrequencies(this.#into, this.#sums)
    }
    this.#read.count = 0
    readPostings(block, postingsAt, this.#read)
    addFrequencies(this.#read, this.#sums)
  }

  finish(): void {
    if (!this.#sums) return
    this.#into.count = 0
    for (const [document, frequency] of this.#sums.entries()) if (frequency > 0) this.#into.add(document, frequency)
  }
}

function addFrequencies({ documents, frequencies, count }: PostingList, to: Uint8Array): void {
  for (let at = 0; at < count; at++) {
    const document = documents[at] ?? 0
    to[document] = Math.min(255, (to[document] ?? 0) + (frequencies[at] ?? 1))
  }
}

function startsWith(word: Uint8Array, prefix: Uint8Array): boolean {
  if (word.length < prefix.length) return false
  for (let at = 0; at < prefix.length; at++) if (word[at] !== prefix[at]) return false
  return true
}
