/** The language of this run: the setting `language`, else that of the terminal. What programs read (`--json`) is English. */
import { readConfig } from '../config.ts'
import { thisMachine } from '../lib/files/data-directory.ts'
import { type Language, type Phrase, SAY, type Say } from '../model/phrase.ts'

const KEY = 'language'
const FLAG = `--set=${KEY}=`

function languageOfRun(): Language {
  // Before anything else is read: help and errors are in this language too.
  const flag = process.argv
    .map((one, at) => (process.argv[at - 1] === '--set' ? `--set=${one}` : one))
    .find((one) => one.startsWith(FLAG))
    ?.slice(FLAG.length)
  const flags = new Map(flag === undefined ? [] : [[KEY, flag]])
  const { language } = readConfig(thisMachine(), { agents: [], flags })
  return language === 'auto' ? languageOfTerminal() : language
}

function languageOfTerminal(): Language {
  const { env } = process
  const locale = env['LC_ALL'] || env['LC_MESSAGES'] || env['LANG'] || Intl.DateTimeFormat().resolvedOptions().locale
  return locale.startsWith('ja') ? 'ja' : 'en'
}

export const language: Language = languageOfRun()

/** The wording of this run: `say('nothing new', '変更なし')`. */
export const say: Say = SAY[language]

export const inWords = (phrase: Phrase): string => phrase[language]
