/**
 * The format of a segment's terms: a list of words in the order of their bytes, each with its postings, cut into
 * blocks.
 *
 * A document is one field of one message; its number counts from 0 within the segment. An entry consists of:
 *
 * - one byte: in the high half, how many bytes its word shares with the previous word of the block, in the low half the
 *   number of its other bytes. 15 says that a byte of its own follows, for the shared bytes first
 * - the other bytes
 * - a number. Even: the only posting, as `document << 1`; the word occurs once. Odd: `length << 1 | 1`, the bytes that
 *   follow with a list of postings (`postings.ts`)
 *
 * Numbers have 7 bits per byte, lowest first; the highest bit of a byte says that more follow.
 */
import { maxPostingBytes, type PostingList, readPostingBits, writePostingBits } from './postings.ts'

/** Only the beginning of a longer word is a term, in bytes of UTF-8. */
export const MAX_WORD_BYTES = 64
/** A block ends before the entry that would exceed this. As much as a page of SQLite holds. */
const BLOCK_BYTES = 4056
/** Halves of the first byte of an entry from here on are in bytes of their own. */
const LONG = 15

/** The blocks of a segment, one after another. */
export interface TermBlocks {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Where each block ends. */
  readonly ends: Uint32Array<ArrayBuffer>
}

/** Writes the blocks of a segment. The WebAssembly module writes the same bytes. */
export class BlockWriter {
  #bytes = new Uint8Array(1 << 16)
  #used = 0
  readonly #ends: number[] = []
  #start = 0
  #before: Uint8Array | undefined
  #list = new Uint8Array(1 << 10)

  /** @param word follows the previous one in byte order */
  add(word: Uint8Array, postings: PostingList): void {
    const at = this.#used
    this.#write(word, this.#before, postings)
    if (this.#before && this.#used - this.#start > BLOCK_BYTES) {
      this.#ends.push(at)
      this.#start = at
      this.#used = at
      this.#write(word, undefined, postings)
    }
    this.#before = word
  }

  take(): TermBlocks {
    if (this.#used > this.#start) this.#ends.push(this.#used)
    return { bytes: this.#bytes.slice(0, this.#used), ends: Uint32Array.from(this.#ends) }
  }

  #write(word: Uint8Array, before: Uint8Array | undefined, postings: PostingList): void {
    const { documents, frequencies, count } = postings
    const most = maxPostingBytes(count)
    this.#reserve(word.length + 16 + most)
    const shared = before ? sharedLength(word, before) : 0
    const rest = word.length - shared
    this.#bytes[this.#used++] = (Math.min(shared, LONG) << 4) | Math.min(rest, LONG)
    if (shared >= LONG) this.#bytes[this.#used++] = shared
    if (rest >= LONG) this.#bytes[this.#used++] = rest
    this.#bytes.set(word.subarray(shared), this.#used)
    this.#used += rest
    if (count === 1 && frequencies[0] === 1) return this.#number((documents[0] ?? 0) << 1)
    if (this.#list.length < most) this.#list = new Uint8Array(most * 2)
    const length = writePostingBits(this.#list, 0, postings)
    this.#number((length << 1) | 1)
    this.#bytes.set(this.#list.subarray(0, length), this.#used)
    this.#used += length
  }

  #number(value: number): void {
    let rest = value >>> 0
    for (; rest > 127; rest >>>= 7) this.#bytes[this.#used++] = (rest & 127) | 128
    this.#bytes[this.#used++] = rest
  }

  #reserve(count: number): void {
    if (this.#used + count <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#used + count))
    grown.set(this.#bytes)
    this.#bytes = grown
  }
}

function sharedLength(a: Uint8Array, b: Uint8Array): number {
  const limit = Math.min(a.length, b.length)
  let shared = 0
  while (shared < limit && a[shared] === b[shared]) shared++
  return shared
}

/** The first word of a block. */
export function firstWordOf(block: Uint8Array): Uint8Array {
  const short = (block[0] ?? 0) & LONG
  return short < LONG ? block.subarray(1, 1 + short) : block.subarray(2, 2 + (block[1] ?? 0))
}

/** How many bytes the word of the entry that `readEntry` read shares with the one before, and where its others are. */
let shared = 0
let restAt = 0
let restEnd = 0

function readEntry(block: Uint8Array, at: number): void {
  const head = block[at] ?? 0
  restAt = at + 1
  shared = head >>> 4
  let rest = head & LONG
  if (shared === LONG) shared = block[restAt++] ?? 0
  if (rest === LONG) rest = block[restAt++] ?? 0
  restEnd = restAt + rest
}

/** Position of a number after the one that `readNumber` returned. */
let next = 0

function readNumber(bytes: Uint8Array, at: number): number {
  let value = 0
  let shift = 0
  next = at
  for (;;) {
    const byte = bytes[next++]
    // Only a damaged block ends inside a number.
    if (byte === undefined || shift > 28) throw new RangeError('the text index is damaged')
    value |= (byte & 127) << shift
    if (byte < 128) return value >>> 0
    shift += 7
  }
}

/** Adds the postings of a word, if the block contains it. @returns whether it does */
export function findWord(block: Uint8Array, word: Uint8Array, into: PostingList): boolean {
  /** Number of bytes that the word shares with the entry before, which sorts before it. */
  let matched = 0
  for (let at = 0; at < block.length; ) {
    readEntry(block, at)
    const end = restEnd
    if (shared < matched) return false
    if (shared === matched) {
      let from = restAt
      while (from < end && matched < word.length && block[from] === word[matched]) {
        from++
        matched++
      }
      if (from === end && matched === word.length) {
        readPostings(block, end, into)
        return true
      }
      if (matched === word.length || (from < end && (block[from] ?? 0) > (word[matched] ?? 0))) return false
    }
    at = skipPostings(block, end)
  }
  return false
}

/** What follows the prefix in the word that `findPrefix` visits. Valid until the visit returns. */
export interface WordRest {
  readonly bytes: Uint8Array
  readonly length: number
}

/** Calls `visit` for each word that begins with the prefix. @returns whether a later block may contain more of them */
export function findPrefix(
  block: Uint8Array,
  prefix: Uint8Array,
  visit: (postingsAt: number, rest: WordRest) => void,
): boolean {
  const word = { bytes: new Uint8Array(256), length: 0 }
  let matched = 0
  for (let at = 0; at < block.length; ) {
    readEntry(block, at)
    const end = restEnd
    let from = restAt
    if (shared < matched) return false
    if (shared === matched && matched < prefix.length) {
      while (from < end && matched < prefix.length && block[from] === prefix[matched]) {
        from++
        matched++
      }
      if (matched < prefix.length && from < end && (block[from] ?? 0) > (prefix[matched] ?? 0)) return false
    }
    if (matched === prefix.length) {
      let length = Math.max(0, shared - prefix.length)
      while (from < end) word.bytes[length++ & 255] = block[from++] ?? 0
      word.length = Math.min(length, 255)
      visit(end, word)
    }
    at = skipPostings(block, end)
  }
  return true
}

/** @returns the end of the postings */
function skipPostings(block: Uint8Array, at: number): number {
  const head = readNumber(block, at)
  return head & 1 ? next + (head >>> 1) : next
}

/** Appends the postings at this position. @returns their end */
export function readPostings(block: Uint8Array, at: number, into: PostingList): number {
  const head = readNumber(block, at)
  if ((head & 1) === 0) {
    into.add(head >>> 1, 1)
    return next
  }
  const from = next
  const end = from + (head >>> 1)
  if (end > block.length) throw new RangeError('the text index is damaged')
  readPostingBits(block, from, end, into)
  return end
}

/** Visits the words of a segment in order, for a merge. */
export class WordCursor {
  /** Valid until the next call of `advance`. Its length is `length`. */
  readonly word = new Uint8Array(MAX_WORD_BYTES)
  length = 0
  readonly #nextBlock: () => Uint8Array | undefined
  #block: Uint8Array = new Uint8Array(0)
  #at = 0
  #postingsAt = 0

  /** @param nextBlock returns the blocks in order */
  constructor(nextBlock: () => Uint8Array | undefined) {
    this.#nextBlock = nextBlock
  }

  /** Moves to the next word. @returns false after the last one */
  advance(): boolean {
    if (this.#at >= this.#block.length) {
      const block = this.#nextBlock()
      if (!block) return false
      this.#block = block
      this.#at = 0
    }
    readEntry(this.#block, this.#at)
    const length = shared + restEnd - restAt
    if (length > MAX_WORD_BYTES || shared > this.length) throw new RangeError('the text index is damaged')
    this.#postingsAt = restEnd
    this.word.set(this.#block.subarray(restAt, restEnd), shared)
    this.length = length
    this.#at = skipPostings(this.#block, this.#postingsAt)
    return true
  }

  postings(into: PostingList): void {
    readPostings(this.#block, this.#postingsAt, into)
  }
}

/** Compares two words byte by byte. */
export function compareWords(a: Uint8Array, aLength: number, b: Uint8Array, bLength: number): number {
  const limit = Math.min(aLength, bLength)
  for (let at = 0; at < limit; at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0)
    if (difference !== 0) return difference
  }
  return aLength - bLength
}
