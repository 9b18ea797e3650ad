/** Tables that fit the terminal. */
import stringWidth from 'string-width'
import { printableField } from '../../lib/text.ts'

export interface Column {
  readonly title: string
  readonly right?: boolean
  /** Is cut when the table is too wide; of several the widest first. */
  readonly grows?: boolean
  /** Is cut at its beginning: of a path the end says more. */
  readonly keepsEnd?: boolean
  /** Is left out when a name would become unreadable otherwise; of several the last first. */
  readonly isSpare?: boolean
}

/** In a pipe the reader may say how wide it is. */
export const terminalWidth = (): number => process.stdout.columns ?? (Number(process.env['COLUMNS']) || 100)

const GAP = 2
const NARROWEST = 8
/** So much of a name tells it from others. */
const READABLE = 20

export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width = terminalWidth(),
): string {
  // Many cells hold what a log says.
  const all = [columns.map((column) => column.title), ...rows.map((row) => row.map(printableField))]
  const natural = columns.map((_, at) => all.reduce((most, row) => Math.max(most, stringWidth(row[at] ?? '')), 0))
  const spare = columns.findLastIndex(({ isSpare }) => isSpare)
  const least = natural.map((one, at) => (columns[at]?.grows ? Math.min(one, READABLE) : one))
  if (spare >= 0 && excessOf(least, width) > 0)
    return table(
      without(columns, spare),
      rows.map((row) => without(row, spare)),
      width,
    )
  const widths = shrink(columns, natural, width)
  return all.map((row) => `${line(columns, row, widths).trimEnd()}\n`).join('')
}

function shrink(columns: readonly Column[], natural: readonly number[], width: number): readonly number[] {
  const widths = [...natural]
  let excess = excessOf(natural, width)
  for (; excess > 0; excess--) {
    let widest = -1
    columns.forEach(({ grows }, at) => {
      if (grows && (widths[at] ?? 0) > Math.max(NARROWEST, widths[widest] ?? 0)) widest = at
    })
    if (widest < 0) break
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return widths
}

const excessOf = (widths: readonly number[], width: number): number =>
  widths.reduce((sum, one) => sum + one + GAP, -GAP) - width

const without = <T>(list: readonly T[], index: number): readonly T[] => list.filter((_, at) => at !== index)

function line(columns: readonly Column[], row: readonly string[], widths: readonly number[]): string {
  return columns.map((column, at) => cell(row[at] ?? '', widths[at] ?? 0, column)).join(' '.repeat(GAP))
}

function cell(text: string, width: number, { right, keepsEnd }: Column): string {
  const cut = keepsEnd ? reversed(truncate(reversed(text), width)) : truncate(text, width)
  const pad = ' '.repeat(Math.max(0, width - stringWidth(cut)))
  return right ? pad + cut : cut + pad
}

const reversed = (text: string): string => [...text].reverse().join('')

/** Cuts to a number of columns; wide characters count two. */
export function truncate(text: string, width: number): string {
  if (stringWidth(text) <= width) return text
  let cut = ''
  let used = 0
  for (const letter of text) {
    const next = stringWidth(letter)
    if (used + next > width - 1) break
    cut += letter
    used += next
  }
  return `${cut}…`
}

export const plural = (n: number, word: string, several = `${word}s`): string =>
  `${count(n)} ${n === 1 ? word : several}`

export const count = (n: number): string => n.toLocaleString('en-US')
