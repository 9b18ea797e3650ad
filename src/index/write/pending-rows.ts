/** The rows of stretches on their way into the index, each with what it says and what it touches. */
import type { FileTouch } from '../../model/files/touched-files.ts'
import type { SessionChunk } from '../records.ts'
import { DUPLICATE, PROVISIONAL } from '../rows/message-kind.ts'
import {
  AT_FIELD,
  KIND_FIELD,
  LINE_FIELD,
  PART_FIELD,
  type RowBatch,
  rowField,
  type ScopedText,
  textsByRow,
} from '../rows/row-batch.ts'

/** A row and the stretch that it is of. */
export interface PendingRow {
  readonly rows: RowBatch
  readonly row: number
  readonly session: number
  readonly at: number
  readonly line: number
  readonly part: number
  readonly kind: number
  readonly texts: readonly ScopedText[] | undefined
  readonly files: readonly FileTouch[] | undefined
}

/** By session, and by place in it. */
export type RepeatedPositions = Map<number, Map<number, readonly [line: number, part: number]>>

export function collectRepeated(chunks: readonly SessionChunk[]): RepeatedPositions {
  const found: RepeatedPositions = new Map()
  for (const { session, repeated } of chunks)
    for (const position of repeated) {
      const positions = found.get(session) ?? new Map()
      positions.set(positionKey(...position), position)
      found.set(session, positions)
    }
  return found
}

const positionKey = (line: number, part: number): number => line * 2 ** 20 + part

/** Takes those out of `repeated` that are here. */
export function toPendingRows(
  { session, rows, cursor }: SessionChunk,
  repeated: RepeatedPositions,
): readonly PendingRow[] {
  const provisional = cursor === undefined ? PROVISIONAL : 0
  const positions = repeated.get(session)
  const texts = textsByRow(rows)
  const files: (readonly FileTouch[] | undefined)[] = []
  for (const touched of rows.touched) files[touched.row] = touched.files
  const pending: PendingRow[] = []
  for (let row = 0; row < rows.count; row++) {
    const line = rowField(rows, row, LINE_FIELD)
    const part = rowField(rows, row, PART_FIELD)
    const isRepeated = positions?.delete(positionKey(line, part)) ?? false
    pending.push({
      rows,
      row,
      session,
      at: rowField(rows, row, AT_FIELD),
      line,
      part,
      kind: rowField(rows, row, KIND_FIELD) | provisional | (isRepeated ? DUPLICATE : 0),
      texts: texts[row],
      files: files[row],
    })
  }
  return pending
}
