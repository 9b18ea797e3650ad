/** Checks all messages of a file, and gives the file back with them mended. */
import { elementsAt } from '../../lib/json/ranges.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import type { Problem } from '../check/problem.ts'
import type { Profile, ProfileName } from '../profile.ts'
import { checkRecord } from './check.ts'
import { layoutOf } from './layout.ts'
import { REASONS } from './shape.ts'

export interface FileCheck {
  /** Conversations that were checked. */
  readonly records: number
  readonly problems: readonly (Problem & {
    /** The line, or the element of a list, from 1. */
    readonly line: number
  })[]
  /** The file with its messages mended; what is no conversation stands there as it did. */
  readonly mended: string
  /** Conversations in a form that is checked but not mended. */
  readonly unmendable: number
  /** What the first record is that holds no messages. */
  readonly foreign: Phrase | undefined
}

/**
 * @example
 * const { problems, mended } = checkFile(readFileSync('train.jsonl', 'utf8'), 'fine-tune')
 */
export function checkFile(text: string, profile: ProfileName | Profile = 'openai'): FileCheck {
  const bare = text.replace(/^\uFEFF/, '')
  const layout = layoutOf(bare.slice(0, HEAD))
  if (layout === 'lines') return linesOf(bare, profile)
  const value = parsed(bare)
  if (value === undefined) return { ...NOTHING, mended: text, foreign: phrase('it is not JSON', 'JSON ではありません') }
  return layout === 'list' && Array.isArray(value) ? listOf(value, bare, profile) : wholeOf(value, bare, profile)
}

const HEAD = 65_536
const NOTHING: FileCheck = { records: 0, problems: [], mended: '', unmendable: 0, foreign: undefined }

function linesOf(text: string, profile: ProfileName | Profile): FileCheck {
  const tally = new Tally(profile)
  const lines = text.split('\n').map((line, at) => {
    if (line.trim() === '') return line
    const value = parsed(line)
    if (value === undefined) return tally.skip(phrase('a line is not JSON', 'JSON でない行があります'), line)
    const mended = tally.check(value, at + 1, true)
    return mended === undefined ? line : `${JSON.stringify(mended)}${line.endsWith('\r') ? '\r' : ''}`
  })
  return tally.end(lines.join('\n'))
}

function listOf(values: readonly unknown[], text: string, profile: ProfileName | Profile): FileCheck {
  const tally = new Tally(profile)
  const bytes = Buffer.from(text)
  const places = elementsAt(bytes, bytes.indexOf('[')).found
  const indent = indentOf(text)
  let mended = ''
  let done = 0
  for (const [at, value] of values.entries()) {
    const instead = tally.check(value, at + 1, false)
    const place = places[at]
    if (instead === undefined || !place) continue
    const spelt = JSON.stringify(instead, null, indent).replaceAll('\n', `\n${' '.repeat(indent)}`)
    mended += bytes.toString('utf8', done, place.start) + spelt
    done = place.end
  }
  return tally.end(mended + bytes.toString('utf8', done))
}

function wholeOf(value: unknown, text: string, profile: ProfileName | Profile): FileCheck {
  const tally = new Tally(profile)
  const mended = tally.check(value, 1, false)
  return tally.end(
    mended === undefined ? text : `${JSON.stringify(mended, null, indentOf(text))}${text.endsWith('\n') ? '\n' : ''}`,
  )
}

/** As wide as the file's own first step. */
const indentOf = (text: string): number => /^\s*[[{]\r?\n( +)/.exec(text)?.[1]?.length ?? 0

class Tally {
  readonly #profile: ProfileName | Profile
  readonly #problems: FileCheck['problems'][number][] = []
  #records = 0
  #unmendable = 0
  #foreign: Phrase | undefined

  constructor(profile: ProfileName | Profile) {
    this.#profile = profile
  }

  /** The record to be written instead, where there is one. */
  check(value: unknown, line: number, isLine: boolean): unknown {
    const checked = checkRecord(value, isLine, this.#profile)
    if (typeof checked === 'string') return this.skip(REASONS[checked], undefined)
    this.#records++
    if (checked.mended === undefined) this.#unmendable++
    for (const problem of checked.problems) this.#problems.push({ ...problem, line })
    return checked.problems.length === 0 ? undefined : checked.mended
  }

  skip<T>(why: Phrase, instead: T): T {
    this.#foreign ??= why
    return instead
  }

  end(mended: string): FileCheck {
    return {
      records: this.#records,
      problems: this.#problems,
      mended,
      unmendable: this.#unmendable,
      foreign: this.#foreign,
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
