/** Tables of Markdown, fitted into a terminal: wide cells are wrapped, and what is far too wide is told row by row. */
import { paint } from '../../view/paint.ts'
import { type Cell, cellLines, columnWidths, GAP, rowText } from '../output/grid.ts'
import { takeInline } from './inline.ts'

export const isTableLine = (text: string): boolean => /^ {0,3}\|/.test(text)

const NARROWEST = 6

export function tableText(lines: readonly string[], width: number): string {
  const [head = '', rule = '', ...body] = lines
  if (!rule.includes('-') || /[^\s:|-]/.test(rule)) return lines.map((line) => `${line}\n`).join('')
  const names = cellsOf(head)
  const told = body.map((line) => cellsOf(line).slice(0, names.length))
  if (names.length * (NARROWEST + GAP) - GAP > width) return recordsText(names, told, width)
  const titles = names.map((name): Cell => takeInline(name, true, ['bold']).spans)
  const rows = told.map((row) => row.map((cell): Cell => takeInline(cell, true).spans))
  const widths = columnWidths([titles, ...rows], width)
  const isRight = cellsOf(rule).map((cell) => cell.endsWith(':') && !cell.startsWith(':'))
  const under = paint.dim(widths.map((one) => '─'.repeat(one)).join(' '.repeat(GAP)))
  const all = rows.map((row) => rowText(row, widths, isRight)).join('')
  return `${rowText(titles, widths, isRight)}${under}\n${all}`
}

function cellsOf(line: string): readonly string[] {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'))
}

function recordsText(names: readonly string[], rows: readonly (readonly string[])[], width: number): string {
  const field = (name: string, value: string): string =>
    `${cellLines(takeInline(`${name}: ${value}`, true).spans, width - 2).join('\n  ')}\n`
  return rows.map((row) => names.map((name, at) => field(name, row[at] ?? '')).join('')).join('\n')
}
