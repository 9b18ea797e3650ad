/** Splits a JSON array into elements while reading it. Takes the memory of one element for an array of any size. */
import { type ByteLine, LineBuffer, MAX_LINE_BYTES } from '../lines.ts'
import { findStringEndInBytes, isEscaped } from './scanner.ts'

/** Position after an element, from which reading continues; undefined at the beginning. */
export interface ElementPosition {
  /** Offset of the byte after the element. */
  readonly offset: number
  /** Number of the next element, from 1. */
  readonly number: number
}

/**
 * Yields one batch of elements per chunk, in the form of lines: number, offset and bytes. If the array is truncated in
 * an element, this element is not `ended`. Yields nothing if the value is not an array.
 * @param onTrailingBytes called if anything but white space follows the array
 */
export async function* splitElements(
  chunks: AsyncIterable<Buffer>,
  start: ElementPosition | undefined,
  onTrailingBytes: () => void = () => {},
): AsyncGenerator<readonly ByteLine[]> {
  const scanner = new ElementScanner(start)
  for await (const chunk of chunks) {
    const batch = scanner.feed(chunk)
    if (batch.length > 0) yield batch
    if (scanner.hasStrayBytes) break
  }
  if (scanner.hasStrayBytes) onTrailingBytes()
  const last = scanner.end()
  if (last) yield [last]
}

class ElementScanner {
  /** There is other text before or after the array. */
  hasStrayBytes = false
  #depth: number
  #isString = false
  #isEscaped = false
  #closed = false
  #number: number
  /** Offset of the first byte of the chunk. */
  #base: number
  /** Index of the open element in the chunk; -1 if it began earlier, or none is open. */
  #from = -1
  /** Offset of the open element. */
  #offset = 0
  /** Two alternate: the previous element is still being read when the next one begins. */
  #current = new LineBuffer(MAX_LINE_BYTES)
  #previous = new LineBuffer(MAX_LINE_BYTES)

  constructor(start: ElementPosition | undefined) {
    this.#depth = start ? 1 : 0
    this.#base = start?.offset ?? 0
    this.#number = start?.number ?? 1
  }

  feed(chunk: Buffer): readonly ByteLine[] {
    const batch: ByteLine[] = []
    this.#previous.clear()
    if (this.#current.length > 0) this.#from = 0
    for (let at = 0; at < chunk.length && !this.hasStrayBytes; ) {
      if (this.#isString) at = this.#inString(chunk, at)
      else if (this.#depth > 1) at = this.#inElement(chunk, at)
      else this.#between(chunk[at] ?? 0, at++, chunk, batch)
    }
    if (this.#from >= 0) this.#current.add(chunk.subarray(this.#from))
    this.#from = -1
    this.#base += chunk.length
    return batch
  }

  end(): ByteLine | undefined {
    const { length } = this.#current
    if (length === 0) return undefined
    return {
      number: this.#number,
      offset: this.#offset,
      length,
      bytes: this.#current.bytes(),
      ended: false,
      utf8: false,
    }
  }

  /** The index after the string, or the length of the chunk. */
  #inString(chunk: Buffer, from: number): number {
    const start = this.#isEscaped ? from + 1 : from
    const end = findStringEndInBytes(chunk, start)
    this.#isString = end < 0
    this.#isEscaped = end < 0 && isEscaped(chunk, chunk.length, start)
    return end < 0 ? chunk.length : end
  }

  /** The index where a string begins, the element ends, or the chunk ends. */
  #inElement(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at] as number
      if (byte === QUOTE) {
        this.#isString = true
        return at + 1
      }
      if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) this.#depth++
      else if ((byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) && --this.#depth === 1) return at + 1
    }
    return chunk.length
  }

  /** Handles a byte between elements. Scalars end at the next comma. */
  #between(byte: number, at: number, chunk: Buffer, batch: ByteLine[]): void {
    if (byte <= LAST_SPACE_CODE || isByteOrderMark(byte, this.#depth)) return
    if (this.#closed) {
      this.hasStrayBytes = true
      return
    }
    if (this.#depth === 0) {
      if (byte === OPEN_ARRAY) this.#depth = 1
      else this.hasStrayBytes = true
      return
    }
    const isOpen = this.#from >= 0
    if (byte === COMMA || byte === CLOSE_ARRAY) {
      if (isOpen) batch.push(this.#take(chunk, at))
      if (byte === CLOSE_ARRAY) this.#closed = true
      return
    }
    if (!isOpen) {
      this.#from = at
      this.#offset = this.#base + at
    }
    if (byte === QUOTE) this.#isString = true
    if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) this.#depth++
  }

  #take(chunk: Buffer, end: number): ByteLine {
    const piece = chunk.subarray(this.#from, end)
    let bytes: Buffer | undefined = piece
    let { length } = piece
    if (this.#current.length > 0) {
      this.#current.add(piece)
      bytes = this.#current.bytes()
      length = this.#current.length
      const used = this.#current
      this.#current = this.#previous
      this.#previous = used
      this.#current.clear()
    }
    this.#from = -1
    if (bytes) {
      while (length > 0 && (bytes[length - 1] ?? 0) <= LAST_SPACE_CODE) length--
      bytes = bytes.subarray(0, length)
    }
    return { number: this.#number++, offset: this.#offset, length, bytes, ended: true, utf8: false }
  }
}

/** A byte order mark before the array. */
const isByteOrderMark = (byte: number, depth: number): boolean =>
  depth === 0 && (byte === 0xef || byte === 0xbb || byte === 0xbf)

/** Codes up to this one are white space, or NUL. */
const LAST_SPACE_CODE = 32

const QUOTE = 34
const COMMA = 44
const OPEN_ARRAY = 91
const CLOSE_ARRAY = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125
