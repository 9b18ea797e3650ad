/**
 * Reads lines from a terminal, key by key. What is typed while no line is read is edited as a draft; Enter queues it for
 * the next lines.
 */
import { writeSync } from 'node:fs'
import type { ReadStream, WriteStream } from 'node:tty'
import { say } from '../../language.ts'
import { Editor, type EditorOptions } from './editor.ts'
import { BRACKETED_PASTE_OFF, BRACKETED_PASTE_ON, decodeKeys, ESCAPE_KEY, type TerminalKey } from './keys.ts'
import { PromptArea } from './prompt-area.ts'
import { PromptQueue } from './prompt-queue.ts'

const SHOW_CURSOR = '\u001b[?25h'

/** A terminal sends a sequence at once. If nothing follows an escape in this time, the user pressed Escape. */
const ESCAPE_WAIT_MS = 40

interface LineRequest {
  readonly editor: Editor
  readonly area: PromptArea
  readonly isQuestion: boolean
  beforeTab: (() => Promise<void>) | undefined
  done(text: string | undefined): void
  note: string
}

interface TerminalOptions extends EditorOptions {
  /** Runs on Ctrl-C while no line is read. */
  readonly interrupt: () => void
  /** Runs before the first Tab in a prompt. */
  readonly beforeTab?: () => Promise<void>
  /** Path of the image in the clipboard, for Ctrl-V. */
  readonly clipboardImage?: () => string | undefined
}

export class Terminal {
  readonly #input: ReadStream
  readonly #output: WriteStream
  readonly #interrupt: () => void
  readonly #options: TerminalOptions
  /** Prompts typed while the chat was busy, and the draft. */
  readonly queue: PromptQueue
  /** Called after the draft or the queue changed while no line is read. */
  onDraft: () => void = () => {}
  #rest = ''
  #stalled: TerminalKey[] | undefined
  #request: LineRequest | undefined
  #timer: NodeJS.Timeout | undefined
  #hasEnded = false

  constructor(input: ReadStream, output: WriteStream, options: TerminalOptions) {
    this.#input = input
    this.#output = output
    this.#interrupt = options.interrupt
    this.#options = options
    this.queue = new PromptQueue(options)
  }

  open(): void {
    this.#input.setEncoding('utf8')
    this.#input.on('data', this.#onData).on('end', this.end)
    this.#output.on('resize', this.#redraw)
    process.on('exit', this.#restoreModes).on('SIGCONT', this.#resume).on('SIGINT', this.#interrupt)
    this.#raw(true)
    this.#input.resume()
  }

  close(): void {
    this.#raw(false)
    this.#input.off('data', this.#onData).off('end', this.end)
    this.#output.off('resize', this.#redraw)
    process.off('exit', this.#restoreModes).off('SIGCONT', this.#resume).off('SIGINT', this.#interrupt)
    this.#input.pause()
  }

  /**
   * The next prompt: a queued one at once, otherwise what the user types, beginning with the draft. Undefined when the
   * user leaves with Ctrl-D, or with Ctrl-C twice on an empty line.
   */
  readPrompt(prefix: string): Promise<string | undefined> {
    const queued = this.queue.next()
    if (queued === undefined) return this.#read(prefix, this.queue.editor, false)
    const editor = new Editor()
    editor.setText(queued)
    this.#output.write(new PromptArea(prefix).finish(editor, this.size))
    return Promise.resolve(queued)
  }

  /** The answer to a question. What was typed before does not answer it. Ctrl-C ends it without an answer. */
  readAnswer(prefix: string): Promise<string | undefined> {
    return this.#read(prefix, new Editor(), true)
  }

  #read(prefix: string, editor: Editor, isQuestion: boolean): Promise<string | undefined> {
    if (this.#hasEnded) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      const done = (text: string | undefined): void => {
        this.#request = undefined
        if (!isQuestion) editor.setText('')
        resolve(text)
      }
      const beforeTab = isQuestion ? undefined : this.#options.beforeTab
      this.#request = { editor, area: new PromptArea(prefix), isQuestion, beforeTab, done, note: '' }
      this.#redraw()
    })
  }

  readonly end = (): void => {
    this.#hasEnded = true
    this.#request?.done(undefined)
  }

  /** Gives the terminal to another program until the program ends. */
  releaseFor<T>(work: () => T): T {
    this.#raw(false)
    this.#input.pause()
    try {
      return work()
    } finally {
      this.#raw(true)
      this.#input.resume()
    }
  }

  get size(): { readonly columns: number; readonly rows: number } {
    return { columns: this.#output.columns || 80, rows: this.#output.rows || 24 }
  }

  #raw(isOn: boolean): void {
    this.#input.setRawMode(isOn)
    this.#output.write(isOn ? BRACKETED_PASTE_ON : BRACKETED_PASTE_OFF)
  }

  /** Also runs when the process crashes. */
  readonly #restoreModes = (): void => {
    writeSync(1, BRACKETED_PASTE_OFF + SHOW_CURSOR)
  }

  readonly #onData = (chunk: string): void => {
    clearTimeout(this.#timer)
    const { keys, rest } = decodeKeys(this.#rest + chunk)
    this.#rest = rest
    this.#press(keys)
    if (rest === '\u001b')
      this.#timer = setTimeout(() => {
        this.#rest = ''
        this.#press([ESCAPE_KEY])
      }, ESCAPE_WAIT_MS)
  }

  #press(keys: readonly TerminalKey[]): void {
    if (this.#stalled) return void this.#stalled.push(...keys)
    for (const [at, key] of keys.entries()) {
      const request = this.#request
      if (!request) this.#keyWhileBusy(key)
      else if (key.kind === 'key' && key.name === 'C-v') this.#pasteImage(request)
      else if (request.beforeTab && key.kind === 'key' && key.name === 'tab')
        return this.#stall(request, keys.slice(at))
      else this.#handleKey(request, key, at === keys.length - 1)
    }
  }

  /** Keys that arrive while completions load are handled after the Tab. */
  #stall(request: LineRequest, keys: readonly TerminalKey[]): void {
    this.#stalled = [...keys]
    void request.beforeTab?.().then(() => {
      const all = this.#stalled ?? []
      this.#stalled = undefined
      request.beforeTab = undefined
      this.#press(all)
    })
    this.#redraw()
  }

  #pasteImage(request: LineRequest): void {
    const path = request.isQuestion ? undefined : this.#options.clipboardImage?.()
    if (path !== undefined) return this.#handleKey(request, { kind: 'paste', text: path }, true)
    request.note = say('The clipboard has no image.', 'クリップボードに画像がありません。')
    this.#redraw()
  }

  #keyWhileBusy(pressed: TerminalKey): void {
    const isImage = pressed.kind === 'key' && pressed.name === 'C-v'
    const path = isImage ? this.#options.clipboardImage?.() : undefined
    const key: TerminalKey = path === undefined ? pressed : { kind: 'paste', text: path }
    if (key.kind === 'key' && key.name === 'C-c') return this.#interrupt()
    this.queue.press(key)
    this.onDraft()
  }

  #handleKey(request: LineRequest, key: TerminalKey, isLast: boolean): void {
    const { editor, area } = request
    const wasWarned = request.note !== ''
    request.note = ''
    const action = editor.press(key)
    switch (action.kind) {
      case 'submit':
        this.#output.write(area.finish(editor, this.size))
        return request.done(action.text)
      case 'interrupt':
        if (!wasWarned && !request.isQuestion) {
          request.note = say(
            'Press Ctrl-C again, Ctrl-D, or type /quit to exit.',
            'もう一度 Ctrl-C、Ctrl-D、または /quit で終了します。',
          )
          break
        }
        return this.#leave(request)
      case 'end':
        return this.#leave(request)
      case 'clear_screen':
        area.reset()
        this.#output.write('\u001b[2J\u001b[H')
        break
      case 'suspend':
        this.#output.write(area.finish(editor, this.size))
        area.reset()
        this.#raw(false)
        process.kill(process.pid, 'SIGTSTP')
        return
      case 'none':
        if (!isLast) return
    }
    this.#redraw()
  }

  #leave({ editor, area, done }: LineRequest): void {
    this.#output.write(area.finish(editor, this.size))
    done(undefined)
  }

  readonly #resume = (): void => {
    this.#raw(true)
    this.#redraw()
  }

  readonly #redraw = (): void => {
    if (this.#request) this.#output.write(this.#request.area.draw(this.#request.editor, this.size, this.#request.note))
  }
}
