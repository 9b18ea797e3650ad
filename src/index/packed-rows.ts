/** Packs rows of messages column by column, because the values of a column resemble each other. */
import { ByteBuffer } from '../lib/byte-buffer.ts'
import { addNumber, NumberReader, signed, unsigned } from '../lib/packed-numbers.ts'
import { countNumbers, joinLocator, type SplitLocator, splitLocator } from './packed-locator.ts'
import { compressBytes, decompressBytes } from './row-encoding.ts'

export interface UnsearchableRow {
  readonly at: number
  readonly line: number
  readonly part: number
  readonly kind: number
  readonly tool: string | null
  readonly locator: string
}

/** What the columns refer to by number. */
interface PackedTexts {
  readonly count: number
  readonly tools: readonly string[]
  /** Of locators. */
  readonly shapes: readonly string[]
  /** Locators that are not split. */
  readonly locators: readonly string[]
}

const buffer = new ByteBuffer()

/** Differences of larger numbers are not exact. */
const MAX_NUMBER = 2 ** 50

/** A row whose locator may be split already. */
export type PackableRow = Omit<UnsearchableRow, 'locator'> & { readonly locator: string | SplitLocator }

export function packRows(rows: readonly PackableRow[]): Uint8Array {
  if (rows.some(({ at, line }) => Math.abs(at) > MAX_NUMBER || line > MAX_NUMBER)) return packAsText(rows)
  const tools = new Map<string, number>()
  const shapes = new Map<string, number>()
  const locators: string[] = []
  const numbersByShape: (readonly number[])[][] = []
  const locatorNumbers = rows.map(({ locator }) => {
    const split = typeof locator === 'string' ? splitLocator(locator) : locator
    if (!split) return locators.push(textOf(locator)) * 2 - 1
    const shape = numberOf(shapes, split.shape)
    const lists = numbersByShape[shape] ?? []
    numbersByShape[shape] = lists
    lists.push(split.numbers)
    return shape * 2
  })
  const toolNumbers = rows.map(({ tool }) => (tool === null ? 0 : numberOf(tools, tool) + 1))
  const texts: PackedTexts = { count: rows.length, tools: [...tools.keys()], shapes: [...shapes.keys()], locators }
  const head = Buffer.from(JSON.stringify(texts))
  addNumber(buffer, COLUMNS_START)
  addNumber(buffer, head.length)
  buffer.add(head)
  addDifferences(rows.map(({ at }) => at))
  addDifferences(rows.map(({ line }) => line))
  for (const { part } of rows) addNumber(buffer, part)
  for (const { kind } of rows) addNumber(buffer, kind)
  for (const tool of toolNumbers) addNumber(buffer, tool)
  for (const locator of locatorNumbers) addNumber(buffer, locator)
  for (const lists of numbersByShape)
    for (let place = 0; place < (lists[0]?.length ?? 0); place++) addDifferences(lists.map((list) => list[place] ?? 0))
  return compressBytes(buffer.take())
}

export function unpackRows(packed: Uint8Array): readonly UnsearchableRow[] {
  const bytes = decompressBytes(packed)
  if (bytes[0] === TEXT_START) return unpackText(bytes)
  const start = new NumberReader(bytes, 1)
  const headLength = start.next()
  const { count, tools, shapes, locators } = JSON.parse(
    bytes.toString('utf8', start.at, start.at + headLength),
  ) as PackedTexts
  const reader = new NumberReader(bytes, start.at + headLength)
  const plain = (): number[] => Array.from({ length: count }, () => reader.next())
  const times = readDifferences(reader, count)
  const lines = readDifferences(reader, count)
  const parts = plain()
  const kinds = plain()
  const toolNumbers = plain()
  const locatorNumbers = plain()
  const numbersByShape = shapes.map((shape, number) => {
    const uses = locatorNumbers.filter((one) => one === number * 2).length
    return Array.from({ length: countNumbers(shape) }, () => readDifferences(reader, uses))
  })
  const used = shapes.map(() => 0)
  return locatorNumbers.map((number, at) => {
    const shape = number >> 1
    const place = used[shape] ?? 0
    if (number % 2 === 0) used[shape] = place + 1
    return {
      at: times[at] ?? 0,
      line: lines[at] ?? 0,
      part: parts[at] ?? 0,
      kind: kinds[at] ?? 0,
      tool: tools[(toolNumbers[at] ?? 0) - 1] ?? null,
      locator:
        number % 2 === 1
          ? (locators[shape] ?? '')
          : joinLocator({
              shape: shapes[shape] ?? '',
              numbers: (numbersByShape[shape] ?? []).map((list) => list[place] ?? 0),
            }),
    }
  })
}

/** The first byte, by which the two formats differ. */
const COLUMNS_START = 0
const TEXT_START = '['.charCodeAt(0)

type RowAsText = readonly [at: number, line: number, part: number, kind: number, tool: string | null, locator: string]

const textOf = (locator: string | SplitLocator): string =>
  typeof locator === 'string' ? locator : joinLocator(locator)

const packAsText = (rows: readonly PackableRow[]): Uint8Array =>
  compressBytes(
    Buffer.from(
      JSON.stringify(
        rows.map(({ at, line, part, kind, tool, locator }) => [at, line, part, kind, tool, textOf(locator)]),
      ),
    ),
  )

const unpackText = (bytes: Buffer): readonly UnsearchableRow[] =>
  (JSON.parse(bytes.toString('utf8')) as RowAsText[]).map(([at, line, part, kind, tool, locator]) => ({
    at,
    line,
    part,
    kind,
    tool,
    locator,
  }))

function numberOf(texts: Map<string, number>, text: string): number {
  const known = texts.get(text)
  if (known !== undefined) return known
  texts.set(text, texts.size)
  return texts.size - 1
}

function addDifferences(values: readonly number[]): void {
  let before = 0
  for (const value of values) {
    addNumber(buffer, signed(value - before))
    before = value
  }
}

function readDifferences(reader: NumberReader, count: number): readonly number[] {
  let value = 0
  return Array.from({ length: count }, () => {
    value += unsigned(reader.next())
    return value
  })
}
