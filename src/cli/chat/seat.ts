/** Where the person sits: at a terminal with all its keys, or behind a pipe, line by line. */
import { constants } from 'node:os'
import { createInterface } from 'node:readline'
import type { Talk } from '../../chat.ts'
import { writeOut } from '../output.ts'
import { terminalWidth } from '../view/table.ts'
import { addToHistory, readHistory } from './input/history-file.ts'
import type { Completer } from './input/offer.ts'
import { Recall } from './input/recall.ts'
import { Terminal } from './input/terminal.ts'

export interface Seat {
  /** Something can be drawn over, and other programs can be lent the screen. */
  readonly isTerminal: boolean
  columns(): number
  rows(): number
  /** The next thing to say; nothing when the person has left. */
  prompt(mark: string): Promise<string | undefined>
  /** An answer to a question that was just shown. */
  answer(mark: string): Promise<string | undefined>
  /** Runs another program that has the screen meanwhile. */
  lend<T>(work: () => T): T
  close(): void
}

export function takeSeat(talk: Talk): Seat {
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true && process.env['TERM'] !== 'dumb'
  return isTerminal ? atTerminal(talk) : behindPipe(talk)
}

function atTerminal(talk: Talk): Seat {
  const { data } = talk.surroundings
  const recall = new Recall(readHistory(data))
  let complete: Completer | undefined
  // Who only talks does not wait for what knows all commands.
  const beforeTab = async (): Promise<void> => {
    complete ??= (await import('./known.ts')).completerFor(talk)
  }
  const terminal = new Terminal(process.stdin, process.stdout, () => talk.interrupt())
  const leave = (): void => {
    talk.interrupt()
    terminal.end()
  }
  process.on('SIGTERM', leave).on('SIGHUP', leave)
  terminal.open()
  return {
    isTerminal: true,
    columns: () => terminal.size.columns,
    rows: () => terminal.size.rows,
    async prompt(mark) {
      const text = await terminal.line(mark, {
        recall,
        beforeTab,
        complete: (line) => complete?.(line) ?? { from: line.at, all: [] },
      })
      if (text !== undefined && text.trim() !== '') {
        recall.add(text)
        addToHistory(data, text)
      }
      return text
    },
    answer: (mark) => terminal.line(mark, { isQuestion: true }),
    lend: (work) => terminal.lend(work),
    close() {
      terminal.close()
      process.off('SIGTERM', leave).off('SIGHUP', leave)
    },
  }
}

/** Nobody scrolls there: a block may be longer than on most screens. */
const BEHIND_PIPE_ROWS = 48

function behindPipe(talk: Talk): Seat {
  const lines = createInterface({ input: process.stdin, terminal: false })
  const typed = lines[Symbol.asyncIterator]()
  const stop = (): void => {
    if (talk.isRunning) talk.interrupt()
    else lines.close()
  }
  // What was said is kept and what runs is ended, as at a terminal; the exit code is that of the signal.
  const leave = (signal: 'SIGTERM' | 'SIGHUP'): void => {
    process.exitCode = 128 + constants.signals[signal]
    talk.interrupt()
    lines.close()
  }
  process.on('SIGINT', stop).on('SIGTERM', leave).on('SIGHUP', leave)
  const ask = async (mark: string): Promise<string | undefined> => {
    await writeOut(mark)
    const { value, done } = await typed.next()
    return done ? undefined : value
  }
  return {
    isTerminal: false,
    columns: terminalWidth,
    rows: () => BEHIND_PIPE_ROWS,
    prompt: ask,
    answer: ask,
    lend: (work) => work(),
    close() {
      process.off('SIGINT', stop).off('SIGTERM', leave).off('SIGHUP', leave)
      lines.close()
    },
  }
}
