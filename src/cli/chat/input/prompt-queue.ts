/** Prompts typed while the chat is busy: a draft that is edited, and those that wait to be sent. Pure. */
import { say } from '../../language.ts'
import { paint } from '../../view/paint.ts'
import { truncate } from '../../view/table.ts'
import { Editor, type EditorOptions } from './editor.ts'
import type { TerminalKey } from './keys.ts'
import { layOutPrompt, visibleRows } from './prompt-area.ts'

const MAX_QUEUED_SHOWN = 3
const MAX_DRAFT_ROWS = 4

export class PromptQueue {
  readonly editor: Editor
  #queued: readonly string[] = []
  #isHeld = false

  constructor(options: EditorOptions = {}) {
    this.editor = new Editor(options)
  }

  get queued(): readonly string[] {
    return this.#queued
  }

  /** Enter queues the draft. Up in an empty draft takes the last queued prompt back, to change or delete it. */
  press(key: TerminalKey): void {
    const isUp = key.kind === 'key' && (key.name === 'up' || key.name === 'C-p')
    const last = this.#queued.at(-1)
    if (isUp && last !== undefined && this.editor.line.text === '') {
      this.#queued = this.#queued.slice(0, -1)
      this.editor.setText(last)
      return
    }
    const action = this.editor.press(key)
    if (action.kind !== 'submit') return
    this.editor.setText('')
    if (action.text.trim() !== '') this.#queued = [...this.#queued, action.text]
  }

  /** After a failure: the next prompt is not sent by itself, but offered for editing. */
  hold(): void {
    this.#isHeld = true
  }

  /** The prompt to send now. Undefined if the user types it, beginning with the text in the editor. */
  next(): string | undefined {
    const [first, ...others] = this.#queued
    if (first === undefined) return undefined
    if (this.#isHeld && this.editor.line.text !== '') return undefined
    const isHeld = this.#isHeld
    this.#isHeld = false
    this.#queued = others
    if (!isHeld) return first
    this.editor.setText(first)
    return undefined
  }

  /** For the rows below the status line. Empty if nothing was typed. */
  rows(columns: number): readonly string[] {
    const width = columns - 1
    const hidden = this.#queued.length - MAX_QUEUED_SHOWN
    const queued = this.#queued
      .slice(0, MAX_QUEUED_SHOWN)
      .map((text) => paint.dim(truncate(`${say('queued', '次に送る')}: ${text.replaceAll(/\s+/g, ' ')}`, width)))
    const more = hidden > 0 ? [paint.dim(say(`… ${hidden} more`, `… ほか ${hidden} 件`))] : []
    const { line } = this.editor
    if (line.text === '') return [...queued, ...more]
    const withCursor = { text: `${line.text.slice(0, line.at)}▏${line.text.slice(line.at)}`, at: line.at }
    return [...queued, ...more, ...visibleRows(layOutPrompt('> ', withCursor, columns), MAX_DRAFT_ROWS).rows]
  }
}
