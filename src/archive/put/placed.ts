/** The rows of stretches on their way into the index, each with what it says and what it touches. */
import type { Touched } from '../../model/files/touched.ts'
import type { Chunk } from '../record.ts'
import { DUPLICATE, PROVISIONAL } from '../rows/kind.ts'
import { AT, KIND, LINE, numberAt, PART, type Rows, type Text, textsOf } from '../rows/rows.ts'

/** A row and the stretch that it is of. */
export interface Placed {
  readonly rows: Rows
  readonly row: number
  readonly session: number
  readonly at: number
  readonly line: number
  readonly part: number
  readonly kind: number
  readonly texts: readonly Text[] | undefined
  readonly files: readonly Touched[] | undefined
}

/** By session, and by place in it. */
export type Repeated = Map<number, Map<number, readonly [line: number, part: number]>>

export function repeatedIn(chunks: readonly Chunk[]): Repeated {
  const found: Repeated = new Map()
  for (const { session, repeated } of chunks)
    for (const place of repeated) {
      const places = found.get(session) ?? new Map()
      places.set(placeKey(...place), place)
      found.set(session, places)
    }
  return found
}

const placeKey = (line: number, part: number): number => line * 2 ** 20 + part

/** Takes those out of `repeated` that are here. */
export function placedRows({ session, rows, cursor }: Chunk, repeated: Repeated): readonly Placed[] {
  const provisional = cursor === undefined ? PROVISIONAL : 0
  const places = repeated.get(session)
  const texts = textsOf(rows)
  const files: (readonly Touched[] | undefined)[] = []
  for (const touched of rows.touched) files[touched.row] = touched.files
  const placed: Placed[] = []
  for (let row = 0; row < rows.count; row++) {
    const line = numberAt(rows, row, LINE)
    const part = numberAt(rows, row, PART)
    const isRepeated = places?.delete(placeKey(line, part)) ?? false
    placed.push({
      rows,
      row,
      session,
      at: numberAt(rows, row, AT),
      line,
      part,
      kind: numberAt(rows, row, KIND) | provisional | (isRepeated ? DUPLICATE : 0),
      texts: texts[row],
      files: files[row],
    })
  }
  return placed
}
