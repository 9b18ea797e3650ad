/** What commander says of its own accord, in Japanese: titles of the help and errors about options. */
import type { Command } from 'commander'
import { language } from '../language.ts'

const TITLES: { readonly [title: string]: string } = {
  'Usage:': '使い方:',
  'Arguments:': '引数:',
  'Options:': 'オプション:',
  'Commands:': 'コマンド:',
}

type Rule = readonly [said: RegExp, ja: string]

const ERRORS: readonly Rule[] = [
  [/^error: missing required argument '(.+)'/, 'エラー: 引数 <$1> が必要です'],
  [/^error: option '(.+?)' argument missing/, 'エラー: オプション「$1」に値がありません'],
  [/^error: option '(.+?)' argument '(.*?)' is invalid\. ?/, 'エラー: オプション「$1」の値「$2」は使えません。'],
  [
    /^error: command-argument value '(.*?)' is invalid for argument '(.+?)'\. ?/,
    'エラー: 引数 <$2> の値「$1」は使えません。',
  ],
  [/^error: required option '(.+?)' not specified/, 'エラー: オプション「$1」が必要です'],
  [/^error: option '(.+?)' cannot be used with option '(.+?)'/, 'エラー: オプション「$1」と「$2」は同時に使えません'],
  [/^error: unknown option '(.+?)'/, 'エラー: オプション「$1」はありません'],
  [/^error: unknown command '(.+?)'/, 'エラー: コマンド「$1」はありません'],
  [
    /^error: too many arguments(?: for '(.+?)')?\. Expected (\d+) arguments? but got (\d+)\./,
    'エラー: 引数が多すぎます。$2 個までのところに $3 個あります。',
  ],
]

const DETAILS: readonly Rule[] = [
  [/\(Did you mean one of (.+)\?\)/, '（もしかして: $1）'],
  [/\(Did you mean (.+)\?\)/, '（もしかして: $1）'],
  [/Allowed choices are (.+)\./, '使えるのは $1 です。'],
]

const NOTES: readonly Rule[] = [
  [/ ?\(choices: (.+?), default: (.+?)\)/, '（$1 のどれか。既定: $2）'],
  [/ ?\(choices: (.+?)\)/, '（$1 のどれか）'],
  [/ ?\(default: (.+?)\)/, '（既定: $1）'],
]

const worded = (text: string, rules: readonly Rule[]): string =>
  rules.reduce((told, [said, ja]) => told.replace(said, ja), text)

/** For a program and each of its commands. Nothing to do in English. */
export async function speakIn(commands: readonly Command[]): Promise<void> {
  if (language === 'en') return
  const [{ widthOf }, { Wrapped }] = await Promise.all([
    import('../chat/width.ts'),
    import('../chat/output/wrapped.ts'),
  ])
  const wrapped = (text: string, width: number): string => {
    const line = new Wrapped(width, '', 0)
    return line.add([{ text, looks: [] }]) + line.end()
  }
  for (const command of commands) {
    command.configureHelp({
      displayWidth: widthOf,
      boxWrap: (text, width) =>
        text
          .split('\n')
          .map((line) => wrapped(line, width))
          .join('\n'),
      styleTitle: (title) => TITLES[title] ?? title,
      styleOptionDescription: (text) => worded(text, NOTES),
      styleArgumentDescription: (text) => worded(text, NOTES),
    })
    command.configureOutput({ outputError: (text, write) => write(worded(worded(text, ERRORS), DETAILS)) })
    command.helpOption('-h, --help', 'このヘルプを表示')
  }
}
