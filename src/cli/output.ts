/** Writing that waits for a slow reader and ends quietly when the reader goes away. */
import type { Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { printable } from '../lib/text.ts'
import { readableOutput, safeJson } from '../model/told/visible.ts'

export function endWithReader(): void {
  process.stdout.on('error', endQuietly)
  process.stderr.on('error', () => {})
}

function endQuietly(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
}

/**
 * For people. Views make text of others printable before they colour it; what they forget is spelled out here, so that no
 * command lets it through. A pipe gets no colours. Answers when the text has been handed on.
 */
export const writeOut = (text: string): Promise<void> =>
  answer(process.stdout.isTTY ? readableOutput(text) : printable(text))

/** For programs: one line that parses to the value, and does no harm in a terminal either. */
export const writeJson = (value: unknown): Promise<void> => answer(`${safeJson(JSON.stringify(value))}\n`)

/** For programs: to the letter, except on a terminal. Answers when the bytes may be used again. */
export const writeData = (data: string | Uint8Array): Promise<void> =>
  answer(process.stdout.isTTY ? safeJson(decoded(data)) : data)

/** For people, as `writeOut`; without colours. */
export const writeErr = (text: string): Promise<void> => write(process.stderr, printable(text))

/** As `writeJson`, to standard error. */
export const writeErrJson = (value: unknown, indent?: number): Promise<void> =>
  write(process.stderr, `${safeJson(JSON.stringify(value, null, indent))}\n`)

const decoder = new StringDecoder('utf8')

const decoded = (data: string | Uint8Array): string =>
  typeof data === 'string' ? data : decoder.write(Buffer.from(data.buffer, data.byteOffset, data.byteLength))

let isAnswered = false

function answer(data: string | Uint8Array): Promise<void> {
  isAnswered = true
  return write(target, data)
}

/** Part of the answer has been written: the command cannot start again. */
export const hasWritten = (): boolean => isAnswered

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
      await writeData(this.#buffer.subarray(0, this.#buffer.write(line.slice(from, to), 0, 'utf8')))
      from = to
    }
    await writeData('\n')
  }

  async flush(): Promise<void> {
    if (this.#used === 0) return
    const used = this.#used
    this.#used = 0
    await writeData(this.#buffer.subarray(0, used))
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
