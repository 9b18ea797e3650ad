/** Writing that waits for a slow reader and ends quietly when the reader goes away. */
import type { Writable } from 'node:stream'
import { printable } from '../lib/text.ts'

export function endWithReader(): void {
  process.stdout.on('error', endQuietly)
  process.stderr.on('error', () => {})
}

function endQuietly(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
}

/** Answers when the bytes have been handed on, so that their memory may be used again. */
export const writeOut = (text: string | Uint8Array): Promise<void> => write(target, text)
/** Logs and their names stand in it: no escape sequence of theirs reaches a terminal. */
export const writeErr = (text: string): Promise<void> =>
  write(process.stderr, process.stderr.isTTY ? printable(text) : text)

let target: Writable = process.stdout

/** From now on all that was asked for goes there. */
export function writeTo(stream: Writable): void {
  stream.on('error', endQuietly)
  target = stream
}

function write(stream: Writable, text: string | Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    stream.write(text, () => resolve())
  })
}

const CHUNK = 1 << 18
const WIDEST_LETTER = 3
const NEWLINE = 10

/** Gathers lines as bytes: joined as strings, one wide letter would double the width of all. */
export class LineWriter {
  readonly #buffer = Buffer.allocUnsafeSlow(CHUNK)
  #used = 0

  /** Answers nothing when there was nothing to wait for, which is nearly always. */
  writeLine(line: string): Promise<void> | undefined {
    const most = line.length * WIDEST_LETTER + 1
    if (this.#used + most > CHUNK) return this.#writeAfter(line, most)
    this.#used += this.#buffer.write(line, this.#used, 'utf8')
    this.#buffer[this.#used++] = NEWLINE
    return undefined
  }

  async #writeAfter(line: string, most: number): Promise<void> {
    await this.flush()
    if (most <= CHUNK) return this.writeLine(line)
    // In slices: a line of many megabytes is in memory often enough already.
    for (let from = 0; from < line.length; ) {
      const to = endOfSlice(line, from)
      await writeOut(this.#buffer.subarray(0, this.#buffer.write(line.slice(from, to), 0, 'utf8')))
      from = to
    }
    await writeOut('\n')
  }

  async flush(): Promise<void> {
    if (this.#used === 0) return
    const used = this.#used
    this.#used = 0
    await writeOut(this.#buffer.subarray(0, used))
  }
}

const SLICE = Math.floor(CHUNK / WIDEST_LETTER)

/** Never between the two halves of a letter. */
function endOfSlice(line: string, from: number): number {
  const to = from + SLICE
  if (to >= line.length) return line.length
  const code = line.charCodeAt(to - 1)
  return code >= 0xd800 && code <= 0xdbff ? to - 1 : to
}
