/** Reads prompts from a terminal with all its keys, or from a pipe line by line. */
import { constants } from 'node:os'
import { createInterface } from 'node:readline'
import type { ChatSession } from '../../chat/open/open-chat.ts'
import { writeOut } from '../output.ts'
import { terminalWidth } from '../view/table.ts'
import type { Completer } from './input/completions.ts'
import { appendPromptHistory, PromptHistory, readPromptHistory } from './input/prompt-history.ts'
import { Terminal } from './input/terminal.ts'

export interface PromptReader {
  /** The screen can be redrawn and given to other programs. */
  readonly isTerminal: boolean
  columns(): number
  rows(): number
  prompt(prefix: string): Promise<string | undefined>
  answer(prefix: string): Promise<string | undefined>
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
  }
  const terminal = new Terminal(process.stdin, process.stdout, () => chat.interrupt())
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
      const text = await terminal.readLine(prefix, {
        history,
        beforeTab,
        complete: (line) => complete?.(line) ?? { from: line.at, all: [] },
      })
      if (text !== undefined && text.trim() !== '') {
        history.add(text)
        appendPromptHistory(data, text)
      }
      return text
    },
    answer: (prefix) => terminal.readLine(prefix, { isQuestion: true }),
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
    releaseFor: (work) => work(),
    close() {
      process.off('SIGINT', stop).off('SIGTERM', leave).off('SIGHUP', leave)
      lines.close()
    },
  }
}
