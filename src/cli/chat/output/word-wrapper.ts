/** Words put into lines of a terminal as they come: nothing that was written is moved any more. */
import { splitGraphemes, textWidth } from '../../view/text-width.ts'
import { applyStyles, type StyledSpan } from './text-style.ts'

export class WordWrapper {
  readonly #width: number
  /** Before the first line, and before those that follow. */
  readonly #indent: string
  #column: number
  /** A gap that is written only when a word follows on the same line. */
  #gap = ''
  /** A word of which more may come. */
  #word: StyledSpan[] = []
  #hasWords = false

  /** @param column where the first line stands already */
  constructor(width: number, indent: string, column: number) {
    this.#width = Math.max(2, width)
    this.#indent = indent
    this.#column = column
  }

  /** What can be written now. */
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

  /** The last word. */
  end(): string {
    return this.#flushWord()
  }

  /** Between wide letters a line may break anywhere. */
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

  /** A word that is longer than a line is cut. */
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
/** Never at the beginning of a line. */
const NO_BREAK_BEFORE = /^[、。，．・：；？！」』）】〕〉》’”ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ)\]},.:;!?]/

const hasWideCharacter = (text: string): boolean => WIDE_CHARACTER.test(text)

const splitWide = (word: string): readonly string[] => (hasWideCharacter(word) ? splitGraphemes(word) : [word])
