/** Looks at a file's coming lines without taking them, to compare it with another file in step. */
import { closeSync, readSync } from 'node:fs'
import { openRegularFile } from '../files/regular-file.ts'

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
