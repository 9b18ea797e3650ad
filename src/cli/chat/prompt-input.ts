/** Reads prompts from a terminal with all its keys, or from a pipe line by line. */
import { constants } from 'node:os'
import { createInterface } from 'node:readline'
import { type ChatSession, fetchModels } from '../../chat/open/open-chat.ts'
import { writeOut } from '../output.ts'
import { terminalWidth } from '../view/table.ts'
import type { Completer } from './input/completions.ts'
import { appendPromptHistory, PromptHistory, readPromptHistory } from './input/prompt-history.ts'
import { Terminal } from './input/terminal.ts'
import { saveClipboardImage } from './programs.ts'

export interface PromptReader {
  /** The screen can be redrawn and given to other programs. */
  readonly isTerminal: boolean
  columns(): number
  rows(): number
  prompt(prefix: string): Promise<string | undefined>
  answer(prefix: string): Promise<string | undefined>
  /** What was typed while the chat is busy, for the rows below its status. */
  draftRows(): readonly string[]
  /** @param redraw shows `draftRows` again */
  onDraft(redraw: () => void): void
  /** Offers the next queued prompt for editing instead of sending it. */
  holdQueue(): void
  /** Puts a text into the line that is read next. */
  prefill(text: string): void
  releaseFor<T>(work: () => T): T
  close(): void
}

export function openPromptReader(chat: ChatSession): PromptReader {
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true && process.env['TERM'] !== 'dumb'
  return isTerminal ? terminalInput(chat) : pipeInput(chat)
}

function terminalInput(chat: ChatSession): PromptReader {
  const { data } = chat.commandContext
  const history = new PromptHistory(readPromptHistory(data))
  let complete: Completer | undefined
  // Completions load all commands, so they are loaded at the first Tab.
  const beforeTab = async (): Promise<void> => {
    complete ??= (await import('./input/completions.ts')).createCompleter(chat)
    loadModelNames(chat)
  }
  const terminal = new Terminal(process.stdin, process.stdout, {
    interrupt: () => chat.interrupt(),
    history,
    beforeTab,
    clipboardImage: saveClipboardImage,
    complete: (line) => complete?.(line) ?? { from: line.at, all: [] },
  })
  const leave = (): void => {
    chat.interrupt()
    terminal.end()
  }
  process.on('SIGTERM', leave).on('SIGHUP', leave)
  terminal.open()
  return {
    isTerminal: true,
    columns: () => terminal.size.columns,
    rows: () => terminal.size.rows,
    async prompt(prefix) {
      const text = await terminal.readPrompt(prefix)
      if (text !== undefined && text.trim() !== '') {
        history.add(text)
        appendPromptHistory(data, text)
      }
      return text
    },
    answer: (prefix) => terminal.readAnswer(prefix),
    draftRows: () => terminal.queue.rows(terminal.size.columns),
    onDraft(redraw) {
      terminal.onDraft = redraw
    },
    holdQueue: () => terminal.queue.hold(),
    prefill(text) {
      // A draft is the user's own text and stays.
      if (terminal.queue.editor.line.text === '') terminal.queue.editor.setText(text)
    },
    releaseFor: (work) => terminal.releaseFor(work),
    close() {
      terminal.close()
      process.off('SIGTERM', leave).off('SIGHUP', leave)
    },
  }
}

/** A pipe does not scroll, so blocks may be longer than a screen. */
const PIPE_ROWS = 48

function pipeInput(chat: ChatSession): PromptReader {
  const lines = createInterface({ input: process.stdin, terminal: false })
  const typed = lines[Symbol.asyncIterator]()
  const stop = (): void => {
    if (chat.isRunning) chat.interrupt()
    else lines.close()
  }
  // As at a terminal, saves the conversation and ends running programs. The exit code is that of the signal.
  const leave = (signal: 'SIGTERM' | 'SIGHUP'): void => {
    process.exitCode = 128 + constants.signals[signal]
    chat.interrupt()
    lines.close()
  }
  process.on('SIGINT', stop).on('SIGTERM', leave).on('SIGHUP', leave)
  const ask = async (prefix: string): Promise<string | undefined> => {
    await writeOut(prefix)
    const { value, done } = await typed.next()
    return done ? undefined : value
  }
  return {
    isTerminal: false,
    columns: terminalWidth,
    rows: () => PIPE_ROWS,
    prompt: ask,
    answer: ask,
    draftRows: () => [],
    onDraft: () => {},
    holdQueue: () => {},
    prefill: () => {},
    releaseFor: (work) => work(),
    close() {
      process.off('SIGINT', stop).off('SIGTERM', leave).off('SIGHUP', leave)
      lines.close()
    },
  }
}

/** For the completion of `/model`. A server that does not answer has none to complete. */
function loadModelNames({ commandContext }: ChatSession): void {
  const { endpoint } = commandContext
  if (!endpoint || commandContext.listedModels) return
  fetchModels(endpoint.endpoint).then(
    (models) => {
      commandContext.listedModels = models.map(({ id }) => id)
    },
    () => {},
  )
}
