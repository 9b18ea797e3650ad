/**
 * Takes out of a row what is long and says little, before it is parsed: half of a recent row are the pauses between the
 * pieces of its answers, and every tool's arguments stand there twice.
 */
import { findValueEnd } from '../../../lib/json/ranges.ts'

/**
 * The same JSON with images as base64 instead of lists of numbers, `chunks` with the number of elements instead of
 * `time_between_chunks`, and without `orig_args` that repeat `args`.
 */
export function stripBulk(json: Buffer): Buffer {
  const cuts = [
    ...findCuts(json, CHUNK_TIMES_KEY, chunkTimesCut),
    ...findCuts(json, IMAGE_BYTES_KEY, imageCut),
    ...findCuts(json, ORIGINAL_ARGS_KEY, repeatedArgsCut),
  ]
  if (cuts.length === 0) return json
  cuts.sort((a, b) => a.start - b.start)
  const pieces: Buffer[] = []
  let done = 0
  for (const { start, end, replacement } of cuts) {
    // Inside a stretch that is gone already.
    if (start < done) continue
    pieces.push(json.subarray(done, start), replacement)
    done = end
  }
  return Buffer.concat([...pieces, json.subarray(done)])
}

interface BulkCut {
  readonly start: number
  readonly end: number
  readonly replacement: Buffer
}

/** A key in its quotes, searched for by its end, which begins with a letter that is seldom: that is several times faster. */
interface Key {
  readonly start: Buffer
  readonly end: Buffer
}

const keyOf = (start: string, end: string): Key => ({ start: Buffer.from(`"${start}`), end: Buffer.from(`${end}"`) })

const CHUNK_TIMES_KEY = keyOf('time_', 'between_chunks')
const IMAGE_BYTES_KEY = keyOf('', 'Bytes')
const ORIGINAL_ARGS_KEY = keyOf('orig', '_args')
const ARGS_KEY = Buffer.from('"args"')
const COLON = 58
const OPEN_LIST = 91
const CLOSE_LIST = 93
const COMMA = 44
const BACKSLASH = 92
const EMPTY_BUFFER = Buffer.alloc(0)

/** Inside a text the quotes would be escaped, so a key with bare quotes is one. */
function findCuts(
  json: Buffer,
  { start, end }: Key,
  cut: (json: Buffer, quote: number, value: number) => BulkCut | undefined,
): readonly BulkCut[] {
  const cuts: BulkCut[] = []
  for (let at = json.indexOf(end); at >= 0; at = json.indexOf(end, at + end.length)) {
    const quote = at - start.length
    if (quote < 0 || json[quote - 1] === BACKSLASH || start.compare(json, quote, at) !== 0) continue
    const colon = skipBlank(json, at + end.length)
    if (json[colon] !== COLON) continue
    const one = cut(json, quote, skipBlank(json, colon + 1))
    if (!one) continue
    cuts.push(one)
    at = Math.max(at, one.end - end.length)
  }
  return cuts
}

/** A list of small objects without any text. */
function chunkTimesCut(json: Buffer, quote: number, list: number): BulkCut | undefined {
  const end = json[list] === OPEN_LIST ? json.indexOf(CLOSE_LIST, list) : -1
  if (end < 0) return undefined
  let count = 0
  for (let at = list; at < end; at++) if (json[at] === OPEN_OBJECT) count++
  return { start: quote, end: end + 1, replacement: Buffer.from(`"chunks":${count}`) }
}

const OPEN_OBJECT = 123

function imageCut(json: Buffer, _: number, list: number): BulkCut | undefined {
  const end = json[list] === OPEN_LIST ? json.indexOf(CLOSE_LIST, list) : -1
  const image = end < 0 ? undefined : parseByteList(json, list + 1, end)
  return image && { start: list, end: end + 1, replacement: Buffer.from(`"${image.toString('base64')}"`, 'latin1') }
}

/** They stand right behind the arguments; equal bytes are equal arguments. */
function repeatedArgsCut(json: Buffer, quote: number, value: number): BulkCut | undefined {
  const end = findValueEnd(json, value)
  const before = skipBlankBack(json, quote - 1)
  if (end < 0 || json[before] !== COMMA) return undefined
  const last = skipBlankBack(json, before - 1) + 1
  const first = last - (end - value)
  const colon = skipBlankBack(json, first - 1)
  const key = skipBlankBack(json, colon - 1) + 1
  const isRepeated =
    json[colon] === COLON &&
    json.subarray(key - ARGS_KEY.length, key).equals(ARGS_KEY) &&
    json.compare(json, value, end, first, last) === 0
  return isRepeated ? { start: before, end, replacement: EMPTY_BUFFER } : undefined
}

function skipBlank(json: Buffer, from: number): number {
  let at = from
  while ((json[at] ?? 99) <= 32) at++
  return at
}

function skipBlankBack(json: Buffer, from: number): number {
  let at = from
  while ((json[at] ?? 99) <= 32) at--
  return at
}

const NO_VALUE = -1

function parseByteList(json: Buffer, start: number, end: number): Buffer | undefined {
  // The shortest number with its comma takes two letters.
  const image = Buffer.allocUnsafe(Math.ceil((end - start + 1) / 2))
  let count = 0
  let value = NO_VALUE
  for (let at = start; at <= end; at++) {
    const code = at === end ? COMMA : (json[at] as number)
    if (code >= 48 && code <= 57) value = (value === NO_VALUE ? 0 : value * 10) + code - 48
    else if (code === COMMA) {
      if (value === NO_VALUE && count === 0 && at === end) break
      if (value < 0 || value > 255) return undefined
      image[count++] = value
      value = NO_VALUE
    } else if (code > 32) return undefined
  }
  return image.subarray(0, count)
}
