/** Rows that no search finds (copies, token counts), many in one piece: only who reads the session asks for them. */
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { Bytes } from './bytes.ts'
import { Reader, writeNumber, writeText } from './locator.ts'

/** Consecutive rows of one session, with their first and last line. */
export interface Aside {
  readonly first: number
  readonly last: number
  readonly count: number
  readonly packed: Uint8Array
}

export interface AsideRow {
  readonly at: number
  readonly line: number
  readonly part: number
  readonly kind: number
  readonly tool: string | null
  readonly locator: Uint8Array
}

/** More would be unpacked for a few; fewer would take more room. */
const AT_ONCE = 512

export class AsideWriter {
  #pieces: Aside[] = []
  readonly #bytes = new Bytes()
  #count = 0
  #at = 0
  #first = 0
  #last = 0

  add({ at, line, part, kind, tool, locator }: AsideRow): void {
    this.#first = this.#count === 0 ? line : Math.min(this.#first, line)
    this.#last = this.#count === 0 ? line : Math.max(this.#last, line)
    writeNumber(this.#bytes, at - this.#at)
    for (const number of [line, part, kind]) writeNumber(this.#bytes, number)
    writeText(this.#bytes, tool ?? '')
    writeNumber(this.#bytes, locator.length)
    this.#bytes.add(locator)
    this.#at = at
    if (++this.#count >= AT_ONCE) this.#close()
  }

  taken(): readonly Aside[] {
    if (this.#count > 0) this.#close()
    const pieces = this.#pieces
    this.#pieces = []
    return pieces
  }

  #close(): void {
    const packed = new Uint8Array(deflateRawSync(this.#bytes.taken(), { level: 4 }))
    this.#pieces.push({ first: this.#first, last: this.#last, count: this.#count, packed })
    this.#count = 0
    this.#at = 0
  }
}

/** No more than came in one piece. */
export function packAside(rows: readonly AsideRow[]): Uint8Array {
  const writer = new AsideWriter()
  for (const row of rows) writer.add(row)
  return writer.taken()[0]?.packed ?? new Uint8Array()
}

export function unpackAside(packed: Uint8Array): readonly AsideRow[] {
  const reader = new Reader(inflateRawSync(packed))
  const rows: AsideRow[] = []
  let at = 0
  while (!reader.isAtEnd()) {
    at += reader.number()
    const [line, part, kind] = [reader.number(), reader.number(), reader.number()]
    const tool = String(reader.value()) || null
    rows.push({ at, line, part, kind, tool, locator: reader.bytes(reader.number()) })
  }
  return rows
}
