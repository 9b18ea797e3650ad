/** Tables that fit the terminal. */
import stringWidth from 'string-width'

export interface Column {
  readonly title: string
  readonly right?: boolean
  /** Is cut first when the table is too wide. */
  readonly grows?: boolean
}

/** In a pipe the reader may say how wide it is. */
export const terminalWidth = (): number => process.stdout.columns ?? (Number(process.env['COLUMNS']) || 100)

const GAP = 2
const NARROWEST = 8

export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width = terminalWidth(),
): string {
  const all = [columns.map((column) => column.title), ...rows]
  const natural = columns.map((_, at) => Math.max(...all.map((row) => stringWidth(row[at] ?? ''))))
  const excess = natural.reduce((sum, one) => sum + one + GAP, -GAP) - width
  const widths = natural.map((one, at) => (columns[at]?.grows && excess > 0 ? Math.max(NARROWEST, one - excess) : one))
  return all.map((row) => `${line(columns, row, widths).trimEnd()}\n`).join('')
}

function line(columns: readonly Column[], row: readonly string[], widths: readonly number[]): string {
  return columns.map((column, at) => cell(row[at] ?? '', widths[at] ?? 0, column.right === true)).join(' '.repeat(GAP))
}

function cell(text: string, width: number, right: boolean): string {
  const cut = truncate(text, width)
  const pad = ' '.repeat(Math.max(0, width - stringWidth(cut)))
  return right ? pad + cut : cut + pad
}

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
