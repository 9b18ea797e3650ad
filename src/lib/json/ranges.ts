/** Where the values of a JSON text lie in its bytes, found without parsing them. Trusts no bracket: a text cut short ends early. */

export interface ByteRange {
  readonly start: number
  /** The byte after the last. */
  readonly end: number
}

export interface MemberRange extends ByteRange {
  readonly key: string
}

export interface RangeWalk<T> {
  readonly ranges: readonly T[]
  /** The closing bracket is there. */
  readonly isComplete: boolean
  /** The byte after what was walked. */
  readonly end: number
}

const QUOTE = 34
const COMMA = 44
const COLON = 58
const BACKSLASH = 92
const OPEN_LIST = 91
const CLOSE_LIST = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

/** The members of the object that begins at `at`. Of a text cut short only those that are whole. */
export function findMemberRanges(bytes: Buffer, at: number): RangeWalk<MemberRange> {
  const ranges: MemberRange[] = []
  let position = at + 1
  if (bytes[at] !== OPEN_OBJECT) return { ranges, isComplete: false, end: at }
  for (;;) {
    position = skipSpaceAnd(bytes, position, COMMA)
    if (bytes[position] === CLOSE_OBJECT) return { ranges, isComplete: true, end: position + 1 }
    if (bytes[position] !== QUOTE) return { ranges, isComplete: false, end: position }
    const afterKey = findStringEnd(bytes, position + 1)
    if (afterKey < 0) return { ranges, isComplete: false, end: position }
    const key = decodeKey(bytes, position, afterKey)
    const start = skipSpaceAnd(bytes, afterKey, COLON)
    const end = findValueEnd(bytes, start)
    if (end <= start) return { ranges, isComplete: false, end: position }
    ranges.push({ key, start, end })
    position = end
  }
}

/** The elements of the list that begins at `at`. */
export function findElementRanges(bytes: Buffer, at: number): RangeWalk<ByteRange> {
  const ranges: ByteRange[] = []
  let position = at + 1
  if (bytes[at] !== OPEN_LIST) return { ranges, isComplete: false, end: at }
  for (;;) {
    const start = skipSpaceAnd(bytes, position, COMMA)
    if (bytes[start] === CLOSE_LIST) return { ranges, isComplete: true, end: start + 1 }
    const end = findValueEnd(bytes, start)
    if (end <= start) return { ranges, isComplete: false, end: position }
    ranges.push({ start, end })
    position = end
  }
}

/** The byte after the value that begins at `at`, or -1 when the text ends before it. */
export function findValueEnd(bytes: Buffer, at: number): number {
  const { length } = bytes
  let depth = 0
  let position = at
  while (position < length) {
    const code = bytes[position] as number
    if (code === QUOTE) {
      position = findStringEnd(bytes, position + 1)
      if (position < 0 || depth === 0) return position
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      depth++
      position++
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      // A number or word that ends with its container.
      if (depth === 0) return position
      position++
      if (--depth === 0) return position
    } else if (depth === 0 && (code === COMMA || code <= 32)) {
      return position
    } else position++
  }
  return -1
}

/** From the first byte inside to the one after the closing quote. Keys are short; in long texts the search is native. */
function findStringEnd(bytes: Buffer, start: number): number {
  const { length } = bytes
  let at = start
  for (;;) {
    const near = Math.min(at + 64, length)
    while (at < near) {
      const code = bytes[at]
      if (code === QUOTE) return at + 1
      at += code === BACKSLASH ? 2 : 1
    }
    if (at >= length) return -1
    const quote = bytes.indexOf(QUOTE, at)
    if (quote < 0) return -1
    if (!isEscaped(bytes, quote)) return quote + 1
    at = quote + 1
  }
}

function isEscaped(bytes: Buffer, quote: number): boolean {
  let at = quote - 1
  while (bytes[at] === BACKSLASH) at--
  return (quote - at) % 2 === 0
}

function skipSpaceAnd(bytes: Buffer, from: number, mark: number): number {
  let at = from
  while (at < bytes.length && ((bytes[at] as number) <= 32 || bytes[at] === mark)) at++
  return at
}

function decodeKey(bytes: Buffer, start: number, end: number): string {
  const literal = bytes.toString('utf8', start, end)
  if (!literal.includes('\\')) return literal.slice(1, -1)
  try {
    return String(JSON.parse(literal))
  } catch {
    return literal.slice(1, -1)
  }
}
