/** The rows of a chunk in a few large arrays, which threads transfer without copying. */
import { TEXT_SCOPES, type TextScope } from '../model/searchable-text.ts'
import type { FileTouch } from '../model/touched-files.ts'
import type { TermBuilder } from '../search/segments/term-builder.ts'
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
const SPAN_LENGTH = 2

type Float64s = Float64Array<ArrayBuffer>

export interface RowBatch {
  readonly count: number
  readonly numbers: Float64s
  readonly tools: readonly string[]
  readonly locators: readonly string[]
  /** The row and scope of each text, in row order. Rows without text are never found by words. */
  readonly spans: Float64s
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

export const rowBatchBuffers = ({ numbers, spans }: RowBatch): readonly ArrayBuffer[] => [numbers.buffer, spans.buffer]

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

/** One field of a message in the text index. */
export interface TextDocument {
  /** Its number in the segment. */
  readonly document: number
  /** Index into `TEXT_SCOPES`. */
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
  #locators: string[] = []
  #firstDocument: number | undefined
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

  /** Texts must be added in row order, and all texts until `take` to the same segment. */
  addText(row: number, scope: TextScope, text: string, terms: TermBuilder): void {
    const document = terms.add(text)
    this.#firstDocument ??= document
    const { values } = this.#spans.reserve(SPAN_LENGTH)
    const next = this.#spans.used
    values[next + SPAN_ROW] = row
    values[next + SPAN_SCOPE] = SCOPE_NUMBERS.get(scope) ?? 0
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
      firstDocument: this.#firstDocument ?? 0,
      spans: this.#spans.take(),
      touched: this.#touched,
    }
    this.#count = 0
    this.#firstDocument = undefined
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
