/** What commander says of its own accord, in Japanese: titles of the help and errors about options. */
import type { Command } from 'commander'
import { runLanguage } from '../language.ts'

const TITLE_TRANSLATIONS: { readonly [title: string]: string } = {
  'Usage:': '使い方:',
  'Arguments:': '引数:',
  'Options:': 'オプション:',
  'Commands:': 'コマンド:',
}

type Translation = readonly [said: RegExp, ja: string]

const ERROR_TRANSLATIONS: readonly Translation[] = [
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

const DETAIL_TRANSLATIONS: readonly Translation[] = [
  [/\(Did you mean one of (.+)\?\)/, '（もしかして: $1）'],
  [/\(Did you mean (.+)\?\)/, '（もしかして: $1）'],
  [/Allowed choices are (.+)\./, '使えるのは $1 です。'],
]

const NOTE_TRANSLATIONS: readonly Translation[] = [
  [/ ?\(choices: (.+?), default: (.+?)\)/, '（$1 のどれか。既定: $2）'],
  [/ ?\(choices: (.+?)\)/, '（$1 のどれか）'],
  [/ ?\(default: (.+?)\)/, '（既定: $1）'],
]

const applyTranslations = (text: string, rules: readonly Translation[]): string =>
  rules.reduce((translated, [pattern, ja]) => translated.replace(pattern, ja), text)

/** For a program and each of its commands. Nothing to do in English. */
export async function translateHelp(commands: readonly Command[]): Promise<void> {
  if (runLanguage === 'en') return
  const [{ textWidth }, { WordWrapper }] = await Promise.all([
    import('../chat/width.ts'),
    import('../chat/output/wrapped.ts'),
  ])
  const wrapText = (text: string, width: number): string => {
    const line = new WordWrapper(width, '', 0)
    return line.add([{ text, styles: [] }]) + line.end()
  }
  for (const command of commands) {
    command.configureHelp({
      displayWidth: textWidth,
      boxWrap: (text, width) =>
        text
          .split('\n')
          .map((line) => wrapText(line, width))
          .join('\n'),
      styleTitle: (title) => TITLE_TRANSLATIONS[title] ?? title,
      styleOptionDescription: (text) => applyTranslations(text, NOTE_TRANSLATIONS),
      styleArgumentDescription: (text) => applyTranslations(text, NOTE_TRANSLATIONS),
    })
    command.configureOutput({
      outputError: (text, write) =>
        write(applyTranslations(applyTranslations(text, ERROR_TRANSLATIONS), DETAIL_TRANSLATIONS)),
    })
    command.helpOption('-h, --help', 'このヘルプを表示')
  }
}
