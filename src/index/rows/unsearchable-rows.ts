/** Rows that no search finds (copies, token counts), many in one piece: only who reads the session asks for them. */
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { ByteBuffer } from '../../lib/byte-buffer.ts'
import { LocatorReader, writeLocatorNumber, writeLocatorText } from './locator.ts'

/** Consecutive rows of one session, with their first and last line. */
export interface UnsearchableBatch {
  readonly first: number
  readonly last: number
  readonly count: number
  readonly packed: Uint8Array
}

export interface UnsearchableRow {
  readonly at: number
  readonly line: number
  readonly part: number
  readonly kind: number
  readonly tool: string | null
  readonly locator: Uint8Array
}

/** More would be unpacked for a few; fewer would take more room. */
const ROWS_PER_BATCH = 512

export class UnsearchableBatchWriter {
  #pieces: UnsearchableBatch[] = []
  readonly #bytes = new ByteBuffer()
  #count = 0
  #at = 0
  #first = 0
  #last = 0

  add({ at, line, part, kind, tool, locator }: UnsearchableRow): void {
    this.#first = this.#count === 0 ? line : Math.min(this.#first, line)
    this.#last = this.#count === 0 ? line : Math.max(this.#last, line)
    writeLocatorNumber(this.#bytes, at - this.#at)
    for (const number of [line, part, kind]) writeLocatorNumber(this.#bytes, number)
    writeLocatorText(this.#bytes, tool ?? '')
    writeLocatorNumber(this.#bytes, locator.length)
    this.#bytes.add(locator)
    this.#at = at
    if (++this.#count >= ROWS_PER_BATCH) this.#close()
  }

  take(): readonly UnsearchableBatch[] {
    if (this.#count > 0) this.#close()
    const pieces = this.#pieces
    this.#pieces = []
    return pieces
  }

  #close(): void {
    const packed = new Uint8Array(deflateRawSync(this.#bytes.take(), { level: 4 }))
    this.#pieces.push({ first: this.#first, last: this.#last, count: this.#count, packed })
    this.#count = 0
    this.#at = 0
  }
}

/** No more than came in one piece. */
export function packUnsearchable(rows: readonly UnsearchableRow[]): Uint8Array {
  const writer = new UnsearchableBatchWriter()
  for (const row of rows) writer.add(row)
  return writer.take()[0]?.packed ?? new Uint8Array()
}

export function unpackUnsearchable(packed: Uint8Array): readonly UnsearchableRow[] {
  const reader = new LocatorReader(inflateRawSync(packed))
  const rows: UnsearchableRow[] = []
  let at = 0
  while (!reader.isAtEnd()) {
    at += reader.number()
    const [line, part, kind] = [reader.number(), reader.number(), reader.number()]
    const tool = String(reader.value()) || null
    rows.push({ at, line, part, kind, tool, locator: reader.bytes(reader.number()) })
  }
  return rows
}
