/** A prompt and the text behind it as rows of a terminal, and where the cursor stands in them. */
import { readable } from '../../../model/told/visible.ts'
import { lettersOf, widthOf } from '../width.ts'
import type { TextLine } from './text-line.ts'

export interface Layout {
  readonly rows: readonly string[]
  readonly row: number
  readonly column: number
}

/** Stands before each line but the first. */
const CONTINUED = '  '

const TAB = '    '

/** @param mark may have colours in it @param width columns, of which the last one is left free */
export function layOut(mark: string, { text, at }: TextLine, width: number): Layout {
  const most = Math.max(8, width - 1)
  const rows: string[] = []
  let cursor = { row: 0, column: 0 }
  let offset = 0
  text.split('\n').forEach((line, number) => {
    const head = number === 0 ? mark : CONTINUED
    const wrapped = wrap(head, line, most, at >= offset && at <= offset + line.length ? at - offset : undefined)
    if (wrapped.cursor) cursor = { row: rows.length + wrapped.cursor.row, column: wrapped.cursor.column }
    rows.push(...wrapped.rows)
    offset += line.length + 1
  })
  return { rows, ...cursor }
}

interface Wrapped {
  readonly rows: readonly string[]
  readonly cursor: { readonly row: number; readonly column: number } | undefined
}

function wrap(head: string, line: string, most: number, at: number | undefined): Wrapped {
  const rows: string[] = []
  let row = head
  let used = widthOf(head)
  let place = 0
  let cursor: Wrapped['cursor']
  for (const letter of lettersOf(line)) {
    const shown = letter === '\t' ? TAB : readable(letter)
    const width = widthOf(shown)
    if (used + width > most) {
      rows.push(row)
      row = ''
      used = 0
    }
    if (at !== undefined && cursor === undefined && place + letter.length > at)
      cursor = { row: rows.length, column: used }
    row += shown
    used += width
    place += letter.length
  }
  if (at !== undefined) cursor ??= { row: rows.length, column: used }
  return { rows: [...rows, row], cursor }
}

/** So many rows around the cursor, for a text that is higher than the screen. */
export function visibleRows({ rows, row, column }: Layout, height: number): Layout {
  if (rows.length <= height) return { rows, row, column }
  const from = Math.max(0, Math.min(row - Math.floor(height / 2), rows.length - height))
  return { rows: rows.slice(from, from + height), row: row - from, column }
}
