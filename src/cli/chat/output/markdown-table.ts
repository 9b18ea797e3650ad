/** Tables of Markdown, fitted into a terminal: wide cells are wrapped, and what is far too wide is told row by row. */
import { paint } from '../../view/paint.ts'
import { takeInline } from './inline.ts'
import { type Look, widthOf } from './style.ts'
import { Wrapped } from './wrapped.ts'

export const isTableLine = (text: string): boolean => /^ {0,3}\|/.test(text)

const GAP = 2
const NARROWEST = 6

export function tableText(lines: readonly string[], width: number): string {
  const [head = '', rule = '', ...body] = lines
  if (!/^\s*\|?[\s:|-]*-[\s:|-]*$/.test(rule)) return lines.map((line) => `${line}\n`).join('')
  const titles = cellsOf(head)
  const rows = body.map((line) => cellsOf(line).slice(0, titles.length))
  const isRight = cellsOf(rule).map((cell) => /[^:]-*:$/.test(cell) || cell === '-:')
  if (titles.length * (NARROWEST + GAP) - GAP > width) return recordsText(titles, rows, width)
  const widths = fitted(
    titles.map((title, at) => Math.max(1, ...[title, ...rows.map((row) => row[at] ?? '')].map(plainWidth))),
    width,
  )
  const line = (cells: readonly string[], looks: readonly Look[]): string => rowText(cells, widths, isRight, looks)
  const under = paint.dim(widths.map((one) => '─'.repeat(one)).join(' '.repeat(GAP)))
  return `${line(titles, ['bold'])}${under}\n${rows.map((row) => line(row, [])).join('')}`
}

function cellsOf(line: string): readonly string[] {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'))
}

const plainWidth = (cell: string): number =>
  takeInline(cell, true).spans.reduce((sum, { text }) => sum + widthOf(text), 0)

/** Takes from the widest one until all fit. */
function fitted(natural: readonly number[], width: number): readonly number[] {
  const widths = [...natural]
  let excess = widths.reduce((sum, one) => sum + one + GAP, -GAP) - width
  for (; excess > 0; excess--) {
    const widest = widths.indexOf(Math.max(...widths))
    widths[widest] = (widths[widest] ?? 1) - 1
  }
  return widths
}

function rowText(
  cells: readonly string[],
  widths: readonly number[],
  isRight: readonly boolean[],
  looks: readonly Look[],
): string {
  const columns = widths.map((width, at) => wrappedCell(cells[at] ?? '', width, looks))
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

function wrappedCell(cell: string, width: number, looks: readonly Look[]): readonly string[] {
  const wrapped = new Wrapped(width, '', 0)
  return (wrapped.add(takeInline(cell, true, looks).spans) + wrapped.end()).split('\n')
}

function recordsText(titles: readonly string[], rows: readonly (readonly string[])[], width: number): string {
  const records = rows.map((row) =>
    titles.map((title, at) => `${wrappedCell(`${title}: ${row[at] ?? ''}`, width - 2, []).join('\n  ')}\n`).join(''),
  )
  return records.join('\n')
}
