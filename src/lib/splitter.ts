/** Cuts chunks into lines without making an object of each: for passes that only glance at most of them. */
import { LONGEST_LINE } from './jsonl.ts'

export interface LineSink {
  /** The line's bytes are `bytes[from … to)`; they are valid during the call. */
  line(bytes: Buffer, from: number, to: number, ended: boolean): void
  tooLong(length: number): void
}

const NEWLINE = 10

export class Splitter {
  /** Of the line that is being given or comes next. */
  number: number
  offset: number
  /** The last whole line of the chunk that was fed last. */
  last: Buffer | undefined
  #carried: Buffer[] = []
  #carriedLength = 0

  constructor(start: { readonly offset: number; readonly number: number }) {
    this.offset = start.offset
    this.number = start.number
  }

  feed(chunk: Buffer, sink: LineSink): void {
    let at = 0
    let lastAt = -1
    this.last = undefined
    for (let end = chunk.indexOf(NEWLINE, at); end >= 0; end = chunk.indexOf(NEWLINE, at)) {
      const length = this.#carriedLength + end - at
      if (this.#carriedLength > 0) this.#giveCarried(chunk.subarray(at, end), sink)
      else {
        sink.line(chunk, at, end, true)
        lastAt = at
      }
      this.offset += length + 1
      this.number++
      at = end + 1
    }
    if (lastAt >= 0) this.last = chunk.subarray(lastAt, at - 1)
    if (at < chunk.length) this.#carry(chunk.subarray(at))
  }

  /** A last line without its newline. */
  end(sink: LineSink): void {
    if (this.#carriedLength === 0) return
    if (this.#carriedLength > LONGEST_LINE) return sink.tooLong(this.#carriedLength)
    const bytes = Buffer.concat(this.#carried)
    sink.line(bytes, 0, bytes.length, false)
  }

  #giveCarried(rest: Buffer, sink: LineSink): void {
    const length = this.#carriedLength + rest.length
    if (length > LONGEST_LINE) sink.tooLong(length)
    else {
      const bytes = Buffer.concat([...this.#carried, rest])
      sink.line(bytes, 0, bytes.length, true)
      this.last = bytes
    }
    this.#carried = []
    this.#carriedLength = 0
  }

  #carry(rest: Buffer): void {
    this.#carriedLength += rest.length
    if (this.#carriedLength > LONGEST_LINE) this.#carried = []
    else this.#carried.push(Buffer.from(rest))
  }
}
