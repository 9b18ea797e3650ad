/** Lays out the prompt in rows, and draws it in the terminal. */
import stringWidth from 'string-width'
import { toReadable } from '../../../model/hostile-characters.ts'
import { say } from '../../language.ts'
import { paint } from '../../view/paint.ts'
import { truncate } from '../../view/table.ts'
import { splitGraphemes, textWidth } from '../../view/text-width.ts'
import type { CompletionItem } from './completions.ts'
import type { Editor, TextLine } from './editor.ts'

interface PromptLayout {
  readonly rows: readonly string[]
  readonly row: number
  readonly column: number
}

const CONTINUATION_INDENT = '  '

const TAB_SPACES = '    '

/**
 * @param prefix may contain colours
 * @param width columns; the last one stays empty
 */
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

/** The rows around the cursor that fit on the screen. */
export function visibleRows({ rows, row, column }: PromptLayout, height: number): PromptLayout {
  if (rows.length <= height) return { rows, row, column }
  const from = Math.max(0, Math.min(row - Math.floor(height / 2), rows.length - height))
  return { rows: rows.slice(from, from + height), row: row - from, column }
}

interface TerminalSize {
  readonly columns: number
  readonly rows: number
}

const MAX_COMPLETIONS_SHOWN = 8
/** Rows that stay visible of a long prompt after it is sent. */
const MAX_SENT_ROWS = 20

export class PromptArea {
  readonly #prefix: string
  /** Widths of the drawn rows, up to the row of the cursor. */
  #above: readonly number[] = []

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  draw(editor: Editor, { columns, rows: height }: TerminalSize, note = ''): string {
    const { search } = editor
    const prefix = search ? searchPrefix(search.words, search.isFound) : this.#prefix
    const below = [
      ...completionRows(editor.completions, columns),
      ...(note === '' ? [] : [paint.dim(truncate(note, columns - 1))]),
    ]
    const { rows, row, column } = visibleRows(
      layOutPrompt(prefix, editor.line, columns),
      Math.max(1, height - 1 - below.length),
    )
    const all = [...rows, ...below]
    const up = all.length - 1 - row
    const text = `${this.#top(columns)}${all.join('\r\n')}${up > 0 ? `\u001b[${up}A` : ''}\r${column > 0 ? `\u001b[${column}C` : ''}`
    this.#above = rows.slice(0, row + 1).map((one) => stringWidth(one))
    return text
  }

  /** Draws the text a last time and moves the cursor below it. */
  finish(editor: Editor, { columns }: TerminalSize): string {
    const { rows } = layOutPrompt(this.#prefix, editor.line, columns)
    const hiddenCount = rows.length - MAX_SENT_ROWS
    const shown =
      hiddenCount > 1
        ? [
            ...rows.slice(0, MAX_SENT_ROWS),
            paint.dim(say(`  … ${hiddenCount} more lines`, `  … ほか ${hiddenCount} 行`)),
          ]
        : rows
    return `${this.#top(columns)}${shown.join('\r\n')}\r\n`
  }

  /** Forgets the drawn rows. The cursor must be at the start of an empty row. */
  reset(): void {
    this.#above = []
  }

  /** Moves to the first row and erases everything below. A terminal that became narrower has wrapped the drawn rows. */
  #top(columns: number): string {
    const rows = this.#above.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0)
    return `\r${rows > 1 ? `\u001b[${rows - 1}A` : ''}\u001b[J`
  }
}

function searchPrefix(words: string, isFound: boolean): string {
  const isNone = !isFound && words !== ''
  return `${say(isNone ? '(search, none)' : '(search)', isNone ? '（検索：なし）' : '（検索）')} ${words}: `
}

function completionRows(completions: readonly CompletionItem[], columns: number): readonly string[] {
  const nameWidth = Math.min(32, Math.max(0, ...completions.map(({ text }) => stringWidth(text))))
  const shown = completions.slice(0, MAX_COMPLETIONS_SHOWN).map(({ text, note = '' }) => {
    const name = truncate(text, columns - 3)
    const gap = ' '.repeat(Math.max(0, nameWidth - stringWidth(name)) + 2)
    const availableWidth = columns - 3 - stringWidth(name) - gap.length
    return `  ${name}${note === '' || availableWidth < 8 ? '' : gap + paint.dim(truncate(note, availableWidth))}`
  })
  const hiddenCount = completions.length - shown.length
  return hiddenCount > 0 ? [...shown, paint.dim(say(`  … ${hiddenCount} more`, `  … ほか ${hiddenCount} 件`))] : shown
}
