/** Prints the output of chat commands: plain text, with tables and lists that fit the terminal. */
import { toPrintable } from '../../../lib/text.ts'
import { textWidth } from '../../view/text-width.ts'
import { isTableLine, renderMarkdownTable } from '../markdown/inline.ts'
import { columnWidths, type GridCell, renderGridRow, WordWrapper } from './styled-text.ts'

const MAX_INDENT = 12

/** @param isList aligns fields that are separated by two spaces */
export function renderCommandOutput(text: string, columns: number, isList = false): string {
  const width = columns - 1
  const lines = toPrintable(text).replace(/\n$/, '').split('\n')
  const out: string[] = []
  for (let at = 0; at < lines.length; ) {
    const kind = lineKind(lines[at] ?? '', isList)
    let end = at + 1
    while (kind !== 'text' && end < lines.length && lineKind(lines[end] ?? '', isList) === kind) end++
    const group = lines.slice(at, end)
    if (kind === 'table') out.push(renderMarkdownTable(group, width))
    else if (kind === 'text') out.push(`${wrapIndented(group[0] ?? '', width)}\n`)
    else out.push(renderList(group, width))
    at = end
  }
  return out.join('')
}

/** Lines of one kind form a block. In a list, lines with the same indent are of one kind. */
function lineKind(line: string, isList: boolean): string {
  if (isTableLine(line)) return 'table'
  return isList && /\S {2,}\S/.test(line) ? `list ${indentWidth(line)}` : 'text'
}

const indentWidth = (line: string): number => /^ */.exec(line)?.[0].length ?? 0

function renderList(lines: readonly string[], width: number): string {
  const indent = ' '.repeat(Math.min(MAX_INDENT, indentWidth(lines[0] ?? '')))
  const rows = lines.map((line) =>
    line
      .trim()
      .split(/ {2,}/)
      .map((text): GridCell => [{ text, styles: [] }]),
  )
  const widths = columnWidths(rows, width - indent.length)
  return rows.map((row) => renderGridRow(row, widths).replaceAll(/^(?=.)/gm, indent)).join('')
}

/** Wraps between words; further lines repeat the indent of the first. */
function wrapIndented(line: string, width: number): string {
  if (textWidth(line) <= width) return line
  const indent = /^ */.exec(line)?.[0].slice(0, MAX_INDENT) ?? ''
  const wrapper = new WordWrapper(width, indent, 0)
  return wrapper.add([{ text: line, styles: [] }]) + wrapper.end()
}
