/**
 * The format of a segment's terms: a list of words in the order of their bytes, each with its postings, cut into
 * blocks.
 *
 * A document is one field of one message; its number counts from 0 within the segment. An entry consists of:
 *
 * - one byte: how many bytes its word shares with the previous word of the block
 * - one byte: the number of other bytes, and these bytes
 * - a number. Even: the only posting, as `document << 2 | hasFrequency << 1`. Odd: `length << 1 | 1`, the bytes that
 *   follow with several postings, each as `distance << 1 | hasFrequency` from the document before.
 *
 * A frequency above 1 follows its posting in one byte. Numbers have 7 bits per byte, lowest first; the highest bit of a
 * byte says that more follow.
 */

/** Only the beginning of a longer word is a term, in bytes of UTF-8. */
export const MAX_WORD_BYTES = 64
/** A block ends before the entry that would exceed this. Fits into a page of SQLite. */
const BLOCK_BYTES = 4000
export const MAX_FREQUENCY = 255

/** The blocks of a segment, one after another. */
export interface TermBlocks {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Where each block ends. */
  readonly ends: Uint32Array<ArrayBuffer>
}

/** Documents in ascending order with the frequency of the word in each. Grows, and is reused. */
export class PostingList {
  documents = new Uint32Array(1024)
  frequencies = new Uint8Array(1024)
  count = 0

  add(document: number, frequency: number): void {
    if (this.count === this.documents.length) this.#grow()
    this.documents[this.count] = document
    this.frequencies[this.count++] = frequency
  }

  #grow(): void {
    const documents = new Uint32Array(this.count * 2)
    documents.set(this.documents)
    this.documents = documents
    const frequencies = new Uint8Array(this.count * 2)
    frequencies.set(this.frequencies)
    this.frequencies = frequencies
  }
}

/** Writes the blocks of a segment. The WebAssembly module writes the same bytes. */
export class BlockWriter {
  #bytes = new Uint8Array(1 << 16)
  #used = 0
  readonly #ends: number[] = []
  #start = 0
  #before: Uint8Array | undefined

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
    this.#reserve(word.length + 16 + postings.count * 6)
    const shared = before ? sharedLength(word, before) : 0
    this.#bytes[this.#used++] = shared
    this.#bytes[this.#used++] = word.length - shared
    this.#bytes.set(word.subarray(shared), this.#used)
    this.#used += word.length - shared
    const { documents, frequencies, count } = postings
    if (count === 1) {
      const frequency = frequencies[0] ?? 1
      this.#number(((documents[0] ?? 0) << 2) | (frequency > 1 ? 2 : 0))
      if (frequency > 1) this.#bytes[this.#used++] = frequency
      return
    }
    this.#number((postingsLength(postings) << 1) | 1)
    for (let one = 0, previous = 0; one < count; one++) {
      const document = documents[one] ?? 0
      const frequency = frequencies[one] ?? 1
      this.#number(((document - previous) << 1) | (frequency > 1 ? 1 : 0))
      if (frequency > 1) this.#bytes[this.#used++] = frequency
      previous = document
    }
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

function postingsLength({ documents, frequencies, count }: PostingList): number {
  let length = 0
  for (let one = 0, previous = 0; one < count; one++) {
    const document = documents[one] ?? 0
    let rest = (document - previous) << 1
    do {
      length++
      rest >>>= 7
    } while (rest !== 0)
    if ((frequencies[one] ?? 1) > 1) length++
    previous = document
  }
  return length
}

function sharedLength(a: Uint8Array, b: Uint8Array): number {
  const limit = Math.min(a.length, b.length)
  let shared = 0
  while (shared < limit && a[shared] === b[shared]) shared++
  return shared
}

/** The first word of a block. */
export const firstWordOf = (block: Uint8Array): Uint8Array => block.subarray(2, 2 + (block[1] ?? 0))

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
    const shared = block[at] ?? 0
    const rest = block[at + 1] ?? 0
    const end = at + 2 + rest
    if (shared < matched) return false
    if (shared === matched) {
      let from = at + 2
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

/** Calls `visit` for each word that begins with the prefix. @returns whether a later block may contain more of them */
export function findPrefix(block: Uint8Array, prefix: Uint8Array, visit: (postingsAt: number) => void): boolean {
  let matched = 0
  for (let at = 0; at < block.length; ) {
    const shared = block[at] ?? 0
    const rest = block[at + 1] ?? 0
    const end = at + 2 + rest
    if (shared < matched) return false
    if (shared === matched && matched < prefix.length) {
      let from = at + 2
      while (from < end && matched < prefix.length && block[from] === prefix[matched]) {
        from++
        matched++
      }
      if (matched < prefix.length && from < end && (block[from] ?? 0) > (prefix[matched] ?? 0)) return false
    }
    if (matched === prefix.length) visit(end)
    at = skipPostings(block, end)
  }
  return true
}

/** @returns the end of the postings */
function skipPostings(block: Uint8Array, at: number): number {
  const head = readNumber(block, at)
  if (head & 1) return next + (head >>> 1)
  return head & 2 ? next + 1 : next
}

/** Appends the postings at this position. @returns their end */
export function readPostings(block: Uint8Array, at: number, into: PostingList): number {
  const head = readNumber(block, at)
  if ((head & 1) === 0) {
    into.add(head >>> 2, head & 2 ? (block[next++] ?? 1) : 1)
    return next
  }
  const end = next + (head >>> 1)
  if (end > block.length) throw new RangeError('the text index is damaged')
  let document = 0
  let from = next
  while (from < end) {
    const delta = readNumber(block, from)
    from = next
    document += delta >>> 1
    into.add(document, delta & 1 ? (block[from++] ?? 1) : 1)
  }
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
    const shared = this.#block[this.#at] ?? 0
    const rest = this.#block[this.#at + 1] ?? 0
    if (shared + rest > MAX_WORD_BYTES || shared > this.length) throw new RangeError('the text index is damaged')
    this.#postingsAt = this.#at + 2 + rest
    this.word.set(this.#block.subarray(this.#at + 2, this.#postingsAt), shared)
    this.length = shared + rest
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
