/** Styled text in a terminal: wraps words and lays out columns. */
import { paint } from '../../view/paint.ts'
import { splitGraphemes, textWidth } from '../../view/text-width.ts'

export type TextStyle = 'bold' | 'italic' | 'struck' | 'code' | 'link' | 'dim' | 'heading' | 'match'

export interface StyledSpan {
  readonly text: string
  readonly styles: readonly TextStyle[]
}

const STYLE_FUNCTIONS: { readonly [look in TextStyle]: (text: string) => string } = {
  bold: paint.bold,
  italic: paint.italic,
  struck: paint.strikethrough,
  code: paint.cyan,
  link: paint.underline,
  dim: paint.dim,
  heading: (text) => paint.bold(paint.cyan(text)),
  match: (text) => paint.yellow(paint.bold(text)),
}

const applyStyles = ({ text, styles }: StyledSpan): string =>
  styles.reduce((shown, style) => STYLE_FUNCTIONS[style](shown), text)

export class WordWrapper {
  readonly #width: number
  /** Printed before every line except the first. */
  readonly #indent: string
  #column: number
  /** White space that is printed only if a word follows on the same line. */
  #gap = ''
  /** A word that may continue. */
  #word: StyledSpan[] = []
  #hasWords = false

  /** @param column where the first line starts */
  constructor(width: number, indent: string, column: number) {
    this.#width = Math.max(2, width)
    this.#indent = indent
    this.#column = column
  }

  /** Returns the text that is ready. */
  add(spans: readonly StyledSpan[]): string {
    let out = ''
    for (const { text, styles } of spans)
      for (const piece of text.match(/\s+|\S+/g) ?? []) {
        if (/\s/.test(piece)) {
          out += this.#flushWord()
          this.#gap += piece
        } else for (const part of splitWide(piece)) out += this.#addPart({ text: part, styles })
      }
    return out
  }

  end(): string {
    return this.#flushWord()
  }

  /** Between wide letters, a line may break anywhere. */
  #addPart(span: StyledSpan): string {
    const last = this.#word.at(-1)
    const breaks =
      last !== undefined &&
      (hasWideCharacter(span.text) || hasWideCharacter(last.text)) &&
      !NO_BREAK_BEFORE.test(span.text)
    const out = breaks ? this.#flushWord() : ''
    this.#word.push(span)
    return out
  }

  #flushWord(): string {
    const word = this.#word.splice(0)
    if (word.length === 0) return ''
    const width = word.reduce((sum, { text }) => sum + textWidth(text), 0)
    const gap = this.#gap.replaceAll(/\s/g, ' ')
    this.#gap = ''
    if (this.#hasWords && this.#column + gap.length + width > this.#width) return this.#newLine() + this.#write(word)
    this.#column += gap.length
    return gap + this.#write(word)
  }

  #newLine(): string {
    this.#column = textWidth(this.#indent)
    this.#hasWords = false
    return `\n${this.#indent}`
  }

  #write(word: readonly StyledSpan[]): string {
    let out = ''
    for (const { text, styles } of word) {
      let fits = ''
      for (const character of splitGraphemes(text)) {
        const width = textWidth(character)
        if (this.#column + width > this.#width && this.#column > textWidth(this.#indent)) {
          out += applyStyles({ text: fits, styles }) + this.#newLine()
          fits = ''
        }
        fits += character
        this.#column += width
      }
      if (fits !== '') out += applyStyles({ text: fits, styles })
    }
    this.#hasWords = true
    return out
  }
}

const WIDE_CHARACTER = /[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef]/
/** Characters that must not start a line. */
const NO_BREAK_BEFORE = /^[、。，．・：；？！」』）】〕〉》’”ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ)\]},.:;!?]/

const hasWideCharacter = (text: string): boolean => WIDE_CHARACTER.test(text)

const splitWide = (word: string): readonly string[] => (hasWideCharacter(word) ? splitGraphemes(word) : [word])

export type GridCell = readonly StyledSpan[]

export const COLUMN_GAP = 2

const cellWidth = (cell: GridCell): number => cell.reduce((sum, { text }) => sum + textWidth(text), 0)

const MAX_UNBROKEN_WIDTH = 12

const wordWidth = (cell: GridCell): number =>
  Math.max(0, ...cell.flatMap(({ text }) => text.split(' ').map(textWidth)).filter((one) => one <= MAX_UNBROKEN_WIDTH))

/** Columns as wide as their content. If they do not fit, the widest shrink first; words are broken last. */
export function columnWidths(rows: readonly (readonly GridCell[])[], width: number): readonly number[] {
  const columns = Math.max(0, ...rows.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, at) => Math.max(1, ...rows.map((row) => cellWidth(row[at] ?? []))))
  let excess = widths.reduce((sum, one) => sum + one + COLUMN_GAP, -COLUMN_GAP) - width
  const words = widths.map((_, at) => Math.max(1, ...rows.map((row) => wordWidth(row[at] ?? []))))
  for (; excess > 0; excess--) {
    const spare = widths.map((one, at) => (one > (words[at] ?? 1) ? one : 0))
    const from = Math.max(...spare) > 0 ? spare : widths
    const widest = from.indexOf(Math.max(...from))
    widths[widest] = Math.max(1, (widths[widest] ?? 1) - 1)
  }
  return widths
}

export function renderGridRow(
  cells: readonly GridCell[],
  widths: readonly number[],
  isRight: readonly boolean[] = [],
): string {
  const columns = widths.map((width, at) => wrapCell(cells[at] ?? [], width))
  const height = Math.max(...columns.map((lines) => lines.length))
  const lines = Array.from({ length: height }, (_, row) =>
    columns
      .map((column, at) => {
        const text = column[row] ?? ''
        const pad = ' '.repeat(Math.max(0, (widths[at] ?? 0) - textWidth(text)))
        return isRight[at] ? pad + text : text + pad
      })
      .join(' '.repeat(COLUMN_GAP))
      .trimEnd(),
  )
  return `${lines.join('\n')}\n`
}

export function wrapCell(cell: GridCell, width: number): readonly string[] {
  const wrapper = new WordWrapper(width, '', 0)
  return (wrapper.add(cell) + wrapper.end()).split('\n')
}
