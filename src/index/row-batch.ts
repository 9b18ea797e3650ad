/** The rows of a chunk in a few large arrays, which threads transfer without copying. */
import { ByteBuffer } from '../lib/byte-buffer.ts'
import { TEXT_SCOPES, type TextScope } from '../model/searchable-text.ts'
import type { FileTouch } from '../model/touched-files.ts'
import { analyseInto } from '../search/words/analyse.ts'
import { encodeLocator, isSearchableKind, type RowContext, roleOfKind } from './row-encoding.ts'
import { toUnsearchableBatches, type UnsearchableBatch, type UnsearchableRow } from './unsearchable-rows.ts'

/** Fields of a row in `numbers`. The tool is an index into `tools`; unknown tools and durations are -1. */
export const AT_FIELD = 0
export const LINE_FIELD = 1
export const PART_FIELD = 2
export const KIND_FIELD = 3
export const TOOL_FIELD = 4
export const DURATION_FIELD = 5
export const FIELDS_PER_ROW = 6

/** Fields of a text in `spans`. */
const SPAN_ROW = 0
const SPAN_SCOPE = 1
const SPAN_END = 2
const SPAN_LENGTH = 3

type Float64s = Float64Array<ArrayBuffer>
type ByteArray = Uint8Array<ArrayBuffer>

export interface RowBatch {
  readonly count: number
  readonly numbers: Float64s
  readonly tools: readonly string[]
  readonly locators: readonly string[]
  /** Analysed text in UTF-8, in row order. Rows without text are never found by words. */
  readonly texts: ByteArray
  readonly spans: Float64s
  readonly touched: readonly TouchedFilesOfRow[]
  /** Unsearchable rows, which are not among the others. */
  readonly aside: readonly UnsearchableBatch[]
}

interface TouchedFilesOfRow {
  readonly row: number
  readonly files: readonly FileTouch[]
}

export const rowBatchBuffers = ({ numbers, texts, spans }: RowBatch): readonly ArrayBuffer[] => [
  numbers.buffer,
  texts.buffer,
  spans.buffer,
]

/** Posting to a closed port discards the message, but still detaches the buffers transferred with it. */
const closedPort = new MessageChannel().port1
closedPort.close()

/**
 * Frees the memory immediately. The garbage collector would be late: it sees only a few small objects. The batch is
 * empty afterwards.
 */
export function releaseRowBatch(rows: RowBatch): void {
  closedPort.postMessage(null, [...rowBatchBuffers(rows)])
}

/** One field of one row. */
export const rowField = ({ numbers }: RowBatch, row: number, field: number): number =>
  numbers[row * FIELDS_PER_ROW + field] ?? 0

export interface ScopedText {
  /** Index into `TEXT_SCOPES`. */
  readonly voice: number
  readonly words: Uint8Array
}

/** Texts by row. */
export function textsByRow({ count, spans, texts }: RowBatch): readonly (readonly ScopedText[] | undefined)[] {
  const found: (ScopedText[] | undefined)[] = new Array(count).fill(undefined)
  for (let at = 0, start = 0; at < spans.length; at += SPAN_LENGTH) {
    const row = spans[at + SPAN_ROW] ?? 0
    const end = spans[at + SPAN_END] ?? 0
    const text = { voice: spans[at + SPAN_SCOPE] ?? 0, words: bytesBetween(texts, start, end) }
    const before = found[row]
    if (before) before.push(text)
    else found[row] = [text]
    start = end
  }
  return found
}

const bytesBetween = (bytes: ByteArray, start: number, end: number): Buffer =>
  Buffer.from(bytes.buffer, start, end - start)

const SCOPE_NUMBERS: ReadonlyMap<TextScope, number> = new Map(TEXT_SCOPES.map((scope, at) => [scope, at]))

export class RowBatchWriter {
  #numbers = new NumberList()
  #spans = new NumberList()
  #locators: string[] = []
  #texts = new ByteBuffer()
  #tools: string[] = []
  #touched: TouchedFilesOfRow[] = []
  #count = 0

  get count(): number {
    return this.#count
  }

  /** @returns the index of the row */
  add(
    at: number,
    kind: number,
    part: number,
    tool: string | undefined,
    duration: number | undefined,
    locator: { readonly [key: string]: unknown },
    context: RowContext,
  ): number {
    this.#locators.push(encodeLocator(locator, context))
    const { values } = this.#numbers.reserve(FIELDS_PER_ROW)
    let next = this.#numbers.used
    values[next++] = at
    values[next++] = context.line
    values[next++] = part
    values[next++] = kind
    values[next++] = tool === undefined ? -1 : this.#toolNumber(tool)
    values[next++] = duration ?? -1
    this.#numbers.used = next
    return this.#count++
  }

  get(row: number, field: number): number {
    return this.#numbers.values[row * FIELDS_PER_ROW + field] ?? 0
  }

  mark(row: number, flag: number): void {
    this.#numbers.values[row * FIELDS_PER_ROW + KIND_FIELD] = this.get(row, KIND_FIELD) | flag
  }

  /** Texts must be added in row order. */
  addText(row: number, scope: TextScope, text: string): void {
    analyseInto(text, this.#texts)
    const { values } = this.#spans.reserve(SPAN_LENGTH)
    const next = this.#spans.used
    values[next + SPAN_ROW] = row
    values[next + SPAN_SCOPE] = SCOPE_NUMBERS.get(scope) ?? 0
    values[next + SPAN_END] = this.#texts.used
    this.#spans.used += SPAN_LENGTH
  }

  touch(row: number, files: readonly FileTouch[]): void {
    this.#touched.push({ row, files })
  }

  /** Returns all rows added since the last call. */
  take(): RowBatch {
    const unsearchable = this.#moveUnsearchable()
    const rows = {
      aside: unsearchable,
      count: this.#count,
      numbers: this.#numbers.take(),
      tools: this.#tools,
      locators: this.#locators,
      texts: this.#texts.take(),
      spans: this.#spans.take(),
      touched: this.#touched,
    }
    this.#count = 0
    this.#locators = []
    this.#tools = []
    this.#touched = []
    return rows
  }

  /** Takes the unsearchable rows out of the arrays and closes the gaps. */
  #moveUnsearchable(): readonly UnsearchableBatch[] {
    const unsearchable: UnsearchableRow[] = []
    const { values } = this.#numbers
    const locators: string[] = []
    const spans = this.#spans
    const newRowNumbers = new Map<number, number>()
    let span = 0
    let searchableCount = 0
    for (let row = 0; row < this.#count; row++) {
      const locator = this.#locators[row] ?? ''
      const kind = this.get(row, KIND_FIELD)
      const hasText = span < spans.used && spans.values[span + SPAN_ROW] === row
      for (; span < spans.used && spans.values[span + SPAN_ROW] === row; span += SPAN_LENGTH)
        spans.values[span + SPAN_ROW] = searchableCount
      if (isSearchableKind(kind) && (hasText || roleOfKind(kind) !== 'meta')) {
        newRowNumbers.set(row, searchableCount)
        values.copyWithin(searchableCount * FIELDS_PER_ROW, row * FIELDS_PER_ROW, (row + 1) * FIELDS_PER_ROW)
        locators.push(locator)
        searchableCount++
      } else
        unsearchable.push({
          at: this.get(row, AT_FIELD),
          line: this.get(row, LINE_FIELD),
          part: this.get(row, PART_FIELD),
          kind,
          tool: this.#tools[this.get(row, TOOL_FIELD)] ?? null,
          locator,
        })
    }
    this.#count = searchableCount
    this.#numbers.used = searchableCount * FIELDS_PER_ROW
    this.#locators = locators
    this.#touched = this.#touched.flatMap(({ row, files }) => {
      const newRow = newRowNumbers.get(row)
      return newRow === undefined ? [] : [{ row: newRow, files }]
    })
    return toUnsearchableBatches(unsearchable)
  }

  #toolNumber(tool: string): number {
    const context = this.#tools.indexOf(tool)
    return context >= 0 ? context : this.#tools.push(tool) - 1
  }
}

/** A growing array of numbers that reuses its memory. */
class NumberList {
  values: Float64s = new Float64Array(1 << 13)
  used = 0

  reserve(count: number): this {
    if (this.used + count <= this.values.length) return this
    const grown = new Float64Array(this.values.length * 2)
    grown.set(this.values)
    this.values = grown
    return this
  }

  take(): Float64s {
    const all = this.values.slice(0, this.used)
    this.used = 0
    return all
  }
}
