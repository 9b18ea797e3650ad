/** Reasoning as it arrives: dim text behind a bar, wrapped at words, so that it is never taken for the answer. */
import { paint } from '../../view/paint.ts'
import { splitGraphemes, textWidth } from '../../view/text-width.ts'
import { PrintableStream } from './screen.ts'

const BAR = '┊ '

export class ThoughtStream {
  readonly #columns: () => number
  readonly #printable = new PrintableStream()
  #column = 0
  /** Letters of a word that may not fit into the row. */
  #word = ''

  constructor(columns: () => number) {
    this.#columns = columns
  }

  add(text: string): string {
    return this.#place(this.#printable.add(text))
  }

  end(): string {
    const rest = this.#place(`${this.#printable.end()} `).trimEnd()
    this.#column = 0
    this.#word = ''
    return rest
  }

  #place(text: string): string {
    let out = ''
    for (const character of splitGraphemes(text)) {
      if (character !== ' ' && character !== '\n' && textWidth(character) === 1) {
        this.#word += character
        if (textWidth(this.#word) < this.#columns() - BAR.length - 1) continue
      } else if (textWidth(character) > 1) this.#word += character
      out += this.#flush()
      if (character === '\n') {
        out += this.#column === 0 ? `${paint.dim(BAR.trimEnd())}\n` : '\n'
        this.#column = 0
      } else if (character === ' ' && this.#column > 0) {
        out += ' '
        this.#column++
      }
    }
    return out
  }

  #flush(): string {
    if (this.#word === '') return ''
    const width = textWidth(this.#word)
    const breaks = this.#column > 0 && this.#column + width > this.#columns() - 1
    if (breaks) this.#column = 0
    const head = this.#column === 0 ? BAR : ''
    const out = `${breaks ? '\n' : ''}${paint.dim(head + this.#word)}`
    this.#column += head.length + width
    this.#word = ''
    return out
  }
}
