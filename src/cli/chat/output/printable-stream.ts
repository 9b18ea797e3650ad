/** Makes text printable that arrives in pieces, as if it had arrived in one. */
import { printable } from '../../../lib/text.ts'

/** An escape sequence, a character, a flag or a line end of which more may come. */
const TORN =
  /\u001b(?:\[[0-9:;<=>?]*[ -/]*|\][^\u0007\u001b\n]*\u001b?|[()])?$|\p{Surrogate}$|\u{1f3f4}[\u{e0020}-\u{e007e}]*$|\r$/u
/** As long as an escape sequence may be; a longer one is shown. */
const MOST_TORN = 4096

export class PrintableStream {
  #torn = ''
  /** The last character before what comes: a variation selector belongs to it. */
  #last = ''

  /** What can be shown now. */
  add(text: string): string {
    const all = this.#torn + text
    const begins = all.search(TORN)
    const end = begins < 0 || all.length - begins > MOST_TORN ? all.length : begins
    this.#torn = all.slice(end)
    return this.#shown(all.slice(0, end))
  }

  /** What was held back. */
  end(): string {
    const rest = this.#shown(this.#torn)
    this.#torn = ''
    this.#last = ''
    return rest
  }

  #shown(text: string): string {
    if (text === '') return ''
    const shown = printable(this.#last + text).slice(printable(this.#last).length)
    if (shown !== '') this.#last = /[0-9#*\u00a9-\u{10ffff}]$/u.exec(shown)?.[0] ?? ''
    return shown
  }
}
