/** Definition of a chat command: data for help and completion, and its implementation as events. */
import { AppError } from '../../model/error.ts'
import { type Phrase, untranslated } from '../../model/phrase.ts'
import { type ChatSessionEvent, errorEvent } from '../events.ts'
import type { ChatSession } from '../session.ts'

export interface ChatCommandDefinition {
  readonly name: string
  readonly aliases?: readonly string[]
  /** As displayed in help: `[name] | tail | list`. */
  readonly args: string
  /** One line. */
  readonly help: Phrase
  /** Known first words, for completion. */
  readonly words?: readonly string[]
  /** Wrong usage and failures are events of kind `error`. */
  run(session: ChatSession, words: CommandWords, signal: AbortSignal): AsyncGenerator<ChatSessionEvent>
}

export class CommandWords {
  readonly text: string
  readonly all: readonly string[]

  constructor(text: string) {
    this.text = text.trim()
    this.all = [...this.text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((one) => one[1] ?? one[2] ?? one[3] ?? '')
  }

  get first(): string {
    return this.all[0] ?? ''
  }

  get rest(): CommandWords {
    return new CommandWords(this.text.replace(/^(?:"[^"]*"|'[^']*'|\S+)\s*/, ''))
  }

  has(...flags: readonly string[]): boolean {
    return this.all.some((word) => flags.includes(word))
  }

  get plain(): readonly string[] {
    return this.all.filter((word) => !/^--?[a-z]/.test(word))
  }

  /** Removes flags with whole numbers and returns their values and the remaining text. Throws `bad_usage`. */
  numbers<Flag extends string>(...flags: readonly Flag[]): { readonly [flag in Flag]?: number } & { text: string } {
    let text = this.text
    const values: { [flag: string]: number } = {}
    for (const flag of flags) {
      const found = new RegExp(`(?:^|\\s)--${flag}(?:[= ]+(\\S+))?(?=\\s|$)`).exec(text)
      if (!found) continue
      const value = Number(found[1])
      if (found[1] === undefined || !Number.isInteger(value) || value < 0)
        throw new AppError('bad_usage', `--${flag} must be a whole number.`, `--${flag} には整数を指定してください。`)
      values[flag] = value
      text = text.replace(found[0], ' ')
    }
    return { ...values, text: text.trim() } as { readonly [flag in Flag]?: number } & { text: string }
  }
}

export const outputEvent = ({ en, ja }: Phrase): ChatSessionEvent => outputText(en, ja)

export const outputText = (en: string, ja: string): ChatSessionEvent => ({
  kind: 'output',
  text: withNewline(en),
  ja: withNewline(ja),
})

const withNewline = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`)

export const usageError = ({ name, args }: ChatCommandDefinition): ChatSessionEvent =>
  errorEvent(untranslated(`/${name} ${args}`))

export const groupDigits = (n: number): string => n.toLocaleString('en-US')

export const countNoun = (n: number, word: string, several = `${word}s`): string =>
  `${groupDigits(n)} ${n === 1 ? word : several}`

/** Markdown, which terminal and page lay out. Columns of numbers are right-aligned. */
export function markdownTable(names: readonly string[], rows: readonly (readonly string[])[]): string {
  const isRight = names.map((_, at) => at > 0 && rows.every((row) => /^~?[\d,]+(?: %)?$/.test(row[at] ?? '')))
  const rule = isRight.map((right) => (right ? '--:' : '---'))
  return [names.map(tableCell), rule, ...rows.map((row) => row.map(tableCell))]
    .map((one) => `| ${one.join(' | ')} |`)
    .join('\n')
}

const tableCell = (text: string): string =>
  text.replaceAll(/\s+/g, ' ').replaceAll(/[\\|*`[\]<]|(?<!\w)_|_(?!\w)|~(?=~)|(?<=~)~/g, '\\$&')
