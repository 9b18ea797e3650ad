/** Splits bytes into lines at `\n` only: a lone CR and U+2028 occur inside JSON strings and end nothing. */
import { isUtf8 } from 'node:buffer'
import { closeSync, readSync } from 'node:fs'
import { openRegularFile } from './files/regular-file.ts'

export interface ByteLine {
  /** 1-based; blank lines count. */
  readonly number: number
  /** Of the line's first byte in the (decompressed) file. */
  readonly offset: number
  /** In bytes, without the newline. */
  readonly length: number
  /** A view that is valid until the next batch is asked for; absent when the line is too long to be held. */
  readonly bytes: Buffer | undefined
  /** False for a last line without its newline: its writer may still be at it. */
  readonly ended: boolean
  /** Known to be UTF-8 throughout. When false, only this line's own check tells. */
  readonly utf8: boolean
}

/** A line takes about six times its length while it is read. The longest that any agent is known to have written is 54 MB. */
export const MAX_LINE_BYTES = 128_000_000

const NEWLINE = 10

/** One batch of lines per chunk. The chunks may reuse their memory. */
export async function* splitLines(
  chunks: AsyncIterable<Buffer>,
  start: { readonly offset: number; readonly number: number } = { offset: 0, number: 1 },
  maxBytes = MAX_LINE_BYTES,
): AsyncGenerator<readonly ByteLine[]> {
  let { offset, number } = start
  // Two in turn: the line that ends in this chunk is still being read while the next one's beginning is put aside.
  let current = new LineBuffer(maxBytes)
  let previous = new LineBuffer(maxBytes)
  for await (const chunk of chunks) {
    const batch: ByteLine[] = []
    const utf8 = isUtf8(chunk)
    let at = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, at)) {
      const isInChunk = current.length === 0
      if (!isInChunk) current.add(chunk.subarray(at, end))
      const length = isInChunk ? end - at : current.length
      const bytes = isInChunk ? chunk.subarray(at, end) : current.bytes()
      batch.push({ number, offset, length, bytes, ended: true, utf8: utf8 && isInChunk })
      if (!isInChunk) {
        const used = current
        current = previous
        previous = used
        current.clear()
      }
      offset += length + 1
      number++
      at = end + 1
    }
    if (at < chunk.length) current.add(chunk.subarray(at))
    if (batch.length > 0) yield batch
    previous.clear()
  }
  if (current.length > 0) {
    yield [{ number, offset, length: current.length, bytes: current.bytes(), ended: false, utf8: false }]
  }
}

/** Memory that is worth keeping for the next line. */
const MAX_REUSED_BYTES = 1 << 22

/** The beginning of a line whose end has not been seen, in memory that is used again and again. */
export class LineBuffer {
  length = 0
  readonly #maxBytes: number
  #memory = Buffer.alloc(0)

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  add(bytes: Buffer): void {
    const needed = this.length + bytes.length
    if (needed <= this.#maxBytes) {
      if (needed > this.#memory.length) this.#grow(needed)
      bytes.copy(this.#memory, this.length)
    } else if (this.#memory.length > 0) this.#memory = Buffer.alloc(0)
    this.length = needed
  }

  /** Nothing when the line is too long to be held. Valid until `clear` or `add`. */
  bytes(): Buffer | undefined {
    return this.length > this.#maxBytes ? undefined : this.#memory.subarray(0, this.length)
  }

  clear(): void {
    this.length = 0
    if (this.#memory.length > MAX_REUSED_BYTES) this.#memory = Buffer.alloc(0)
  }

  #grow(needed: number): void {
    const grown = Buffer.allocUnsafeSlow(Math.min(this.#maxBytes, Math.max(1 << 16, needed + (needed >> 1))))
    this.#memory.copy(grown, 0, 0, Math.min(this.length, this.#memory.length))
    this.#memory = grown
  }
}

interface DecodedLine {
  readonly text: string
  /** Bytes that are not UTF-8 were replaced by U+FFFD. */
  readonly repaired: boolean
  /** NUL bytes were cut off at the ends: what a crashed file system leaves. */
  readonly nuls: boolean
}

/** The line's text without BOM (on line 1), NULs at the ends and CR at the end. */
export function decodeLine(line: Pick<ByteLine, 'number' | 'utf8'>, bytes: Buffer): DecodedLine {
  const last = bytes[bytes.length - 1]
  if (bytes[0] === OPEN_BRACE && last === CLOSE_BRACE)
    return { text: bytes.toString('utf8'), repaired: isInvalidUtf8(line, bytes), nuls: false }
  const bom = line.number === 1 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  let from = bom ? 3 : 0
  let to = bytes.length
  let nuls = 0
  for (; from < to && bytes[from] === 0; from++) nuls++
  for (; to > from && (bytes[to - 1] === 0 || bytes[to - 1] === CR); to--) if (bytes[to - 1] === 0) nuls++
  const inner = bytes.subarray(from, to)
  return { text: inner.toString('utf8'), repaired: isInvalidUtf8(line, inner), nuls: nuls > 0 }
}

const isInvalidUtf8 = (line: Pick<ByteLine, 'utf8'>, bytes: Buffer): boolean => !line.utf8 && !isUtf8(bytes)

const CR = 13
const OPEN_BRACE = 123
const CLOSE_BRACE = 125

export interface LineSink {
  /** The line's bytes are `bytes[from … to)`; they are valid during the call. */
  line(bytes: Buffer, from: number, to: number, ended: boolean): void
  tooLong(length: number): void
}

export class LineSplitter {
  /** Of the line that is being given or comes next. */
  number: number
  offset: number
  /** The last whole line of the chunk that was fed last. */
  last: Buffer | undefined
  readonly #buffer = new LineBuffer(MAX_LINE_BYTES)

  constructor(start: { readonly offset: number; readonly number: number }) {
    this.offset = start.offset
    this.number = start.number
  }

  feed(chunk: Buffer, sink: LineSink): void {
    let at = 0
    let lastAt = -1
    this.last = undefined
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, at)) {
      let length = end - at
      if (this.#buffer.length > 0) {
        this.#buffer.add(chunk.subarray(at, end))
        length = this.#buffer.length
        this.#emit(sink, true)
      } else {
        sink.line(chunk, at, end, true)
        lastAt = at
      }
      this.offset += length + 1
      this.number++
      at = end + 1
    }
    if (lastAt >= 0) this.last = chunk.subarray(lastAt, at - 1)
    if (at < chunk.length) this.#buffer.add(chunk.subarray(at))
  }

  /** A last line without its newline. */
  end(sink: LineSink): void {
    if (this.#buffer.length > 0) this.#emit(sink, false)
  }

  #emit(sink: LineSink, ended: boolean): void {
    const bytes = this.#buffer.bytes()
    if (bytes) sink.line(bytes, 0, bytes.length, ended)
    else sink.tooLong(this.#buffer.length)
    // Copied: the beginning of the next line may be put into the same memory before anybody asks.
    this.last = bytes && Buffer.from(bytes)
    this.#buffer.clear()
  }
}

interface PeekedLine {
  readonly bytes: Buffer
  /** Offset of the byte after the line's newline. */
  readonly end: number
}

const CHUNK_BYTES = 1 << 18
/** Looking further than this would hold too much. */
const MAX_LOOKAHEAD_BYTES = 1 << 24

/** A file that cannot be opened has no lines. */
export class LineLookahead {
  #fd: number | undefined
  #offset: number
  #taken: number
  #buffered = Buffer.alloc(0)
  readonly #ahead: PeekedLine[] = []

  constructor(path: string, offset: number) {
    this.#offset = offset
    this.#taken = offset
    try {
      this.#fd = openRegularFile(path)
    } catch {
      this.#fd = undefined
    }
  }

  /** Takes all lines up to the first that fits, among the next `window`; answers the offset behind it. */
  find(window: number, fits: (bytes: Buffer) => boolean): number | undefined {
    for (let at = 0; at < window; at++) {
      const line = this.#peek(at)
      if (!line || line.end - this.#taken > MAX_LOOKAHEAD_BYTES) return undefined
      if (!fits(line.bytes)) continue
      this.#ahead.splice(0, at + 1)
      this.#taken = line.end
      return line.end
    }
    return undefined
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
  }

  #peek(at: number): PeekedLine | undefined {
    while (this.#ahead.length <= at && this.#fill());
    return this.#ahead[at]
  }

  /** `#offset` is where the buffered bytes begin. */
  #fill(): boolean {
    for (;;) {
      const end = this.#buffered.indexOf(10)
      if (end >= 0) {
        this.#offset += end + 1
        this.#ahead.push({ bytes: this.#buffered.subarray(0, end), end: this.#offset })
        this.#buffered = this.#buffered.subarray(end + 1)
        return true
      }
      if (this.#fd === undefined) return false
      // Doubling keeps a line of many megabytes from being copied once per chunk.
      const chunk = Buffer.allocUnsafe(Math.max(CHUNK_BYTES, this.#buffered.length))
      const read = readSync(this.#fd, chunk, 0, chunk.length, this.#offset + this.#buffered.length)
      if (read === 0) return false
      this.#buffered = Buffer.concat([this.#buffered, chunk.subarray(0, read)])
    }
  }
}
