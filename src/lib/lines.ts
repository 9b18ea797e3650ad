/** Splits bytes into lines at `\n` only: a lone CR and U+2028 occur inside JSON strings and do not end a line. */
import { isUtf8 } from 'node:buffer'
import { closeSync, readSync } from 'node:fs'
import { openRegularFile } from './files/regular-file.ts'
import { decodeValidUtf8 } from './text.ts'

export interface ByteLine {
  /** 1-based; blank lines count. */
  readonly number: number
  /** Offset in the decompressed file. */
  readonly offset: number
  /** Without the newline. */
  readonly length: number
  /** Valid until the next batch is requested; undefined for a line too long to hold. */
  readonly bytes: Buffer | undefined
  /** False for a last line without newline, which may still be being written. */
  readonly ended: boolean
  /** Known to be valid UTF-8. If false, check the line itself. */
  readonly utf8: boolean
}

/** Reading a line takes about six times its length in memory. The longest known line of any agent has 54 MB. */
export const MAX_LINE_BYTES = 128_000_000

const NEWLINE = 10

/** One batch of lines per chunk. The chunks may reuse their memory. */
export async function* splitLines(
  chunks: AsyncIterable<Buffer>,
  start: { readonly offset: number; readonly number: number } = { offset: 0, number: 1 },
  maxBytes = MAX_LINE_BYTES,
): AsyncGenerator<readonly ByteLine[]> {
  let { offset, number } = start
  // Two alternate: the line that ends in this chunk is still in use while the beginning of the next is stored.
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

const MAX_REUSED_BYTES = 1 << 22

/** The beginning of an incomplete line, in reused memory. */
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

  /** Undefined for a line too long to hold. Valid until `clear` or `add`. */
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
  /** Invalid UTF-8 was replaced by U+FFFD. */
  readonly repaired: boolean
  /** NUL bytes at the ends were removed; a crashed file system leaves them. */
  readonly nuls: boolean
}

/** Without the byte order mark (on line 1), NULs at the ends and a final CR. */
export function decodeLine(line: Pick<ByteLine, 'number' | 'utf8'>, bytes: Buffer): DecodedLine {
  const last = bytes[bytes.length - 1]
  if (bytes[0] === OPEN_BRACE && last === CLOSE_BRACE) return decodeChecked(line, bytes, false)
  const bom = line.number === 1 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  let from = bom ? 3 : 0
  let to = bytes.length
  let nuls = 0
  for (; from < to && bytes[from] === 0; from++) nuls++
  for (; to > from && (bytes[to - 1] === 0 || bytes[to - 1] === CR); to--) if (bytes[to - 1] === 0) nuls++
  const inner = bytes.subarray(from, to)
  return decodeChecked(line, inner, nuls > 0)
}

function decodeChecked({ utf8 }: Pick<ByteLine, 'utf8'>, bytes: Buffer, nuls: boolean): DecodedLine {
  const isValid = utf8 || isUtf8(bytes)
  return { text: isValid ? decodeValidUtf8(bytes) : bytes.toString('utf8'), repaired: !isValid, nuls }
}

const CR = 13
const OPEN_BRACE = 123
const CLOSE_BRACE = 125

export interface LineSink {
  /** The line is `bytes[from … to)`, valid during the call. */
  line(bytes: Buffer, from: number, to: number, ended: boolean): void
  tooLong(length: number): void
}

export class LineSplitter {
  /** The current or next line. */
  number: number
  offset: number
  /** The last complete line of the last chunk. */
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
    // Copied, because the buffer is reused for the next line.
    this.last = bytes && Buffer.from(bytes)
    this.#buffer.clear()
  }
}

interface PeekedLine {
  readonly bytes: Buffer
  /** Offset after the newline. */
  readonly end: number
}

const CHUNK_BYTES = 1 << 18
const MAX_LOOKAHEAD_BYTES = 1 << 24

/** Reads a second file line by line, in step with another one. A file that cannot be opened has no lines. */
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

  /** Consumes the lines up to the first match among the next `window`; returns the offset after it. */
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
      // Doubling avoids copying a very long line once per chunk.
      const chunk = Buffer.allocUnsafe(Math.max(CHUNK_BYTES, this.#buffered.length))
      const read = readSync(this.#fd, chunk, 0, chunk.length, this.#offset + this.#buffered.length)
      if (read === 0) return false
      this.#buffered = Buffer.concat([this.#buffered, chunk.subarray(0, read)])
    }
  }
}
