/** What a command has to tell: plain text as it is, with its tables and lists fitted into the terminal. */

import { printable } from '../../../lib/text.ts'
import { isTableLine, tableText } from '../markdown/table.ts'
import { widthOf } from '../width.ts'
import { type Cell, columnWidths, rowText } from './grid.ts'
import { Wrapped } from './wrapped.ts'

const MOST_INDENT = 12

/** @param isList fields that are parted by two spaces stand below each other */
export function outputText(text: string, columns: number, isList = false): string {
  const width = columns - 1
  const lines = printable(text).replace(/\n$/, '').split('\n')
  const out: string[] = []
  for (let at = 0; at < lines.length; ) {
    const kind = kindOf(lines[at] ?? '', isList)
    let end = at + 1
    while (kind !== 'text' && end < lines.length && kindOf(lines[end] ?? '', isList) === kind) end++
    const group = lines.slice(at, end)
    if (kind === 'table') out.push(tableText(group, width))
    else if (kind === 'text') out.push(`${fitted(group[0] ?? '', width)}\n`)
    else out.push(listText(group, width))
    at = end
  }
  return out.join('')
}

/** Lines of one kind belong together; those of a list are indented alike. */
function kindOf(line: string, isList: boolean): string {
  if (isTableLine(line)) return 'table'
  return isList && /\S {2,}\S/.test(line) ? `list ${indentOf(line)}` : 'text'
}

const indentOf = (line: string): number => /^ */.exec(line)?.[0].length ?? 0

function listText(lines: readonly string[], width: number): string {
  const indent = ' '.repeat(Math.min(MOST_INDENT, indentOf(lines[0] ?? '')))
  const rows = lines.map((line) =>
    line
      .trim()
      .split(/ {2,}/)
      .map((text): Cell => [{ text, looks: [] }]),
  )
  const widths = columnWidths(rows, width - indent.length)
  return rows.map((row) => rowText(row, widths).replaceAll(/^(?=.)/gm, indent)).join('')
}

/** Broken between words, and indented as it begins. */
function fitted(line: string, width: number): string {
  if (widthOf(line) <= width) return line
  const indent = /^ */.exec(line)?.[0].slice(0, MOST_INDENT) ?? ''
  const wrapped = new Wrapped(width, indent, 0)
  return wrapped.add([{ text: line, looks: [] }]) + wrapped.end()
}
