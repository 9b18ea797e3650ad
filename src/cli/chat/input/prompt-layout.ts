/** A prompt and the text behind it as rows of a terminal, and where the cursor stands in them. */
import { toReadable } from '../../../model/hostile-characters.ts'
import { splitGraphemes, textWidth } from '../../view/text-width.ts'
import type { TextLine } from './text-line.ts'

export interface PromptLayout {
  readonly rows: readonly string[]
  readonly row: number
  readonly column: number
}

/** Stands before each line but the first. */
const CONTINUATION_INDENT = '  '

const TAB_SPACES = '    '

/** @param prefix may have colours in it @param width columns, of which the last one is left free */
export function layOutPrompt(prefix: string, { text, at }: TextLine, width: number): PromptLayout {
  const maxWidth = Math.max(8, width - 1)
  const rows: string[] = []
  let cursor = { row: 0, column: 0 }
  let offset = 0
  text.split('\n').forEach((line, number) => {
    const head = number === 0 ? prefix : CONTINUATION_INDENT
    const wrapped = wrapLine(head, line, maxWidth, at >= offset && at <= offset + line.length ? at - offset : undefined)
    if (wrapped.cursor) cursor = { row: rows.length + wrapped.cursor.row, column: wrapped.cursor.column }
    rows.push(...wrapped.rows)
    offset += line.length + 1
  })
  return { rows, ...cursor }
}

interface WrappedLine {
  readonly rows: readonly string[]
  readonly cursor: { readonly row: number; readonly column: number } | undefined
}

function wrapLine(head: string, line: string, maxWidth: number, at: number | undefined): WrappedLine {
  const rows: string[] = []
  let row = head
  let used = textWidth(head)
  let position = 0
  let cursor: WrappedLine['cursor']
  for (const character of splitGraphemes(line)) {
    const shown = character === '\t' ? TAB_SPACES : toReadable(character)
    const width = textWidth(shown)
    if (used + width > maxWidth) {
      rows.push(row)
      row = ''
      used = 0
    }
    if (at !== undefined && cursor === undefined && position + character.length > at)
      cursor = { row: rows.length, column: used }
    row += shown
    used += width
    position += character.length
  }
  if (at !== undefined) cursor ??= { row: rows.length, column: used }
  return { rows: [...rows, row], cursor }
}

/** So many rows around the cursor, for a text that is higher than the screen. */
export function visibleRows({ rows, row, column }: PromptLayout, height: number): PromptLayout {
  if (rows.length <= height) return { rows, row, column }
  const from = Math.max(0, Math.min(row - Math.floor(height / 2), rows.length - height))
  return { rows: rows.slice(from, from + height), row: row - from, column }
}
