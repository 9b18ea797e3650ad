/**
 * Takes out of a row what is long and says little, before it is parsed: half of a recent row are the pauses between the
 * pieces of its answers, and every tool's arguments stand there twice.
 */
import { endOfValue } from '../../../lib/json/ranges.ts'

/**
 * The same JSON with images as base64 instead of lists of numbers, `chunks` with the number of elements instead of
 * `time_between_chunks`, and without `orig_args` that repeat `args`.
 */
export function slim(json: Buffer): Buffer {
  const cuts = [
    ...cutsAt(json, PAUSES, pausesCut),
    ...cutsAt(json, BYTES, imageCut),
    ...cutsAt(json, ORIGINAL, originalCut),
  ]
  if (cuts.length === 0) return json
  cuts.sort((a, b) => a.start - b.start)
  const pieces: Buffer[] = []
  let done = 0
  for (const { start, end, instead } of cuts) {
    // Inside a stretch that is gone already.
    if (start < done) continue
    pieces.push(json.subarray(done, start), instead)
    done = end
  }
  return Buffer.concat([...pieces, json.subarray(done)])
}

interface Cut {
  readonly start: number
  readonly end: number
  readonly instead: Buffer
}

/** A key in its quotes, searched for by its end, which begins with a letter that is seldom: that is several times faster. */
interface Key {
  readonly start: Buffer
  readonly end: Buffer
}

const keyOf = (start: string, end: string): Key => ({ start: Buffer.from(`"${start}`), end: Buffer.from(`${end}"`) })

const PAUSES = keyOf('time_', 'between_chunks')
const BYTES = keyOf('', 'Bytes')
const ORIGINAL = keyOf('orig', '_args')
const ARGUMENTS = Buffer.from('"args"')
const COLON = 58
const OPEN = 91
const CLOSE = 93
const COMMA = 44
const BACKSLASH = 92
const NOTHING = Buffer.alloc(0)

/** Inside a text the quotes would be escaped, so a key with bare quotes is one. */
function cutsAt(
  json: Buffer,
  { start, end }: Key,
  cut: (json: Buffer, quote: number, value: number) => Cut | undefined,
): readonly Cut[] {
  const cuts: Cut[] = []
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
function pausesCut(json: Buffer, quote: number, list: number): Cut | undefined {
  const end = json[list] === OPEN ? json.indexOf(CLOSE, list) : -1
  if (end < 0) return undefined
  let count = 0
  for (let at = list; at < end; at++) if (json[at] === OPEN_OBJECT) count++
  return { start: quote, end: end + 1, instead: Buffer.from(`"chunks":${count}`) }
}

const OPEN_OBJECT = 123

function imageCut(json: Buffer, _: number, list: number): Cut | undefined {
  const end = json[list] === OPEN ? json.indexOf(CLOSE, list) : -1
  const image = end < 0 ? undefined : numbersIn(json, list + 1, end)
  return image && { start: list, end: end + 1, instead: Buffer.from(`"${image.toString('base64')}"`, 'latin1') }
}

/** They stand right behind the arguments; equal bytes are equal arguments. */
function originalCut(json: Buffer, quote: number, value: number): Cut | undefined {
  const end = endOfValue(json, value)
  const before = lastLetter(json, quote - 1)
  if (end < 0 || json[before] !== COMMA) return undefined
  const last = lastLetter(json, before - 1) + 1
  const first = last - (end - value)
  const colon = lastLetter(json, first - 1)
  const key = lastLetter(json, colon - 1) + 1
  const isRepeated =
    json[colon] === COLON &&
    json.subarray(key - ARGUMENTS.length, key).equals(ARGUMENTS) &&
    json.compare(json, value, end, first, last) === 0
  return isRepeated ? { start: before, end, instead: NOTHING } : undefined
}

function skipBlank(json: Buffer, from: number): number {
  let at = from
  while ((json[at] ?? 99) <= 32) at++
  return at
}

function lastLetter(json: Buffer, from: number): number {
  let at = from
  while ((json[at] ?? 99) <= 32) at--
  return at
}

const NONE = -1

function numbersIn(json: Buffer, start: number, end: number): Buffer | undefined {
  // The shortest number with its comma takes two letters.
  const image = Buffer.allocUnsafe(Math.ceil((end - start + 1) / 2))
  let count = 0
  let value = NONE
  for (let at = start; at <= end; at++) {
    const code = at === end ? COMMA : (json[at] as number)
    if (code >= 48 && code <= 57) value = (value === NONE ? 0 : value * 10) + code - 48
    else if (code === COMMA) {
      if (value === NONE && count === 0 && at === end) break
      if (value < 0 || value > 255) return undefined
      image[count++] = value
      value = NONE
    } else if (code > 32) return undefined
  }
  return image.subarray(0, count)
}
