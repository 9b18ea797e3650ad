/** Writes printable text to the terminal as it arrives, above a status line. */
import { toPrintable } from '../../../lib/text.ts'
import { writeOut } from '../../output.ts'
import { truncate } from '../../view/table.ts'
import { textWidth } from '../../view/text-width.ts'

/** The start of an escape sequence, a character, a flag or a line end that may continue. */
const INCOMPLETE_SEQUENCE =
  /\u001b(?:\[[0-9:;<=>?]*[ -/]*|\][^\u0007\u001b\n]*\u001b?|[()])?$|\p{Surrogate}$|\u{1f3f4}[\u{e0020}-\u{e007e}]*$|\r$/u
/** Longest incomplete sequence; a longer one is printed. */
const MAX_INCOMPLETE_LENGTH = 4096

export class PrintableStream {
  #incomplete = ''
  /** The last character written. A variation selector belongs to the character before it. */
  #last = ''

  /** Returns the text that can be printed now. */
  add(text: string): string {
    const all = this.#incomplete + text
    const begins = all.search(INCOMPLETE_SEQUENCE)
    const end = begins < 0 || all.length - begins > MAX_INCOMPLETE_LENGTH ? all.length : begins
    this.#incomplete = all.slice(end)
    return this.#toPrintable(all.slice(0, end))
  }

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

const TICK_MS = 120
const FRAMES = [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏']
const ERASE_BELOW = '\u001b[J'
const HIDE_CURSOR = '\u001b[?25l'
const SHOW_CURSOR = '\u001b[?25h'

export class Screen {
  readonly #columns: () => number
  readonly #isLive: boolean
  readonly #rowsBelow: () => readonly string[]
  #row = ''
  #status: (() => string) | undefined
  #timer: NodeJS.Timeout | undefined
  #frame = 0

  /** @param rowsBelow shown below the status, each at most as wide as the screen */
  constructor(columns: () => number, isLive: boolean, rowsBelow: () => readonly string[] = () => []) {
    this.#columns = columns
    this.#isLive = isLive
    this.#rowsBelow = rowsBelow
  }

  /** Shows the rows below the status again, after they changed. */
  redraw(): void {
    if (this.#status) void writeOut(ERASE_BELOW + this.#renderStatus())
  }

  async write(text: string): Promise<void> {
    if (text === '') return
    this.#row = text.includes('\n') ? text.slice(text.lastIndexOf('\n') + 1) : this.#row + text
    await writeOut(this.#status ? `${ERASE_BELOW}${text}${this.#renderStatus()}` : text)
  }

  async line(text: string): Promise<void> {
    await this.write(`${this.#row === '' ? '' : '\n'}${text}\n`)
  }

  /**
   * Prints nothing in a pipe.
   * @param text called again for each update
   */
  async status(text: () => string): Promise<void> {
    if (!this.#isLive) return
    const isNew = this.#status === undefined
    this.#status = text
    this.#timer ??= setInterval(() => {
      this.#frame++
      void writeOut(ERASE_BELOW + this.#renderStatus())
    }, TICK_MS)
    if (isNew) await writeOut(HIDE_CURSOR + this.#renderStatus())
  }

  async clearStatus(): Promise<void> {
    if (!this.#status) return
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#status = undefined
    await writeOut(ERASE_BELOW + SHOW_CURSOR)
  }

  #renderStatus(): string {
    const width = this.#columns() - 1
    const shown = truncate(`${FRAMES[this.#frame % FRAMES.length]} ${this.#status?.() ?? ''}`, width)
    const column = Math.min(textWidth(this.#row), width)
    const rows = [...(column === 0 ? [] : ['']), shown, ...this.#rowsBelow()]
    const up = rows.length - 1
    return `${rows.join('\r\n')}${up > 0 ? `\u001b[${up}A` : ''}\r${column > 0 ? `\u001b[${column}C` : ''}`
  }
}
