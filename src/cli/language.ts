/** The language of this run: the setting `language`, otherwise the terminal's. JSON is always English. */
import { readConfig } from '../config/config.ts'
import { thisMachine } from '../lib/files/data-directory.ts'
import { type Language, type Phrase, PICK_WORDING, type PickWording } from '../model/phrase.ts'

const LANGUAGE_KEY = 'language'
const LANGUAGE_FLAG = `--set=${LANGUAGE_KEY}=`

function detectLanguage(): Language {
  // Reads the arguments directly, because help and option errors need the language before options are parsed.
  const flag = process.argv
    .map((one, at) => (process.argv[at - 1] === '--set' ? `--set=${one}` : one))
    .find((one) => one.startsWith(LANGUAGE_FLAG))
    ?.slice(LANGUAGE_FLAG.length)
  const flags = new Map(flag === undefined ? [] : [[LANGUAGE_KEY, flag]])
  const { language } = readConfig(thisMachine(), { agents: [], flags })
  return language === 'auto' ? terminalLanguage() : language
}

function terminalLanguage(): Language {
  const { env } = process
  const locale = env['LC_ALL'] || env['LC_MESSAGES'] || env['LANG'] || systemLocale()
  return locale.startsWith('ja') ? 'ja' : 'en'
}

/** On Linux, the environment says everything, and asking `Intl` takes as long as reading a log. */
const systemLocale = (): string => (process.platform === 'linux' ? '' : Intl.DateTimeFormat().resolvedOptions().locale)

export const runLanguage: Language = detectLanguage()

/** Picks the wording for this run: `say('nothing new', '変更なし')`. */
export const say: PickWording = PICK_WORDING[runLanguage]

export const localize = (phrase: Phrase): string => phrase[runLanguage]
