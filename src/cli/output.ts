/** Output that waits for a slow reader and ends quietly when the reader closes the pipe. */
import type { Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { toPrintable } from '../lib/text.ts'
import { toReadableOutput, toSafeJson } from '../model/hostile-characters.ts'

/** Prepares the streams for a command. */
export function openOutput(): void {
  hasAnswered = false
  process.stdout.on('error', exitOnEpipe)
  process.stderr.on('error', () => {})
}

function exitOnEpipe(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
}

/**
 * For people. Views escape foreign text before they colour it; anything they miss is escaped here. A pipe gets no
 * colours. Resolves when the stream has accepted the text.
 */
export const writeOut = (text: string): Promise<void> =>
  writeAnswer(process.stdout.isTTY ? toReadableOutput(text) : toPrintable(text))

/** For programs: one line of JSON, escaped so that a terminal can print it safely. */
export const writeOutJson = (value: unknown): Promise<void> => writeAnswer(`${toSafeJson(JSON.stringify(value))}\n`)

/** For programs: unchanged, except on a terminal. Resolves when the buffer may be reused. */
export const writeData = (data: string | Uint8Array): Promise<void> =>
  writeAnswer(process.stdout.isTTY ? toSafeJson(toText(data)) : data)

/** For people, like `writeOut`, without colours. */
export const writeErr = (text: string): Promise<void> => writeStream(process.stderr, toPrintable(text))

/** Like `writeOutJson`, to standard error. */
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

/** Once something was printed, the command cannot be run again. */
export const hasWritten = (): boolean => hasAnswered

let outputStream: Writable = process.stdout

/** Sends all further output to the stream. */
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

/** Collects lines as bytes: in a joined string, a single wide character would double the memory of all lines. */
export class LineWriter {
  readonly #buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  #used = 0

  /** Returns a promise only when the buffer had to be written first. */
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
    // Encodes in slices, to avoid another copy of a line of many megabytes.
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

/** Never splits a surrogate pair. */
function endOfSlice(line: string, from: number): number {
  const to = from + SLICE_LENGTH
  if (to >= line.length) return line.length
  const code = line.charCodeAt(to - 1)
  return code >= 0xd800 && code <= 0xdbff ? to - 1 : to
}
