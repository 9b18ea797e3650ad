/** Declares a command of `fumi` with its help in both languages. */
import { type Command, Option } from 'commander'
import type { App } from '../app.ts'
import { say } from './language.ts'

interface OptionSettings {
  readonly isRequired?: boolean
  /** May be given several times; the value is a list. */
  readonly isRepeatable?: boolean
  readonly choices?: readonly string[]
  readonly default?: string
  readonly parse?: (text: string) => unknown
}

/** The arguments of `option`. */
export type OptionDefinition = readonly [flags: string, en: string, ja: string, settings?: OptionSettings]

export const JSON_OPTION: OptionDefinition = ['--json', 'print JSON', 'JSON で出力']

export const JSON_LINES_OPTION: OptionDefinition = [
  '--json',
  'print JSON; with --watch, one object per line',
  'JSON で出力。--watch では 1 行に 1 件',
]

/** The option that names where to look for a session. */
export const IN_OPTION: OptionDefinition = [
  '--in <path>',
  'search this database, file or folder instead of the index',
  '索引の代わりに、このデータベース・ファイル・フォルダーから会話を探す',
]

export const SESSION_OPTION: OptionDefinition = [
  '--session <which>',
  'select a conversation in a file that holds several, by number or id',
  'ファイルに複数の会話があるとき、番号か ID で選ぶ',
]

export const ALL_RECORDS_OPTION: OptionDefinition = [
  '--all',
  'include context, events and repeated records',
  '文脈・イベント・重複も含める',
]

export const FORCE_OPTION: OptionDefinition = ['--force', 'overwrite an existing file', '既存のファイルを上書き']

/** The argument for a session that has an id. */
export const SESSION_ID = [
  'session id from fumi list; the first characters are enough',
  'fumi list に表示される会話 ID。先頭の数文字でもよい',
] as const

/** The argument for a session or a file. */
export const SESSION_OR_LOG = [
  'session id from fumi list, or a log file; - reads standard input',
  'fumi list に表示される会話 ID、またはログファイル。- は標準入力',
] as const

/** Parses an option that may be given several times. */
export const collectValues = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]

/** Of help that is not printed to a terminal, as commander has it. */
const DEFAULT_WIDTH = 80

class CommandDefinition {
  readonly #command: Command

  constructor(command: Command) {
    this.#command = command
  }

  argument(name: string, en: string, ja: string): this {
    this.#command.argument(name, say(en, ja))
    return this
  }

  option(
    ...[flags, en, ja, { isRequired = false, isRepeatable, choices, default: standard, parse } = {}]: OptionDefinition
  ): this {
    const option = new Option(flags, say(en, ja)).makeOptionMandatory(isRequired)
    if (choices) option.choices(choices)
    if (isRepeatable) option.argParser(collectValues)
    if (parse) option.argParser(parse)
    this.#command.addOption(standard === undefined ? option : option.default(standard))
    return this
  }

  /** Accepts an option of earlier versions that has no effect any more. */
  formerOption(flags: string): this {
    this.#command.addOption(new Option(flags).hideHelp())
    return this
  }

  /** Puts the options that follow under this title in the help. */
  group(en: string, ja: string): this {
    this.#command.optionsGroup(say(`${en}:`, `${ja}:`))
    return this
  }

  /** Applies settings that only some commands need. */
  with(change: (command: Command) => unknown): this {
    change(this.#command)
    return this
  }

  examples(...commands: readonly string[]): this {
    const lines = commands.map((command) => `  ${command}`)
    this.#command.addHelpText('after', `\n${say('Examples:', '例:')}\n${lines.join('\n')}`)
    return this
  }

  /** Adds a paragraph after the help. */
  note(en: string, ja: string): this {
    const width = process.stdout.columns ?? DEFAULT_WIDTH
    this.#command.addHelpText('after', ({ command }) => `\n${command.createHelp().boxWrap(say(en, ja), width)}`)
    return this
  }

  run(action: Parameters<Command['action']>[0]): void {
    this.#command.action(action)
  }

  /** @param action gets an app, which is closed when the command ends */
  runWithApp<Parameters extends readonly unknown[]>(
    action: (app: App, ...parameters: Parameters) => Promise<void>,
  ): void {
    this.#command.action(async (...parameters) => {
      const { withApp } = await import('./open-app.ts')
      await withApp((app) => action(app, ...(parameters as unknown as Parameters)))
    })
  }
}

/** @param settings `isDefault`: runs if the command line names no command */
export const defineCommand = (
  program: Command,
  name: string,
  en: string,
  ja: string,
  settings?: { readonly isDefault: boolean },
): CommandDefinition => {
  const sentence = say(`${en.slice(0, 1).toUpperCase()}${en.slice(1)}.`, ja)
  return new CommandDefinition(program.command(name, settings).summary(say(en, ja)).description(sentence))
}
