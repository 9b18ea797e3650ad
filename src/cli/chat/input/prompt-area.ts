/** The rows at the bottom of the terminal in which a prompt is typed, as what is to be written to draw them again. */
import stringWidth from 'string-width'
import { say } from '../../language.ts'
import { paint } from '../../view/paint.ts'
import { truncate } from '../../view/table.ts'
import type { Editor } from './editor.ts'
import { layOut, visibleRows } from './layout.ts'
import type { Offer } from './offer.ts'

export interface Size {
  readonly columns: number
  readonly rows: number
}

const MOST_OFFERS = 8
/** Of a long text, so much stays to be seen once it is sent. */
const MOST_SENT = 20

export class PromptArea {
  readonly #mark: string
  /** The widths of what was drawn, up to the row of the cursor. */
  #above: readonly number[] = []

  constructor(mark: string) {
    this.#mark = mark
  }

  draw(editor: Editor, { columns, rows: height }: Size, note = ''): string {
    const { search } = editor
    const mark = search ? searchMark(search.words, search.isFound) : this.#mark
    const below = [
      ...offerRows(editor.offers, columns),
      ...(note === '' ? [] : [paint.dim(truncate(note, columns - 1))]),
    ]
    const { rows, row, column } = visibleRows(
      layOut(mark, editor.line, columns),
      Math.max(1, height - 1 - below.length),
    )
    const all = [...rows, ...below]
    const up = all.length - 1 - row
    const text = `${this.#top(columns)}${all.join('\r\n')}${up > 0 ? `\u001b[${up}A` : ''}\r${column > 0 ? `\u001b[${column}C` : ''}`
    this.#above = rows.slice(0, row + 1).map((one) => stringWidth(one))
    return text
  }

  /** The last time: what was typed stays, and the cursor stands below it. */
  finish(editor: Editor, { columns }: Size): string {
    const { rows } = layOut(this.#mark, editor.line, columns)
    const left = rows.length - MOST_SENT
    const shown =
      left > 1 ? [...rows.slice(0, MOST_SENT), paint.dim(say(`  … ${left} more lines`, `  … ほか ${left} 行`))] : rows
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

function searchMark(words: string, isFound: boolean): string {
  const isNone = !isFound && words !== ''
  return `${say(isNone ? '(search, none)' : '(search)', isNone ? '（検索：なし）' : '（検索）')} ${words}: `
}

function offerRows(offers: readonly Offer[], columns: number): readonly string[] {
  const wide = Math.min(32, Math.max(0, ...offers.map(({ text }) => stringWidth(text))))
  const shown = offers.slice(0, MOST_OFFERS).map(({ text, note = '' }) => {
    const name = truncate(text, columns - 3)
    const gap = ' '.repeat(Math.max(0, wide - stringWidth(name)) + 2)
    const room = columns - 3 - stringWidth(name) - gap.length
    return `  ${name}${note === '' || room < 8 ? '' : gap + paint.dim(truncate(note, room))}`
  })
  const left = offers.length - shown.length
  return left > 0 ? [...shown, paint.dim(say(`  … ${left} more`, `  … ほか ${left} 件`))] : shown
}
