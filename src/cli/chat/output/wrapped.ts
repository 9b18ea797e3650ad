/** Words put into lines of a terminal as they come: nothing that was written is moved any more. */
import { lettersOf, widthOf } from '../width.ts'
import { painted, type Span } from './style.ts'

export class Wrapped {
  readonly #width: number
  /** Before the first line, and before those that follow. */
  readonly #indent: string
  #column: number
  /** A gap that is written only when a word follows on the same line. */
  #gap = ''
  /** A word of which more may come. */
  #word: Span[] = []
  #hasWords = false

  /** @param column where the first line stands already */
  constructor(width: number, indent: string, column: number) {
    this.#width = Math.max(2, width)
    this.#indent = indent
    this.#column = column
  }

  /** What can be written now. */
  add(spans: readonly Span[]): string {
    let out = ''
    for (const { text, looks } of spans)
      for (const piece of text.match(/\s+|\S+/g) ?? []) {
        if (/\s/.test(piece)) {
          out += this.#put()
          this.#gap += piece
        } else for (const part of partsOf(piece)) out += this.#part({ text: part, looks })
      }
    return out
  }

  /** The last word. */
  end(): string {
    return this.#put()
  }

  /** Between wide letters a line may break anywhere. */
  #part(span: Span): string {
    const last = this.#word.at(-1)
    const breaks = last !== undefined && (isWide(span.text) || isWide(last.text)) && !CLINGS.test(span.text)
    const out = breaks ? this.#put() : ''
    this.#word.push(span)
    return out
  }

  #put(): string {
    const word = this.#word.splice(0)
    if (word.length === 0) return ''
    const width = word.reduce((sum, { text }) => sum + widthOf(text), 0)
    const gap = this.#gap.replaceAll(/\s/g, ' ')
    this.#gap = ''
    if (this.#hasWords && this.#column + gap.length + width > this.#width) return this.#newLine() + this.#write(word)
    this.#column += gap.length
    return gap + this.#write(word)
  }

  #newLine(): string {
    this.#column = widthOf(this.#indent)
    this.#hasWords = false
    return `\n${this.#indent}`
  }

  /** A word that is longer than a line is cut. */
  #write(word: readonly Span[]): string {
    let out = ''
    for (const { text, looks } of word) {
      let fits = ''
      for (const letter of lettersOf(text)) {
        const width = widthOf(letter)
        if (this.#column + width > this.#width && this.#column > widthOf(this.#indent)) {
          out += painted({ text: fits, looks }) + this.#newLine()
          fits = ''
        }
        fits += letter
        this.#column += width
      }
      if (fits !== '') out += painted({ text: fits, looks })
    }
    this.#hasWords = true
    return out
  }
}

const WIDE = /[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef]/
/** Never at the beginning of a line. */
const CLINGS = /^[、。，．・：；？！」』）】〕〉》’”ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ)\]},.:;!?]/

const isWide = (text: string): boolean => WIDE.test(text)

const partsOf = (word: string): readonly string[] => (isWide(word) ? lettersOf(word) : [word])
