/** The protocol over standard input and output: one message per line. Ends when the input ends, or with its parent. */
import type { Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { Connection, type ConnectionOptions } from './connection.ts'
import { errorMessage, INVALID_REQUEST, type Outgoing, PARSE_ERROR } from './message.ts'

/** Longer messages are refused: no call needs them. */
const MAX_MESSAGE = 1_000_000
const PARENT_CHECK_MS = 2000

/** Resolves when the client is gone. */
export async function serveStdio(options: ConnectionOptions, input: Readable, output: Writable): Promise<void> {
  const connection = new Connection(options)
  const send = (message: Outgoing): void => {
    output.write(`${JSON.stringify(message)}\n`)
  }
  const lines = new LineReader((line) => {
    if (line === undefined)
      return send(errorMessage(null, INVALID_REQUEST, `Messages may have ${MAX_MESSAGE} characters.`))
    if (line.trim() === '') return
    let value: unknown
    try {
      value = JSON.parse(line)
    } catch {
      return send(errorMessage(null, PARSE_ERROR, 'This line is not JSON.'))
    }
    void connection.receive(value, send)
  })
  const parent = process.ppid
  await new Promise<void>((done) => {
    const end = (): void => done()
    // The input stays open if another process has inherited it.
    const timer = setInterval(() => {
      if (process.ppid !== parent) done()
    }, PARENT_CHECK_MS).unref()
    input.on('data', (bytes: Buffer) => lines.add(bytes))
    input.once('end', end)
    input.once('close', end)
    input.once('error', end)
    output.once('error', end)
    output.once('close', end)
    process.once('SIGTERM', end)
    process.once('SIGINT', end)
    process.once('SIGHUP', end)
    process.once('exit', () => clearInterval(timer))
  })
  connection.close()
  input.destroy()
}

/** Splits bytes into lines. A line that is too long is reported once, as undefined, and dropped. */
class LineReader {
  readonly #decoder = new StringDecoder('utf8')
  readonly #onLine: (line: string | undefined) => void
  #rest = ''
  #isDropping = false

  constructor(onLine: (line: string | undefined) => void) {
    this.#onLine = onLine
  }

  add(bytes: Buffer): void {
    const pieces = this.#decoder.write(bytes).split('\n')
    for (const [at, piece] of pieces.entries()) {
      const isComplete = at < pieces.length - 1
      if (!this.#isDropping) {
        this.#rest += piece
        if (this.#rest.length > MAX_MESSAGE) {
          this.#isDropping = true
          this.#rest = ''
          this.#onLine(undefined)
        }
      }
      if (!isComplete) continue
      if (!this.#isDropping) this.#onLine(this.#rest)
      this.#rest = ''
      this.#isDropping = false
    }
  }
}
