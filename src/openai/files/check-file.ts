/** Checks all messages of a file, and returns the file with them repaired. */

import { findElementRanges } from '../../lib/json/scanner.ts'
import { type Fields, isObject } from '../../lib/unknown-values.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import type { Problem } from '../check/problem.ts'
import { repair } from '../check/validate.ts'
import type { Profile, ProfileName } from '../profile.ts'
import { detectFileLayout } from './file-layout.ts'
import { readRecord } from './read-record.ts'
import { type ForeignShape, SHAPE_TEXTS } from './record-shape.ts'

export interface RecordCheck {
  /** Paths begin at the messages in the record: `$.messages[2].content`. */
  readonly problems: readonly Problem[]
  /** The repaired record. Undefined if its messages are not a list of chat messages. */
  readonly mended: unknown
}

/** Checks a record of another format by its converted messages. Returns a description if it is not a conversation. */
export function checkRecord(
  value: unknown,
  isLine: boolean,
  profile: ProfileName | Profile,
): RecordCheck | ForeignShape {
  if (Array.isArray(value)) return checkMessageList(value, '$', profile, (messages) => messages)
  const result = readRecord(value, isLine)
  if (!result.ok) return result.shape
  const { format, branches } = result.conversation
  if (isObject(value) && Array.isArray(value['messages']) && (format === 'messages' || format === 'sft'))
    return checkMessageList(value['messages'], '$.messages', profile, (messages): Fields => ({ ...value, messages }))
  const problems = branches.flatMap(({ messages, name }) =>
    repair(messages, profile).problems.map((one) => withPathPrefix(name === undefined ? '$' : `$(${name})`, one)),
  )
  return { problems, mended: undefined }
}

function checkMessageList(
  messages: readonly unknown[],
  path: string,
  profile: ProfileName | Profile,
  wrap: (messages: readonly unknown[]) => unknown,
): RecordCheck {
  const { messages: repaired, problems } = repair(messages, profile)
  return { problems: problems.map((one) => withPathPrefix(path, one)), mended: wrap(repaired) }
}

const withPathPrefix = (path: string, problem: Problem): Problem => ({
  ...problem,
  path: problem.path.replace(/^\$/, () => path),
})

export interface FileCheck {
  /** Number of conversations checked. */
  readonly records: number
  readonly problems: readonly (Problem & {
    /** 1-based line, or element of a list. */
    readonly line: number
  })[]
  /** The repaired file. Records other than conversations stay unchanged. */
  readonly mended: string
  /** Number of conversations in a format that can be checked but not repaired. */
  readonly unmendable: number
  /** Description of the first record without messages. */
  readonly foreign: Phrase | undefined
}

/**
 * @example
 * const { problems, mended } = checkFile(readFileSync('train.jsonl', 'utf8'), 'fine-tune')
 */
export function checkFile(text: string, profile: ProfileName | Profile = 'openai'): FileCheck {
  const bare = text.replace(/^\uFEFF/, '')
  const layout = detectFileLayout(bare.slice(0, HEAD_CHARACTERS))
  if (layout === 'lines') return checkLines(bare, profile)
  const value = tryParseJson(bare)
  if (value === undefined)
    return { ...EMPTY_CHECK, mended: text, foreign: phrase('it is not JSON', 'JSON ではありません') }
  return layout === 'list' && Array.isArray(value)
    ? checkList(value, bare, profile)
    : checkSingleRecord(value, bare, profile)
}

const HEAD_CHARACTERS = 65_536
const EMPTY_CHECK: FileCheck = { records: 0, problems: [], mended: '', unmendable: 0, foreign: undefined }

function checkLines(text: string, profile: ProfileName | Profile): FileCheck {
  const builder = new FileCheckBuilder(profile)
  const lines = text.split('\n').map((line, at) => {
    if (line.trim() === '') return line
    const value = tryParseJson(line)
    if (value === undefined) return builder.skip(phrase('a line is not JSON', 'JSON でない行があります'), line)
    const repaired = builder.check(value, at + 1, true)
    return repaired === undefined ? line : `${JSON.stringify(repaired)}${line.endsWith('\r') ? '\r' : ''}`
  })
  return builder.toFileCheck(lines.join('\n'))
}

function checkList(values: readonly unknown[], text: string, profile: ProfileName | Profile): FileCheck {
  const builder = new FileCheckBuilder(profile)
  const bytes = Buffer.from(text)
  const ranges = findElementRanges(bytes, bytes.indexOf('[')).ranges
  const indent = indentOf(text)
  let repaired = ''
  let done = 0
  for (const [at, value] of values.entries()) {
    const replacement = builder.check(value, at + 1, false)
    const range = ranges[at]
    if (replacement === undefined || !range) continue
    const json = JSON.stringify(replacement, null, indent).replaceAll('\n', `\n${' '.repeat(indent)}`)
    repaired += bytes.toString('utf8', done, range.start) + json
    done = range.end
  }
  return builder.toFileCheck(repaired + bytes.toString('utf8', done))
}

function checkSingleRecord(value: unknown, text: string, profile: ProfileName | Profile): FileCheck {
  const builder = new FileCheckBuilder(profile)
  const repaired = builder.check(value, 1, false)
  return builder.toFileCheck(
    repaired === undefined
      ? text
      : `${JSON.stringify(repaired, null, indentOf(text))}${text.endsWith('\n') ? '\n' : ''}`,
  )
}

/** Uses the indentation of the file. */
const indentOf = (text: string): number => /^\s*[[{]\r?\n( +)/.exec(text)?.[1]?.length ?? 0

class FileCheckBuilder {
  readonly #profile: ProfileName | Profile
  readonly #problems: FileCheck['problems'][number][] = []
  #records = 0
  #unmendable = 0
  #foreign: Phrase | undefined

  constructor(profile: ProfileName | Profile) {
    this.#profile = profile
  }

  /** Returns the repaired record, if there is one. */
  check(value: unknown, line: number, isLine: boolean): unknown {
    const checked = checkRecord(value, isLine, this.#profile)
    if (typeof checked === 'string') return this.skip(SHAPE_TEXTS[checked], undefined)
    this.#records++
    if (checked.mended === undefined) this.#unmendable++
    for (const problem of checked.problems) this.#problems.push({ ...problem, line })
    return checked.problems.length === 0 ? undefined : checked.mended
  }

  skip<T>(reason: Phrase, replacement: T): T {
    this.#foreign ??= reason
    return replacement
  }

  toFileCheck(repaired: string): FileCheck {
    return {
      records: this.#records,
      problems: this.#problems,
      mended: repaired,
      unmendable: this.#unmendable,
      foreign: this.#foreign,
    }
  }
}

function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
