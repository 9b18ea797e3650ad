/** What a setting may hold, and how it is read: from JSON, or from a word on the command line or in the environment. */
import { posix, win32 } from 'node:path'
import { isJsonArray, type JsonValue } from '../lib/json/lossless.ts'
import { type Phrase, phrase } from '../model/phrase.ts'

export type Value = string | number | boolean | null | readonly string[]

export interface Surroundings {
  readonly platform: NodeJS.Platform
  readonly home: string
  /** Where the command was started. */
  readonly cwd: string
}

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  /** `at` is the place inside the value: empty, or the number of an element in brackets. */
  | { readonly ok: false; readonly at: string; readonly reason: Phrase }

export interface Kind<T extends Value> {
  /** Takes any number of words. */
  readonly isList: boolean
  /** Its value is used and never shown. */
  readonly isSecret?: boolean
  read(value: JsonValue, around: Surroundings): Parsed<T>
  /** One word as JSON. What it does not know is left for `read` to refuse. */
  fromWord(word: string, around: Surroundings): JsonValue
}

const right = <T>(value: T): Parsed<T> => ({ ok: true, value })
const wrong = (reason: Phrase, at = ''): Parsed<never> => ({ ok: false, at, reason })

export const choice = <const T extends string>(...choices: readonly T[]): Kind<T> => ({
  isList: false,
  read(value) {
    const found = choices.find((one) => one === value)
    const all = choices.map((one) => JSON.stringify(one))
    return found === undefined
      ? wrong(phrase(`wants one of ${all.join(', ')}`, `には ${all.join('、')} のどれかを指定してください`))
      : right(found)
  },
  fromWord: (word) => word,
})

const WORDS: { readonly [word: string]: boolean } = {
  true: true,
  on: true,
  yes: true,
  false: false,
  off: false,
  no: false,
}

export const onOrOff: Kind<boolean> = {
  isList: false,
  read: (value) =>
    typeof value === 'boolean'
      ? right(value)
      : wrong(phrase('wants true or false', 'には true か false を指定してください')),
  fromWord: (word) => WORDS[word.toLowerCase()] ?? word,
}

export const word: Kind<string | null> = {
  isList: false,
  read: (value) =>
    value === null || typeof value === 'string'
      ? right(value)
      : wrong(phrase('wants a text', 'には文字列を指定してください')),
  fromWord: (text) => text,
}

/** A text that names a variable with `$` is no secret itself. */
export const secret: Kind<string | null> = { ...word, isSecret: true }

export const amount: Kind<number | null> = {
  isList: false,
  read: (value) =>
    value === null || (typeof value === 'number' && Number.isSafeInteger(value) && value > 0)
      ? right(value)
      : wrong(phrase('wants a whole number above 0', 'には 1 以上の整数を指定してください')),
  fromWord: (text) => (/^\d+$/.test(text) ? Number(text) : text),
}

export const file: Kind<string | null> = {
  isList: false,
  read: (value, around) => (value === null ? right(null) : readPath(value, around)),
  fromWord: pathFromWord,
}

export const paths: Kind<readonly string[]> = {
  isList: true,
  read(value, around) {
    if (!isJsonArray(value))
      return wrong(
        phrase(
          'wants a list of paths: ["/one", "/another"]',
          'には ["/one", "/another"] のようにパスの一覧を指定してください',
        ),
      )
    const found: string[] = []
    for (const [at, one] of value.entries()) {
      const path = readPath(one, around)
      if (!path.ok) return wrong(path.reason, `[${at}]`)
      found.push(path.value)
    }
    return right(found)
  },
  fromWord: pathFromWord,
}

/** A word that stands for all: lists are parted as the platform parts its PATH. */
export const jsonFromText = (kind: Kind<Value>, text: string, around: Surroundings): JsonValue =>
  kind.isList
    ? text
        .split(rules(around).delimiter)
        .filter((word) => word !== '')
        .map((word) => kind.fromWord(word, around))
    : kind.fromWord(text, around)

/** A file knows no current directory, so what it names must be whole. */
function readPath(value: JsonValue, around: Surroundings): Parsed<string> {
  const { isAbsolute, join, resolve } = rules(around)
  if (typeof value !== 'string' || value === '') return wrong(phrase('wants a path', 'にはパスを指定してください'))
  if (value === '~' || /^~[/\\]/.test(value)) return right(resolve(join(around.home, value.slice(1))))
  return isAbsolute(value)
    ? right(resolve(value))
    : wrong(phrase('wants a whole path, from the root or from ~/', 'にはルートか ~/ から始まるパスを指定してください'))
}

function pathFromWord(word: string, around: Surroundings): JsonValue {
  if (word === '' || word === '~' || /^~[/\\]/.test(word)) return word
  return rules(around).resolve(around.cwd, word)
}

const rules = ({ platform }: Surroundings): typeof posix => (platform === 'win32' ? win32 : posix)
