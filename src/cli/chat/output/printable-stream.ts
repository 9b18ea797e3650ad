/** Makes text printable that arrives in pieces, as if it had arrived in one. */
import { toPrintable } from '../../../lib/text.ts'

/** An escape sequence, a character, a flag or a line end of which more may come. */
const INCOMPLETE_SEQUENCE =
  /\u001b(?:\[[0-9:;<=>?]*[ -/]*|\][^\u0007\u001b\n]*\u001b?|[()])?$|\p{Surrogate}$|\u{1f3f4}[\u{e0020}-\u{e007e}]*$|\r$/u
/** As long as an escape sequence may be; a longer one is shown. */
const MAX_INCOMPLETE_LENGTH = 4096

export class PrintableStream {
  #incomplete = ''
  /** The last character before what comes: a variation selector belongs to it. */
  #last = ''

  /** What can be shown now. */
  add(text: string): string {
    const all = this.#incomplete + text
    const begins = all.search(INCOMPLETE_SEQUENCE)
    const end = begins < 0 || all.length - begins > MAX_INCOMPLETE_LENGTH ? all.length : begins
    this.#incomplete = all.slice(end)
    return this.#toPrintable(all.slice(0, end))
  }

  /** What was held back. */
  end(): string {
    const rest = this.#toPrintable(this.#incomplete)
    this.#incomplete = ''
    this.#last = ''
    return rest
  }

  #toPrintable(text: string): string {
    if (text === '') return ''
    const shown = toPrintable(this.#last + text).slice(toPrintable(this.#last).length)
    if (shown !== '') this.#last = /[0-9#*\u00a9-\u{10ffff}]$/u.exec(shown)?.[0] ?? ''
    return shown
  }
}
