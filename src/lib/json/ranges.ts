/** Where the values of a JSON text lie in its bytes, found without parsing them. Trusts no bracket: a text cut short ends early. */

export interface Range {
  readonly start: number
  /** The byte after the last. */
  readonly end: number
}

export interface Member extends Range {
  readonly key: string
}

export interface Walk<T> {
  readonly found: readonly T[]
  /** The closing bracket is there. */
  readonly whole: boolean
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
export function membersAt(bytes: Buffer, at: number): Walk<Member> {
  const found: Member[] = []
  let place = at + 1
  if (bytes[at] !== OPEN_OBJECT) return { found, whole: false, end: at }
  for (;;) {
    place = skipTo(bytes, place, COMMA)
    if (bytes[place] === CLOSE_OBJECT) return { found, whole: true, end: place + 1 }
    if (bytes[place] !== QUOTE) return { found, whole: false, end: place }
    const afterKey = endOfString(bytes, place + 1)
    if (afterKey < 0) return { found, whole: false, end: place }
    const key = keyText(bytes, place, afterKey)
    const start = skipTo(bytes, afterKey, COLON)
    const end = endOfValue(bytes, start)
    if (end <= start) return { found, whole: false, end: place }
    found.push({ key, start, end })
    place = end
  }
}

/** The elements of the list that begins at `at`. */
export function elementsAt(bytes: Buffer, at: number): Walk<Range> {
  const found: Range[] = []
  let place = at + 1
  if (bytes[at] !== OPEN_LIST) return { found, whole: false, end: at }
  for (;;) {
    const start = skipTo(bytes, place, COMMA)
    if (bytes[start] === CLOSE_LIST) return { found, whole: true, end: start + 1 }
    const end = endOfValue(bytes, start)
    if (end <= start) return { found, whole: false, end: place }
    found.push({ start, end })
    place = end
  }
}

/** The byte after the value that begins at `at`, or -1 when the text ends before it. */
export function endOfValue(bytes: Buffer, at: number): number {
  const { length } = bytes
  let depth = 0
  let place = at
  while (place < length) {
    const code = bytes[place] as number
    if (code === QUOTE) {
      place = endOfString(bytes, place + 1)
      if (place < 0 || depth === 0) return place
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      depth++
      place++
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      // A number or word that ends with its container.
      if (depth === 0) return place
      place++
      if (--depth === 0) return place
    } else if (depth === 0 && (code === COMMA || code <= 32)) {
      return place
    } else place++
  }
  return -1
}

/** From the first byte inside to the one after the closing quote. Keys are short; in long texts the search is native. */
function endOfString(bytes: Buffer, start: number): number {
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

function skipTo(bytes: Buffer, from: number, mark: number): number {
  let at = from
  while (at < bytes.length && ((bytes[at] as number) <= 32 || bytes[at] === mark)) at++
  return at
}

function keyText(bytes: Buffer, start: number, end: number): string {
  const literal = bytes.toString('utf8', start, end)
  if (!literal.includes('\\')) return literal.slice(1, -1)
  try {
    return String(JSON.parse(literal))
  } catch {
    return literal.slice(1, -1)
  }
}
