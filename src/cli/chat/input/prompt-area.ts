/** The rows at the bottom of the terminal in which a prompt is typed, as what is to be written to draw them again. */
import stringWidth from 'string-width'
import { say } from '../../language.ts'
import { paint } from '../../view/paint.ts'
import { truncate } from '../../view/table.ts'
import type { CompletionItem } from './completion-item.ts'
import type { Editor } from './editor.ts'
import { layOutPrompt, visibleRows } from './prompt-layout.ts'

export interface TerminalSize {
  readonly columns: number
  readonly rows: number
}

const MAX_COMPLETIONS_SHOWN = 8
/** Of a long text, so much stays to be seen once it is sent. */
const MAX_SENT_ROWS = 20

export class PromptArea {
  readonly #prefix: string
  /** The widths of what was drawn, up to the row of the cursor. */
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

  /** The last time: what was typed stays, and the cursor stands below it. */
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

  /** Forgets where it was drawn: the cursor stands on a row of its own. */
  reset(): void {
    this.#above = []
  }

  /** To its first column and row, with all below erased. A terminal that became narrower has wrapped what was there. */
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
