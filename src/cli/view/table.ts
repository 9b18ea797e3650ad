/** Tables: aligned and cut to fit a terminal; complete and separated by tabs in a pipe. */
import { toPrintableField } from '../../lib/text.ts'
import { outputWidth, textWidth } from './text-width.ts'

export interface TableColumn {
  readonly title: string
  readonly right?: boolean
  /** May shrink if the table is too wide; the widest column first. */
  readonly grows?: boolean
  /** Never cut: half a date says nothing. */
  readonly isFixed?: boolean
  /** Cut at the start, because the end of a path says more. */
  readonly keepsEnd?: boolean
  /** Dropped if another column would become unreadable; the last one first, and `finally` after all others. */
  readonly isSpare?: boolean | 'finally'
}

/** Output for programs is complete: columns are separated by tabs, and nothing is cut. */
export const isPiped = (): boolean => outputWidth() === Number.POSITIVE_INFINITY

/** In a pipe, COLUMNS sets the width at which texts wrap. */
export const terminalWidth = (): number => process.stdout.columns ?? (Number(process.env['COLUMNS']) || 100)

const TABLE_GAP = 2
const MIN_COLUMN_WIDTH = 8
/** Of names and dates in a terminal that is narrower than the table. */
const MIN_CUT_WIDTH = 4
/** Width at which a name is still recognizable. */
const READABLE_WIDTH = 16

export function renderTable(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
  width = outputWidth(),
): string {
  // Many cells contain text from a log.
  const all = [columns.map((column) => column.title), ...rows.map((row) => row.map(toPrintableField))]
  if (width === Number.POSITIVE_INFINITY)
    return all.map((row) => `${row.map((cell) => cell.trim()).join('\t')}\n`).join('')
  const natural = columns.map((_, at) => all.reduce((maximum, row) => Math.max(maximum, textWidth(row[at] ?? '')), 0))
  const usual = columns.findLastIndex(({ isSpare }) => isSpare === true)
  const spare = usual >= 0 ? usual : columns.findLastIndex(({ isSpare }) => isSpare)
  const minimumWidths = natural.map((one, at) => (columns[at]?.grows ? Math.min(one, READABLE_WIDTH) : one))
  if (spare >= 0 && excessWidth(minimumWidths, width) > 0)
    return renderTable(
      withoutIndex(columns, spare),
      rows.map((row) => withoutIndex(row, spare)),
      width,
    )
  const widths = shrinkColumns(columns, natural, cellWidthsOf(columns, all.slice(1)), width)
  const titles = columns.map(({ keepsEnd: _, ...column }) => column)
  return all.map((row, at) => `${renderLine(at === 0 ? titles : columns, row, widths).trimEnd()}\n`).join('')
}

const cellWidthsOf = (columns: readonly TableColumn[], rows: readonly (readonly string[])[]): readonly number[] =>
  columns.map((_, at) => rows.reduce((maximum, row) => Math.max(maximum, textWidth(row[at] ?? '')), 1))

/** Shrinks the columns made for it, then titles that are wider than their column, then names and dates; never numbers. */
function shrinkColumns(
  columns: readonly TableColumn[],
  natural: readonly number[],
  cells: readonly number[],
  width: number,
): readonly number[] {
  const steps = [
    columns.map(({ grows, isFixed }, at) => (grows && !isFixed ? MIN_COLUMN_WIDTH : (natural[at] ?? 0))),
    columns.map(({ grows, isFixed }, at) => (grows && !isFixed ? MIN_COLUMN_WIDTH : (cells[at] ?? 0))),
    columns.map(({ right, isFixed }, at) => (right || isFixed ? (cells[at] ?? 0) : MIN_CUT_WIDTH)),
  ]
  const widths = [...natural]
  let excess = excessWidth(natural, width)
  for (const minimum of steps)
    for (; excess > 0; excess--) {
      let widest = -1
      widths.forEach((one, at) => {
        if (one > Math.max(minimum[at] ?? 0, widths[widest] ?? 0)) widest = at
      })
      if (widest < 0) break
      widths[widest] = (widths[widest] ?? 0) - 1
    }
  return widths
}

const excessWidth = (widths: readonly number[], width: number): number =>
  widths.reduce((sum, one) => sum + one + TABLE_GAP, -TABLE_GAP) - width

const withoutIndex = <T>(list: readonly T[], index: number): readonly T[] => list.filter((_, at) => at !== index)

function renderLine(columns: readonly TableColumn[], row: readonly string[], widths: readonly number[]): string {
  return columns.map((column, at) => renderCell(row[at] ?? '', widths[at] ?? 0, column)).join(' '.repeat(TABLE_GAP))
}

function renderCell(text: string, width: number, { right, keepsEnd }: TableColumn): string {
  const cut = keepsEnd ? reverseText(truncate(reverseText(text), width)) : truncate(text, width)
  const pad = ' '.repeat(Math.max(0, width - textWidth(cut)))
  return right ? pad + cut : cut + pad
}

const reverseText = (text: string): string => [...text].reverse().join('')

/** Cuts to a number of columns; wide characters take two. */
export function truncate(text: string, width: number): string {
  if (textWidth(text) <= width) return text
  let cut = ''
  let used = 0
  for (const character of text) {
    const next = textWidth(character)
    if (used + next > width - 1) break
    cut += character
    used += next
  }
  return `${cut}…`
}

export const plural = (n: number, word: string, several = `${word}s`): string =>
  `${formatCount(n)} ${n === 1 ? word : several}`

/** `toLocaleString` gives the same, after it has loaded its tables for 10 ms. */
export const formatCount = (n: number): string => String(n).replace(/\B(?=(?:\d{3})+$)/g, ',')

export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  if (bytes < 1e6) return `${(bytes / 1000).toFixed(1)} kB`
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`
}
