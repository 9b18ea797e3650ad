/** What a setting may hold, and how it is read: from JSON, or from a word on the command line or in the environment. */
import { posix, win32 } from 'node:path'
import { isJsonArray, type JsonValue } from '../lib/json/lossless.ts'
import { type Phrase, phrase } from '../model/phrase.ts'

export type SettingValue = string | number | boolean | null | readonly string[]

export interface SettingContext {
  readonly platform: NodeJS.Platform
  readonly home: string
  /** Where the command was started. */
  readonly cwd: string
}

export type ParsedSetting<T> =
  | { readonly ok: true; readonly value: T }
  /** `at` is the place inside the value: empty, or the number of an element in brackets. */
  | { readonly ok: false; readonly at: string; readonly reason: Phrase }

export interface SettingType<T extends SettingValue> {
  /** Takes any number of words. */
  readonly isList: boolean
  /** Its value is used and never shown. */
  readonly isSecret?: boolean
  read(value: JsonValue, context: SettingContext): ParsedSetting<T>
  /** One word as JSON. What it does not know is left for `read` to refuse. */
  fromText(word: string, context: SettingContext): JsonValue
}

const valid = <T>(value: T): ParsedSetting<T> => ({ ok: true, value })
const invalid = (reason: Phrase, at = ''): ParsedSetting<never> => ({ ok: false, at, reason })

export const choiceSetting = <const T extends string>(...choices: readonly T[]): SettingType<T> => ({
  isList: false,
  read(value) {
    const found = choices.find((one) => one === value)
    const all = choices.map((one) => JSON.stringify(one))
    return found === undefined
      ? invalid(phrase(`wants one of ${all.join(', ')}`, `には ${all.join('、')} のどれかを指定してください`))
      : valid(found)
  },
  fromText: (word) => word,
})

const BOOLEAN_WORDS: { readonly [word: string]: boolean } = {
  true: true,
  on: true,
  yes: true,
  false: false,
  off: false,
  no: false,
}

export const booleanSetting: SettingType<boolean> = {
  isList: false,
  read: (value) =>
    typeof value === 'boolean'
      ? valid(value)
      : invalid(phrase('wants true or false', 'には true か false を指定してください')),
  fromText: (word) => BOOLEAN_WORDS[word.toLowerCase()] ?? word,
}

export const textSetting: SettingType<string | null> = {
  isList: false,
  read: (value) =>
    value === null || typeof value === 'string'
      ? valid(value)
      : invalid(phrase('wants a text', 'には文字列を指定してください')),
  fromText: (text) => text,
}

/** A text that names a variable with `$` is no secret itself. */
export const secretSetting: SettingType<string | null> = { ...textSetting, isSecret: true }

export const positiveIntegerSetting: SettingType<number | null> = {
  isList: false,
  read: (value) =>
    value === null || (typeof value === 'number' && Number.isSafeInteger(value) && value > 0)
      ? valid(value)
      : invalid(phrase('wants a whole number above 0', 'には 1 以上の整数を指定してください')),
  fromText: (text) => (/^\d+$/.test(text) ? Number(text) : text),
}

export const pathSetting: SettingType<string | null> = {
  isList: false,
  read: (value, context) => (value === null ? valid(null) : readPath(value, context)),
  fromText: pathFromText,
}

export const pathListSetting: SettingType<readonly string[]> = {
  isList: true,
  read(value, context) {
    if (!isJsonArray(value))
      return invalid(
        phrase(
          'wants a list of paths: ["/one", "/another"]',
          'には ["/one", "/another"] のようにパスの一覧を指定してください',
        ),
      )
    const found: string[] = []
    for (const [at, one] of value.entries()) {
      const path = readPath(one, context)
      if (!path.ok) return invalid(path.reason, `[${at}]`)
      found.push(path.value)
    }
    return valid(found)
  },
  fromText: pathFromText,
}

/** A word that stands for all: lists are parted as the platform parts its PATH. */
export const settingFromText = (kind: SettingType<SettingValue>, text: string, context: SettingContext): JsonValue =>
  kind.isList
    ? text
        .split(pathRules(context).delimiter)
        .filter((word) => word !== '')
        .map((word) => kind.fromText(word, context))
    : kind.fromText(text, context)

/** A file knows no current directory, so what it names must be whole. */
function readPath(value: JsonValue, context: SettingContext): ParsedSetting<string> {
  const { isAbsolute, join, resolve } = pathRules(context)
  if (typeof value !== 'string' || value === '') return invalid(phrase('wants a path', 'にはパスを指定してください'))
  if (value === '~' || /^~[/\\]/.test(value)) return valid(resolve(join(context.home, value.slice(1))))
  return isAbsolute(value)
    ? valid(resolve(value))
    : invalid(
        phrase('wants a whole path, from the root or from ~/', 'にはルートか ~/ から始まるパスを指定してください'),
      )
}

function pathFromText(word: string, context: SettingContext): JsonValue {
  if (word === '' || word === '~' || /^~[/\\]/.test(word)) return word
  return pathRules(context).resolve(context.cwd, word)
}

const pathRules = ({ platform }: SettingContext): typeof posix => (platform === 'win32' ? win32 : posix)
