/** What a command has to tell: plain text as it is, with its tables fitted into the terminal. */
import { printable } from '../../../lib/text.ts'
import { isTableLine, tableText } from './markdown-table.ts'
import { widthOf } from './style.ts'
import { Wrapped } from './wrapped.ts'

const MOST_INDENT = 12

export function outputText(text: string, columns: number): string {
  const out: string[] = []
  let rows: string[] = []
  const endTable = (): void => {
    if (rows.length > 0) out.push(tableText(rows, columns - 1))
    rows = []
  }
  for (const line of printable(text).replace(/\n$/, '').split('\n')) {
    if (isTableLine(line)) rows.push(line)
    else {
      endTable()
      out.push(`${fitted(line, columns - 1)}\n`)
    }
  }
  endTable()
  return out.join('')
}

/** Broken between words, and indented as it begins. */
function fitted(line: string, width: number): string {
  if (widthOf(line) <= width) return line
  const indent = /^ */.exec(line)?.[0].slice(0, MOST_INDENT) ?? ''
  const wrapped = new Wrapped(width, indent, 0)
  return wrapped.add([{ text: line, looks: [] }]) + wrapped.end()
}
