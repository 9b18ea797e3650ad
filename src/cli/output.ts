/** Writing that waits for a slow reader and ends quietly when the reader goes away. */
import type { Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { toPrintable } from '../lib/text.ts'
import { toReadableOutput, toSafeJson } from '../model/hostile-characters.ts'

export function exitOnClosedPipe(): void {
  process.stdout.on('error', exitOnEpipe)
  process.stderr.on('error', () => {})
}

function exitOnEpipe(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
}

/**
 * For people. Views make text of others printable before they colour it; what they forget is spelled out here, so that no
 * command lets it through. A pipe gets no colours. Answers when the text has been handed on.
 */
export const writeOut = (text: string): Promise<void> =>
  writeAnswer(process.stdout.isTTY ? toReadableOutput(text) : toPrintable(text))

/** For programs: one line that parses to the value, and does no harm in a terminal either. */
export const writeOutJson = (value: unknown): Promise<void> => writeAnswer(`${toSafeJson(JSON.stringify(value))}\n`)

/** For programs: to the letter, except on a terminal. Answers when the bytes may be used again. */
export const writeData = (data: string | Uint8Array): Promise<void> =>
  writeAnswer(process.stdout.isTTY ? toSafeJson(toText(data)) : data)

/** For people, as `writeOut`; without colours. */
export const writeErr = (text: string): Promise<void> => writeStream(process.stderr, toPrintable(text))

/** As `writeOutJson`, to standard error. */
export const writeErrJson = (value: unknown, indent?: number): Promise<void> =>
  writeStream(process.stderr, `${toSafeJson(JSON.stringify(value, null, indent))}\n`)

const decoder = new StringDecoder('utf8')

const toText = (data: string | Uint8Array): string =>
  typeof data === 'string' ? data : decoder.write(Buffer.from(data.buffer, data.byteOffset, data.byteLength))

let hasAnswered = false

function writeAnswer(data: string | Uint8Array): Promise<void> {
  hasAnswered = true
  return writeStream(outputStream, data)
}

/** Part of the answer has been written: the command cannot start again. */
export const hasWritten = (): boolean => hasAnswered

let outputStream: Writable = process.stdout

/** From now on all that was asked for goes there. */
export function redirectOutput(stream: Writable): void {
  stream.on('error', exitOnEpipe)
  outputStream = stream
}

function writeStream(stream: Writable, text: string | Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    stream.write(text, () => resolve())
  })
}

const CHUNK_BYTES = 1 << 18
const MAX_BYTES_PER_UNIT = 3
const NEWLINE = 10

/** Gathers lines as bytes: joined as strings, one wide letter would double the width of all. */
export class LineWriter {
  readonly #buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  #used = 0

  /** Answers nothing when there was nothing to wait for, which is nearly always. */
  writeLine(line: string): Promise<void> | undefined {
    const maxBytes = line.length * MAX_BYTES_PER_UNIT + 1
    if (this.#used + maxBytes > CHUNK_BYTES) return this.#writeAfterFlush(line, maxBytes)
    this.#used += this.#buffer.write(line, this.#used, 'utf8')
    this.#buffer[this.#used++] = NEWLINE
    return undefined
  }

  async #writeAfterFlush(line: string, maxBytes: number): Promise<void> {
    await this.flush()
    if (maxBytes <= CHUNK_BYTES) return this.writeLine(line)
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

const SLICE_LENGTH = Math.floor(CHUNK_BYTES / MAX_BYTES_PER_UNIT)

/** Never between the two halves of a letter. */
function endOfSlice(line: string, from: number): number {
  const to = from + SLICE_LENGTH
  if (to >= line.length) return line.length
  const code = line.charCodeAt(to - 1)
  return code >= 0xd800 && code <= 0xdbff ? to - 1 : to
}
