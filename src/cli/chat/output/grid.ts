/** Rows of cells in columns that fit the terminal: what is too wide is wrapped within its column. */
import { textWidth } from '../../view/text-width.ts'
import type { StyledSpan } from './text-style.ts'
import { WordWrapper } from './word-wrapper.ts'

export type GridCell = readonly StyledSpan[]

export const COLUMN_GAP = 2

const cellWidth = (cell: GridCell): number => cell.reduce((sum, { text }) => sum + textWidth(text), 0)

const MAX_UNBROKEN_WIDTH = 12

const wordWidth = (cell: GridCell): number =>
  Math.max(0, ...cell.flatMap(({ text }) => text.split(' ').map(textWidth)).filter((one) => one <= MAX_UNBROKEN_WIDTH))

/** As wide as what is in them; where that is too much, the widest ones give way, and words are broken last. */
export function columnWidths(rows: readonly (readonly GridCell[])[], width: number): readonly number[] {
  const columns = Math.max(0, ...rows.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, at) => Math.max(1, ...rows.map((row) => cellWidth(row[at] ?? []))))
  let excess = widths.reduce((sum, one) => sum + one + COLUMN_GAP, -COLUMN_GAP) - width
  const words = widths.map((_, at) => Math.max(1, ...rows.map((row) => wordWidth(row[at] ?? []))))
  for (; excess > 0; excess--) {
    const spare = widths.map((one, at) => (one > (words[at] ?? 1) ? one : 0))
    const from = Math.max(...spare) > 0 ? spare : widths
    const widest = from.indexOf(Math.max(...from))
    widths[widest] = Math.max(1, (widths[widest] ?? 1) - 1)
  }
  return widths
}

export function renderGridRow(
  cells: readonly GridCell[],
  widths: readonly number[],
  isRight: readonly boolean[] = [],
): string {
  const columns = widths.map((width, at) => wrapCell(cells[at] ?? [], width))
  const height = Math.max(...columns.map((lines) => lines.length))
  const lines = Array.from({ length: height }, (_, row) =>
    columns
      .map((column, at) => {
        const text = column[row] ?? ''
        const pad = ' '.repeat(Math.max(0, (widths[at] ?? 0) - textWidth(text)))
        return isRight[at] ? pad + text : text + pad
      })
      .join(' '.repeat(COLUMN_GAP))
      .trimEnd(),
  )
  return `${lines.join('\n')}\n`
}

export function wrapCell(cell: GridCell, width: number): readonly string[] {
  const wrapper = new WordWrapper(width, '', 0)
  return (wrapper.add(cell) + wrapper.end()).split('\n')
}
