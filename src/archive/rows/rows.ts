/** The rows of a stretch in a few large arrays, which one thread hands to another without copying them. */

import type { Touched } from '../../model/files/touched.ts'
import { SPOKEN, type Voice } from '../../model/spoken.ts'
import { analyseInto } from '../text/analyse.ts'
import { type Aside, AsideWriter } from './aside.ts'
import { Bytes } from './bytes.ts'
import { isFound, roleOf } from './kind.ts'
import { type Known, packLocator } from './locator.ts'

/** What `numbers` holds of each row. The tool is its place in `tools`, or -1; so is a duration that is not known. */
export const AT = 0
export const LINE = 1
export const PART = 2
export const KIND = 3
export const TOOL = 4
export const DURATION = 5
const LOCATOR_END = 6
export const FIELDS = 7

/** What `spans` holds of each text. */
const ROW = 0
const VOICE = 1
const END = 2
const SPAN = 3

type Numbers = Float64Array<ArrayBuffer>
type Octets = Uint8Array<ArrayBuffer>

export interface Rows {
  readonly count: number
  readonly numbers: Numbers
  readonly tools: readonly string[]
  readonly locators: Octets
  /** Analysed, in UTF-8, in the order of the rows. Rows without are not to be found by what they say. */
  readonly texts: Octets
  readonly spans: Numbers
  readonly touched: readonly FilesOf[]
  /** Those that no search finds are not among the rows. */
  readonly aside: readonly Aside[]
}

interface FilesOf {
  readonly row: number
  readonly files: readonly Touched[]
}

export const buffersOf = ({ numbers, locators, texts, spans }: Rows): readonly ArrayBuffer[] => [
  numbers.buffer,
  locators.buffer,
  texts.buffer,
  spans.buffer,
]

/** Nobody hears what is posted here, but what is handed over with it is gone. */
const nobody = new MessageChannel().port1
nobody.close()

/** Gives the memory back at once: the collector, which sees only the few objects that hold it, would take its time. The rows are empty then. */
export function release(rows: Rows): void {
  nobody.postMessage(null, [...buffersOf(rows)])
}

/** One number of one row. */
export const numberAt = ({ numbers }: Rows, row: number, field: number): number => numbers[row * FIELDS + field] ?? 0

export function locatorOf({ locators, numbers }: Rows, row: number): Uint8Array {
  const start = row === 0 ? 0 : (numbers[(row - 1) * FIELDS + LOCATOR_END] ?? 0)
  return view(locators, start, numbers[row * FIELDS + LOCATOR_END] ?? 0)
}

export interface Text {
  /** Its number in `SPOKEN`. */
  readonly voice: number
  readonly words: Uint8Array
}

/** By row. */
export function textsOf({ count, spans, texts }: Rows): readonly (readonly Text[] | undefined)[] {
  const found: (Text[] | undefined)[] = new Array(count).fill(undefined)
  for (let at = 0, start = 0; at < spans.length; at += SPAN) {
    const row = spans[at + ROW] ?? 0
    const end = spans[at + END] ?? 0
    const text = { voice: spans[at + VOICE] ?? 0, words: view(texts, start, end) }
    const before = found[row]
    if (before) before.push(text)
    else found[row] = [text]
    start = end
  }
  return found
}

const view = (bytes: Octets, start: number, end: number): Buffer => Buffer.from(bytes.buffer, start, end - start)

const VOICES: ReadonlyMap<Voice, number> = new Map(SPOKEN.map((voice, at) => [voice, at]))

export class RowsWriter {
  #numbers = new List()
  #spans = new List()
  #locators = new Bytes()
  #texts = new Bytes()
  #tools: string[] = []
  #touched: FilesOf[] = []
  #count = 0

  get count(): number {
    return this.#count
  }

  /** @returns the number of the row */
  add(
    at: number,
    kind: number,
    part: number,
    tool: string | undefined,
    duration: number | undefined,
    locator: { readonly [key: string]: unknown },
    known: Known,
  ): number {
    packLocator(locator, known, this.#locators)
    const { values } = this.#numbers.reserve(FIELDS)
    let next = this.#numbers.used
    values[next++] = at
    values[next++] = known.line
    values[next++] = part
    values[next++] = kind
    values[next++] = tool === undefined ? -1 : this.#toolNumber(tool)
    values[next++] = duration ?? -1
    values[next++] = this.#locators.used
    this.#numbers.used = next
    return this.#count++
  }

  get(row: number, field: number): number {
    return this.#numbers.values[row * FIELDS + field] ?? 0
  }

  mark(row: number, flag: number): void {
    this.#numbers.values[row * FIELDS + KIND] = this.get(row, KIND) | flag
  }

  /** Row after row. */
  say(row: number, voice: Voice, text: string): void {
    analyseInto(text, this.#texts)
    const { values } = this.#spans.reserve(SPAN)
    const next = this.#spans.used
    values[next + ROW] = row
    values[next + VOICE] = VOICES.get(voice) ?? 0
    values[next + END] = this.#texts.used
    this.#spans.used += SPAN
  }

  touch(row: number, files: readonly Touched[]): void {
    this.#touched.push({ row, files })
  }

  /** All since the last time. */
  taken(): Rows {
    const aside = this.#putAside()
    const rows = {
      aside,
      count: this.#count,
      numbers: this.#numbers.taken(),
      tools: this.#tools,
      locators: this.#locators.taken(),
      texts: this.#texts.taken(),
      spans: this.#spans.taken(),
      touched: this.#touched,
    }
    this.#count = 0
    this.#tools = []
    this.#touched = []
    return rows
  }

  /** Those that no search finds leave the others, which move up. */
  #putAside(): readonly Aside[] {
    const aside = new AsideWriter()
    const { values } = this.#numbers
    const { buffer } = this.#locators
    const spans = this.#spans
    const moved = new Map<number, number>()
    let span = 0
    let kept = 0
    let start = 0
    let used = 0
    for (let row = 0; row < this.#count; row++) {
      const end = this.get(row, LOCATOR_END)
      const kind = this.get(row, KIND)
      const isSaid = span < spans.used && spans.values[span + ROW] === row
      for (; span < spans.used && spans.values[span + ROW] === row; span += SPAN) spans.values[span + ROW] = kept
      if (isFound(kind) && (isSaid || roleOf(kind) !== 'meta')) {
        moved.set(row, kept)
        buffer.copyWithin(used, start, end)
        used += end - start
        values.copyWithin(kept * FIELDS, row * FIELDS, (row + 1) * FIELDS)
        values[kept * FIELDS + LOCATOR_END] = used
        kept++
      } else
        aside.add({
          at: this.get(row, AT),
          line: this.get(row, LINE),
          part: this.get(row, PART),
          kind,
          tool: this.#tools[this.get(row, TOOL)] ?? null,
          locator: buffer.subarray(start, end),
        })
      start = end
    }
    this.#count = kept
    this.#numbers.used = kept * FIELDS
    this.#locators.used = used
    this.#touched = this.#touched.flatMap(({ row, files }) => {
      const now = moved.get(row)
      return now === undefined ? [] : [{ row: now, files }]
    })
    return aside.taken()
  }

  #toolNumber(tool: string): number {
    const known = this.#tools.indexOf(tool)
    return known >= 0 ? known : this.#tools.push(tool) - 1
  }
}

/** Numbers one behind the other, in memory that is used again and again. */
class List {
  values: Numbers = new Float64Array(1 << 13)
  used = 0

  reserve(count: number): this {
    if (this.used + count <= this.values.length) return this
    const grown = new Float64Array(this.values.length * 2)
    grown.set(this.values)
    this.values = grown
    return this
  }

  taken(): Numbers {
    const all = this.values.slice(0, this.used)
    this.used = 0
    return all
  }
}
