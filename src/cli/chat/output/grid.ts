/** Rows of cells in columns that fit the terminal: what is too wide is wrapped within its column. */
import { widthOf } from '../width.ts'
import type { Span } from './style.ts'
import { Wrapped } from './wrapped.ts'

export type Cell = readonly Span[]

export const GAP = 2

const cellWidth = (cell: Cell): number => cell.reduce((sum, { text }) => sum + widthOf(text), 0)

const LONGEST_WORD = 12

const wordWidth = (cell: Cell): number =>
  Math.max(0, ...cell.flatMap(({ text }) => text.split(' ').map(widthOf)).filter((one) => one <= LONGEST_WORD))

/** As wide as what is in them; where that is too much, the widest ones give way, and words are broken last. */
export function columnWidths(rows: readonly (readonly Cell[])[], width: number): readonly number[] {
  const columns = Math.max(0, ...rows.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, at) => Math.max(1, ...rows.map((row) => cellWidth(row[at] ?? []))))
  let excess = widths.reduce((sum, one) => sum + one + GAP, -GAP) - width
  const words = widths.map((_, at) => Math.max(1, ...rows.map((row) => wordWidth(row[at] ?? []))))
  for (; excess > 0; excess--) {
    const spare = widths.map((one, at) => (one > (words[at] ?? 1) ? one : 0))
    const from = Math.max(...spare) > 0 ? spare : widths
    const widest = from.indexOf(Math.max(...from))
    widths[widest] = Math.max(1, (widths[widest] ?? 1) - 1)
  }
  return widths
}

export function rowText(cells: readonly Cell[], widths: readonly number[], isRight: readonly boolean[] = []): string {
  const columns = widths.map((width, at) => cellLines(cells[at] ?? [], width))
  const height = Math.max(...columns.map((lines) => lines.length))
  const lines = Array.from({ length: height }, (_, row) =>
    columns
      .map((column, at) => {
        const text = column[row] ?? ''
        const pad = ' '.repeat(Math.max(0, (widths[at] ?? 0) - widthOf(text)))
        return isRight[at] ? pad + text : text + pad
      })
      .join(' '.repeat(GAP))
      .trimEnd(),
  )
  return `${lines.join('\n')}\n`
}

export function cellLines(cell: Cell, width: number): readonly string[] {
  const wrapped = new Wrapped(width, '', 0)
  return (wrapped.add(cell) + wrapped.end()).split('\n')
}
