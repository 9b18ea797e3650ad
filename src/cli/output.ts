/** Writing that waits for a slow reader and ends quietly when the reader goes away. */
import { once } from 'node:events'

export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
  process.stderr.on('error', () => {})
}

export const writeOut = (text: string | Uint8Array): Promise<void> => write(process.stdout, text)
export const writeErr = (text: string): Promise<void> => write(process.stderr, text)

async function write(stream: NodeJS.WriteStream, text: string | Uint8Array): Promise<void> {
  if (!stream.write(text)) await once(stream, 'drain')
}

const CHUNK = 1 << 20
const WIDEST_LETTER = 3

/** Lines gathered as bytes: joining them as strings would make one wide letter double the width of all. */
export class LineWriter {
  #buffer = Buffer.allocUnsafeSlow(CHUNK)
  #used = 0

  /** Answers nothing when there was nothing to wait for, which is nearly always. */
  write(line: string): Promise<void> | undefined {
    const most = line.length * WIDEST_LETTER + 1
    if (this.#used + most > this.#buffer.length) return this.#writeAfter(line, most)
    this.#used += this.#buffer.write(line, this.#used, 'utf8')
    this.#buffer[this.#used++] = 10
    return undefined
  }

  async #writeAfter(line: string, most: number): Promise<void> {
    await this.flush()
    await (most > this.#buffer.length ? writeOut(`${line}\n`) : this.write(line))
  }

  async flush(): Promise<void> {
    if (this.#used === 0) return
    const full = this.#buffer.subarray(0, this.#used)
    // The stream may still hold the old memory after it has accepted it.
    this.#buffer = Buffer.allocUnsafeSlow(CHUNK)
    this.#used = 0
    await writeOut(full)
  }
}
