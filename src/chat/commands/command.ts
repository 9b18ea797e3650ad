/** What a command of a conversation is: data for help and completion, and what it does as events. */
import { AppError } from '../../model/error.ts'
import { asIs, type Phrase } from '../../model/phrase.ts'
import type { Talk } from '../talk.ts'
import { error, type TalkEvent } from '../turn/event.ts'

export interface Command {
  /** Without the slash. */
  readonly name: string
  readonly aliases?: readonly string[]
  /** As help shows them: `[name] | tail | list`. */
  readonly args: string
  /** One line. */
  readonly help: Phrase
  /** First words that it knows, for completion. */
  readonly words?: readonly string[]
  /** What is wrong with how it was called, or cannot be done, is an event of kind `error`. */
  run(talk: Talk, words: Words, signal: AbortSignal): AsyncGenerator<TalkEvent>
}

/** What was typed after the name. */
export class Words {
  /** As it was typed. */
  readonly text: string
  readonly all: readonly string[]

  constructor(text: string) {
    this.text = text.trim()
    this.all = [...this.text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((one) => one[1] ?? one[2] ?? one[3] ?? '')
  }

  get first(): string {
    return this.all[0] ?? ''
  }

  /** Without the first one. */
  get rest(): Words {
    return new Words(this.text.replace(/^(?:"[^"]*"|'[^']*'|\S+)\s*/, ''))
  }

  has(...flags: readonly string[]): boolean {
    return this.all.some((word) => flags.includes(word))
  }

  /** The words that are no flags. */
  get plain(): readonly string[] {
    return this.all.filter((word) => !/^--?[a-z]/.test(word))
  }

  /** Takes flags with whole numbers out: their values, and the text that is left. Throws `bad_usage`. */
  numbers<Flag extends string>(...flags: readonly Flag[]): { readonly [flag in Flag]?: number } & { text: string } {
    let text = this.text
    const values: { [flag: string]: number } = {}
    for (const flag of flags) {
      const found = new RegExp(`(?:^|\\s)--${flag}(?:[= ]+(\\S+))?(?=\\s|$)`).exec(text)
      if (!found) continue
      const value = Number(found[1])
      if (found[1] === undefined || !Number.isInteger(value) || value < 0)
        throw new AppError('bad_usage', `--${flag} wants a whole number.`, `--${flag} には整数を指定してください。`)
      values[flag] = value
      text = text.replace(found[0], ' ')
    }
    return { ...values, text: text.trim() } as { readonly [flag in Flag]?: number } & { text: string }
  }
}

export const output = ({ en, ja }: Phrase): TalkEvent => ({ kind: 'output', text: ended(en), ja: ended(ja) })

const ended = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`)

/** How it is called, for who called it otherwise. */
export const usage = ({ name, args }: Command): TalkEvent => error(asIs(`/${name} ${args}`))

export const number = (n: number): string => n.toLocaleString('en-US')

export const count = (n: number, word: string, several = `${word}s`): string =>
  `${number(n)} ${n === 1 ? word : several}`

/** In Markdown, for whoever shows it to fit it into the room there is. Columns of numbers stand to the right. */
export function table(names: readonly string[], rows: readonly (readonly string[])[]): string {
  const isRight = names.map((_, at) => at > 0 && rows.every((row) => /^~?[\d,]+(?: %)?$/.test(row[at] ?? '')))
  const rule = isRight.map((right) => (right ? '--:' : '---'))
  return [names.map(cell), rule, ...rows.map((row) => row.map(cell))].map((one) => `| ${one.join(' | ')} |`).join('\n')
}

const cell = (text: string): string =>
  text.replaceAll(/\s+/g, ' ').replaceAll(/[\\|*`[\]<]|(?<!\w)_|_(?!\w)|~(?=~)|(?<=~)~/g, '\\$&')
