/** The rows of a chunk in a few large arrays, which threads transfer without copying. */
import { ByteBuffer } from '../lib/byte-buffer.ts'
import { TEXT_SCOPES, type TextScope } from '../model/searchable-text.ts'
import type { FileTouch } from '../model/touched-files.ts'
import { isAsciiText, type TermBuilder } from '../search/segments/term-builder.ts'
import { packLocator, packNumbers, type SplitLocator } from './packed-locator.ts'
import type { PackableRow } from './packed-rows.ts'
import { isSearchableKind, type RowContext, roleOfKind } from './row-encoding.ts'
import { NO_SCOPE } from './segment-documents.ts'
import { toUnsearchableBatches, type UnsearchableBatch } from './unsearchable-rows.ts'

/** Fields of a row in `numbers`. The tool is an index into `tools`; unknown tools and durations are -1. */
export const AT_FIELD = 0
export const LINE_FIELD = 1
export const PART_FIELD = 2
export const KIND_FIELD = 3
export const TOOL_FIELD = 4
export const DURATION_FIELD = 5
/** An index into `shapes`; -1 minus an index into `locatorTexts` if the locator is not split. */
const SHAPE_FIELD = 6
/** The end of the row's numbers in `locatorNumbers`. They begin where those of the row before end. */
const NUMBERS_END_FIELD = 7
const FIELDS_PER_ROW = 8

/** Fields of a text in `spans`. */
const SPAN_ROW = 0
const SPAN_SCOPE = 1
/** The end of the text in `texts`, twice, and one more if it is UTF-16. Other texts are ASCII. */
const SPAN_END = 2
const SPAN_LENGTH = 3

type Float64s = Float64Array<ArrayBuffer>

export interface RowBatch {
  readonly count: number
  readonly numbers: Float64s
  readonly tools: readonly string[]
  /** Of locators. */
  readonly shapes: readonly string[]
  readonly locatorTexts: readonly string[]
  /** Of all locators, as `packNumbers` writes them. */
  readonly locatorNumbers: Uint8Array<ArrayBuffer>
  /** The row and scope of each text, in row order. Every row has one; rows without text have an empty one. */
  readonly spans: Float64s
  /** All texts, one after another. Empty once they are in a segment. */
  readonly texts: Uint8Array<ArrayBuffer>
  /** The number of the first text in its segment. The others follow it. */
  readonly firstDocument: number
  readonly touched: readonly TouchedFilesOfRow[]
  /** Unsearchable rows, which are not among the others. */
  readonly aside: readonly UnsearchableBatch[]
}

interface TouchedFilesOfRow {
  readonly row: number
  readonly files: readonly FileTouch[]
}

const rowBuffers = ({ numbers, spans, locatorNumbers }: RowBatch): readonly ArrayBuffer[] => [
  numbers.buffer,
  spans.buffer,
  locatorNumbers.buffer,
]

export const rowBatchBuffers = (rows: RowBatch): readonly ArrayBuffer[] => [...rowBuffers(rows), rows.texts.buffer]

/** Posting to a closed port discards the message, but still detaches the buffers transferred with it. */
const closedPort = new MessageChannel().port1
closedPort.close()

const free = (buffers: readonly ArrayBuffer[]): void => closedPort.postMessage(null, [...buffers])

/**
 * Frees the memory immediately. The garbage collector would be late: it sees only a few small objects. The batch is
 * empty afterwards.
 */
export function releaseRowBatch(rows: RowBatch): void {
  free(rowBuffers(rows))
}

const NO_TEXTS = new Uint8Array(0)

/** Adds the texts to a segment and frees them. @returns the batch without texts, whose numbers refer to the segment */
export function moveTexts(rows: RowBatch, terms: TermBuilder): RowBatch {
  const { spans } = rows
  const texts = Buffer.from(rows.texts.buffer)
  const firstDocument = terms.documents
  let start = 0
  for (let at = SPAN_END; at < spans.length; at += SPAN_LENGTH) {
    const code = spans[at] ?? 0
    const end = Math.floor(code / 2)
    terms.add(code % 2 === 1 ? texts.toString('utf16le', start, end) : texts.subarray(start, end))
    start = end
  }
  free([rows.texts.buffer])
  return { ...rows, texts: NO_TEXTS, firstDocument }
}

/** One field of one row. */
export const rowField = ({ numbers }: RowBatch, row: number, field: number): number =>
  numbers[row * FIELDS_PER_ROW + field] ?? 0

/** The locator of a row: a complete text, or its numbers and an index into `shapes`. */
export function rowLocator(
  rows: RowBatch,
  row: number,
): string | { readonly shape: number; readonly numbers: Uint8Array } {
  const shape = rowField(rows, row, SHAPE_FIELD)
  if (shape < 0) return rows.locatorTexts[-1 - shape] ?? ''
  const start = row === 0 ? 0 : rowField(rows, row - 1, NUMBERS_END_FIELD)
  return { shape, numbers: rows.locatorNumbers.subarray(start, rowField(rows, row, NUMBERS_END_FIELD)) }
}

/** One field of a message in the text index. */
export interface TextDocument {
  /** Its number in the segment. */
  readonly document: number
  /** Index into `TEXT_SCOPES`, or `NO_SCOPE`. */
  readonly scope: number
}

export function documentsByRow({
  count,
  spans,
  firstDocument,
}: RowBatch): readonly (readonly TextDocument[] | undefined)[] {
  const found: (TextDocument[] | undefined)[] = new Array(count).fill(undefined)
  for (let at = 0, document = firstDocument; at < spans.length; at += SPAN_LENGTH, document++) {
    const row = spans[at + SPAN_ROW] ?? 0
    const one = { document, scope: spans[at + SPAN_SCOPE] ?? 0 }
    const before = found[row]
    if (before) before.push(one)
    else found[row] = [one]
  }
  return found
}

const SCOPE_NUMBERS: ReadonlyMap<TextScope, number> = new Map(TEXT_SCOPES.map((scope, at) => [scope, at]))

export class RowBatchWriter {
  #numbers = new NumberList()
  #spans = new NumberList()
  #locators: (SplitLocator | string)[] = []
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
    this.#locators.push(packLocator(locator, context))
    const { values } = this.#numbers.reserve(FIELDS_PER_ROW)
    let next = this.#numbers.used
    values[next++] = at
    values[next++] = context.line
    values[next++] = part
    values[next++] = kind
    values[next++] = tool === undefined ? -1 : this.#toolNumber(tool)
    values[next++] = duration ?? -1
    this.#numbers.used = next + 2
    return this.#count++
  }

  get(row: number, field: number): number {
    return this.#numbers.values[row * FIELDS_PER_ROW + field] ?? 0
  }

  mark(row: number, flag: number): void {
    this.#numbers.values[row * FIELDS_PER_ROW + KIND_FIELD] = this.get(row, KIND_FIELD) | flag
  }

  /** Texts must be added in row order, and `take` must follow before another writer is used. */
  addText(row: number, scope: TextScope, text: string): void {
    this.#addDocument(row, SCOPE_NUMBERS.get(scope) ?? 0, text)
  }

  /** Lets filters find a row that words do not find. */
  addWithoutText(row: number): void {
    this.#addDocument(row, NO_SCOPE, '')
  }

  #addDocument(row: number, scope: number, text: string): void {
    const isAscii = isAsciiText(text)
    textBytes.reserve(text.length * 2)
    textBytes.used += textBytes.buffer.write(text, textBytes.used, isAscii ? 'latin1' : 'utf16le')
    const { values } = this.#spans.reserve(SPAN_LENGTH)
    const next = this.#spans.used
    values[next + SPAN_ROW] = row
    values[next + SPAN_SCOPE] = scope
    values[next + SPAN_END] = textBytes.used * 2 + (isAscii ? 0 : 1)
    this.#spans.used += SPAN_LENGTH
  }

  touch(row: number, files: readonly FileTouch[]): void {
    this.#touched.push({ row, files })
  }

  /** Returns all rows added since the last call. */
  take(): RowBatch {
    const unsearchable = this.#moveUnsearchable()
    const rows = {
      ...this.#packLocators(),
      aside: unsearchable,
      count: this.#count,
      numbers: this.#numbers.take(),
      tools: this.#tools,
      firstDocument: 0,
      texts: textBytes.take(),
      spans: this.#spans.take(),
      touched: this.#touched,
    }
    this.#count = 0
    this.#locators = []
    this.#tools = []
    this.#touched = []
    return rows
  }

  #packLocators(): Pick<RowBatch, 'shapes' | 'locatorTexts' | 'locatorNumbers'> {
    const shapes = new Map<string, number>()
    const locatorTexts: string[] = []
    const { values } = this.#numbers
    this.#locators.forEach((locator, row) => {
      let shape: number | undefined
      if (typeof locator === 'string') shape = -locatorTexts.push(locator)
      else {
        shape = shapes.get(locator.shape) ?? shapes.size
        shapes.set(locator.shape, shape)
        packNumbers(locator.numbers, locatorBytes)
      }
      values[row * FIELDS_PER_ROW + SHAPE_FIELD] = shape
      values[row * FIELDS_PER_ROW + NUMBERS_END_FIELD] = locatorBytes.used
    })
    return { shapes: [...shapes.keys()], locatorTexts, locatorNumbers: locatorBytes.take() }
  }

  /** Takes the unsearchable rows out of the arrays and closes the gaps. */
  #moveUnsearchable(): readonly UnsearchableBatch[] {
    const unsearchable: PackableRow[] = []
    const { values } = this.#numbers
    const locators: (SplitLocator | string)[] = []
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

const locatorBytes = new ByteBuffer()
const textBytes = new ByteBuffer()

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
