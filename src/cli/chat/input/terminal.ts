/** A terminal from which keys are read one by one: lines are asked for, and what is typed meanwhile waits for the next. */
import { writeSync } from 'node:fs'
import type { ReadStream, WriteStream } from 'node:tty'
import { say } from '../../language.ts'
import { Editor, type EditorOptions } from './editor.ts'
import { decodeKeys, ESCAPE, type Key, PASTES_OFF, PASTES_ON } from './keys.ts'
import { PromptArea } from './prompt-area.ts'

const SHOW_CURSOR = '\u001b[?25h'

/** A terminal sends a sequence at once; an escape alone is the key. */
const ESCAPE_WAIT_MS = 40

interface Reading {
  readonly editor: Editor
  readonly area: PromptArea
  readonly isQuestion: boolean
  beforeTab: (() => Promise<void>) | undefined
  /** Nothing at the end. */
  done(text: string | undefined): void
  note: string
}

export interface LineOptions extends EditorOptions {
  /** What was typed before the question came is no answer to it, and Control-C is one. */
  readonly isQuestion?: boolean
  /** Waited for before the first Tab does something. */
  readonly beforeTab?: () => Promise<void>
}

export class Terminal {
  readonly #input: ReadStream
  readonly #output: WriteStream
  readonly #interrupt: () => void
  #rest = ''
  #waiting: Key[] = []
  #stalled: Key[] | undefined
  #reading: Reading | undefined
  #timer: NodeJS.Timeout | undefined
  #hasEnded = false

  /** @param interrupt Control-C while no line is asked for */
  constructor(input: ReadStream, output: WriteStream, interrupt: () => void) {
    this.#input = input
    this.#output = output
    this.#interrupt = interrupt
  }

  open(): void {
    this.#input.setEncoding('utf8')
    this.#input.on('data', this.#take).on('end', this.end)
    this.#output.on('resize', this.#redraw)
    process.on('exit', this.#giveBack).on('SIGCONT', this.#goOn).on('SIGINT', this.#interrupt)
    this.#raw(true)
    this.#input.resume()
  }

  close(): void {
    this.#raw(false)
    this.#input.off('data', this.#take).off('end', this.end)
    this.#output.off('resize', this.#redraw)
    process.off('exit', this.#giveBack).off('SIGCONT', this.#goOn).off('SIGINT', this.#interrupt)
    this.#input.pause()
  }

  /** Nothing when the person has left. Twice Control-C on an empty line is leaving. */
  line(mark: string, { isQuestion = false, beforeTab, ...options }: LineOptions = {}): Promise<string | undefined> {
    if (this.#hasEnded) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      const done = (text: string | undefined): void => {
        this.#reading = undefined
        resolve(text)
      }
      this.#reading = { editor: new Editor(options), area: new PromptArea(mark), isQuestion, beforeTab, done, note: '' }
      this.#redraw()
      if (!isQuestion) this.#press(this.#waiting.splice(0))
    })
  }

  /** Whoever asked is told that there is nobody. */
  readonly end = (): void => {
    this.#hasEnded = true
    this.#reading?.done(undefined)
  }

  /** Lends the terminal to another program until it ends. */
  lend<T>(work: () => T): T {
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
    this.#output.write(isOn ? PASTES_ON : PASTES_OFF)
  }

  /** Also when the program ends by an error. */
  readonly #giveBack = (): void => {
    writeSync(1, PASTES_OFF + SHOW_CURSOR)
  }

  readonly #take = (chunk: string): void => {
    clearTimeout(this.#timer)
    const { keys, rest } = decodeKeys(this.#rest + chunk)
    this.#rest = rest
    this.#press(keys)
    if (rest === '\u001b')
      this.#timer = setTimeout(() => {
        this.#rest = ''
        this.#press([ESCAPE])
      }, ESCAPE_WAIT_MS)
  }

  #press(keys: readonly Key[]): void {
    if (this.#stalled) return void this.#stalled.push(...keys)
    for (const [at, key] of keys.entries()) {
      const reading = this.#reading
      if (!reading) this.#whileBusy(key)
      else if (reading.beforeTab && key.kind === 'key' && key.name === 'tab')
        return this.#stall(reading, keys.slice(at))
      else this.#one(reading, key, at === keys.length - 1)
    }
  }

  /** What is typed meanwhile comes after the Tab. */
  #stall(reading: Reading, keys: readonly Key[]): void {
    this.#stalled = [...keys]
    void reading.beforeTab?.().then(() => {
      const all = this.#stalled ?? []
      this.#stalled = undefined
      reading.beforeTab = undefined
      this.#press(all)
    })
    this.#redraw()
  }

  #whileBusy(key: Key): void {
    if (key.kind !== 'key' || key.name !== 'C-c') return void this.#waiting.push(key)
    this.#waiting = []
    this.#interrupt()
  }

  #one(reading: Reading, key: Key, isLast: boolean): void {
    const { editor, area } = reading
    const wasAsked = reading.note !== ''
    reading.note = ''
    const action = editor.press(key)
    switch (action.kind) {
      case 'submit':
        this.#output.write(area.finish(editor, this.size))
        return reading.done(action.text)
      case 'interrupt':
        if (!wasAsked && !reading.isQuestion) {
          reading.note = say(
            'Ctrl-C again, Ctrl-D or /quit ends.',
            'もう一度 Ctrl-C、Ctrl-D、または /quit で終了します。',
          )
          break
        }
        return this.#leave(reading)
      case 'end':
        return this.#leave(reading)
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

  #leave({ editor, area, done }: Reading): void {
    this.#output.write(area.finish(editor, this.size))
    done(undefined)
  }

  readonly #goOn = (): void => {
    this.#raw(true)
    this.#redraw()
  }

  readonly #redraw = (): void => {
    if (this.#reading) this.#output.write(this.#reading.area.draw(this.#reading.editor, this.size, this.#reading.note))
  }
}
