/** Tables of Markdown, fitted into a terminal: wide cells are wrapped, and what is far too wide is told row by row. */
import { paint } from '../../view/paint.ts'
import { COLUMN_GAP, columnWidths, type GridCell, renderGridRow, wrapCell } from '../output/grid.ts'
import { parseInline } from './inline.ts'

export const isTableLine = (text: string): boolean => /^ {0,3}\|/.test(text)

const MIN_COLUMN_WIDTH = 6

export function renderMarkdownTable(lines: readonly string[], width: number): string {
  const [head = '', rule = '', ...body] = lines
  if (!rule.includes('-') || /[^\s:|-]/.test(rule)) return lines.map((line) => `${line}\n`).join('')
  const names = splitCells(head)
  const bodyCells = body.map((line) => splitCells(line).slice(0, names.length))
  if (names.length * (MIN_COLUMN_WIDTH + COLUMN_GAP) - COLUMN_GAP > width) return renderRecords(names, bodyCells, width)
  const titles = names.map((name): GridCell => parseInline(name, true, ['bold']).spans)
  const rows = bodyCells.map((row) => row.map((cell): GridCell => parseInline(cell, true).spans))
  const widths = columnWidths([titles, ...rows], width)
  const isRight = splitCells(rule).map((cell) => cell.endsWith(':') && !cell.startsWith(':'))
  const under = paint.dim(widths.map((one) => '─'.repeat(one)).join(' '.repeat(COLUMN_GAP)))
  const all = rows.map((row) => renderGridRow(row, widths, isRight)).join('')
  return `${renderGridRow(titles, widths, isRight)}${under}\n${all}`
}

function splitCells(line: string): readonly string[] {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'))
}

function renderRecords(names: readonly string[], rows: readonly (readonly string[])[], width: number): string {
  const field = (name: string, value: string): string =>
    `${wrapCell(parseInline(`${name}: ${value}`, true).spans, width - 2).join('\n  ')}\n`
  return rows.map((row) => names.map((name, at) => field(name, row[at] ?? '')).join('')).join('\n')
}
