/** What is written from top to bottom, with one line below it that changes: what is being done, and for how long. */

import { writeOut } from '../../output.ts'
import { truncate } from '../../view/table.ts'
import { textWidth } from '../../view/text-width.ts'

const TICK_MS = 120
const FRAMES = [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏']
const ERASE_BELOW = '\u001b[J'
const HIDE_CURSOR = '\u001b[?25l'
const SHOW_CURSOR = '\u001b[?25h'

export class Screen {
  readonly #columns: () => number
  /** Whether a line can be drawn over. */
  readonly #isLive: boolean
  /** What stands on the row of the cursor. */
  #row = ''
  #status: (() => string) | undefined
  #timer: NodeJS.Timeout | undefined
  #frame = 0

  constructor(columns: () => number, isLive: boolean) {
    this.#columns = columns
    this.#isLive = isLive
  }

  async write(text: string): Promise<void> {
    if (text === '') return
    this.#row = text.includes('\n') ? text.slice(text.lastIndexOf('\n') + 1) : this.#row + text
    await writeOut(this.#status ? `${ERASE_BELOW}${text}${this.#renderStatus()}` : text)
  }

  /** On a line of its own. */
  async line(text: string): Promise<void> {
    await this.write(`${this.#row === '' ? '' : '\n'}${text}\n`)
  }

  /** Nothing in a pipe. @param text asked again and again */
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

  /** The cursor goes back to where the text ends. */
  #renderStatus(): string {
    const width = this.#columns() - 1
    const shown = truncate(`${FRAMES[this.#frame % FRAMES.length]} ${this.#status?.() ?? ''}`, width)
    const column = Math.min(textWidth(this.#row), width)
    return column === 0 ? `${shown}\r` : `\r\n${shown}\u001b[A\r\u001b[${column}C`
  }
}
