/** Cuts chunks into lines without making an object of each: for passes that only glance at most of them. */
import { LineBuffer, MAX_LINE_BYTES } from './split-lines.ts'

export interface LineSink {
  /** The line's bytes are `bytes[from … to)`; they are valid during the call. */
  line(bytes: Buffer, from: number, to: number, ended: boolean): void
  tooLong(length: number): void
}

const NEWLINE = 10

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
