/**
 * Finds strings, values, members and elements in JSON text and UTF-8 bytes without parsing. Safe for malformed input.
 */

// Not exported, and repeated in other hot files: V8 reads an exported constant from its module at every use.
const QUOTE = 34
const COMMA = 44
const COLON = 58
const BACKSLASH = 92
const OPEN_ARRAY = 91
const CLOSE_ARRAY = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

export const isOpening = (code: number): boolean => code === OPEN_OBJECT || code === OPEN_ARRAY
export const isClosing = (code: number): boolean => code === CLOSE_OBJECT || code === CLOSE_ARRAY

/**
 * Units read one by one before `indexOf` is worth its fixed cost. Keys are short, and code is full of escaped quotes.
 */
const NEAR_UNITS = 16

/** Returns the index after the closing quote, or -1. @param start the first unit inside the string */
export function findStringEnd(text: string, start: number): number {
  for (let at = start; ; ) {
    for (const near = at + NEAR_UNITS; at < near; ) {
      const code = text.charCodeAt(at)
      if (code === QUOTE) return at + 1
      at += code === BACKSLASH ? 2 : 1
    }
    const quote = text.indexOf('"', at)
    if (quote < 0) return -1
    let slash = quote - 1
    while (text.charCodeAt(slash) === BACKSLASH) slash--
    if ((quote - slash) % 2 === 1) return quote + 1
    at = quote + 1
  }
}

/** {@link findStringEnd} for bytes. */
export function findStringEndInBytes(bytes: Buffer, start: number): number {
  const { length } = bytes
  let at = start
  for (;;) {
    const near = Math.min(at + NEAR_UNITS, length)
    while (at < near) {
      const code = bytes[at]
      if (code === QUOTE) return at + 1
      at += code === BACKSLASH ? 2 : 1
    }
    if (at >= length) return -1
    const quote = bytes.indexOf(QUOTE, at)
    if (quote < 0) return -1
    if (!isEscaped(bytes, quote, start)) return quote + 1
    at = quote + 1
  }
}

/**
 * Whether an odd number of backslashes precedes the index. @param start the first byte of the string, as far as known
 */
export function isEscaped(bytes: Buffer, index: number, start: number): boolean {
  let slash = index - 1
  while (slash >= start && bytes[slash] === BACKSLASH) slash--
  return (index - slash) % 2 === 0
}

/** Decodes a string literal with quotes. A damaged one is returned without its quotes. */
export function unquote(literal: string): string {
  if (!literal.includes('\\')) return literal.slice(1, -1)
  try {
    return String(JSON.parse(literal))
  } catch {
    return literal.slice(1, -1)
  }
}

/** Returns the index after the object or array that begins at `open`, or -1. */
export function findContainerEnd(text: string, open: number): number {
  let depth = 0
  for (let at = open; at < text.length; ) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = findStringEnd(text, at + 1)
      if (at < 0) return -1
      continue
    }
    at++
    if (isOpening(code)) depth++
    else if (isClosing(code) && --depth <= 0) return at
  }
  return -1
}

/** Returns the index after the value that begins at `at`, or -1 if the text ends inside it. */
export function findValueEnd(bytes: Buffer, at: number): number {
  const { length } = bytes
  let depth = 0
  let position = at
  while (position < length) {
    const code = bytes[position] as number
    if (code === QUOTE) {
      position = findStringEndInBytes(bytes, position + 1)
      if (position < 0 || depth === 0) return position
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      depth++
      position++
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      // A number or word also ends at the end of its container.
      if (depth === 0) return position
      position++
      if (--depth === 0) return position
    } else if (depth === 0 && (code === COMMA || code <= 32)) {
      return position
    } else position++
  }
  return -1
}

export interface ByteRange {
  readonly start: number
  /** Exclusive. */
  readonly end: number
}

export interface MemberRange extends ByteRange {
  readonly key: string
}

export interface RangeWalk<T> {
  readonly ranges: readonly T[]
  /** Whether the closing bracket was found. */
  readonly isComplete: boolean
  /** Where the walk ended, exclusive. */
  readonly end: number
}

/** Members of the object that begins at `at`; for truncated text only the complete ones. */
export function findMemberRanges(bytes: Buffer, at: number): RangeWalk<MemberRange> {
  return walkContainer(bytes, at, OPEN_OBJECT, (start) => {
    const afterKey = bytes[start] === QUOTE ? findStringEndInBytes(bytes, start + 1) : -1
    if (afterKey < 0) return undefined
    const value = skipSpaceAnd(bytes, afterKey, COLON)
    return { key: unquote(bytes.toString('utf8', start, afterKey)), start: value, end: findValueEnd(bytes, value) }
  })
}

/** Elements of the array that begins at `at`. */
export function findElementRanges(bytes: Buffer, at: number): RangeWalk<ByteRange> {
  return walkContainer(bytes, at, OPEN_ARRAY, (start) => ({ start, end: findValueEnd(bytes, start) }))
}

function walkContainer<T extends ByteRange>(
  bytes: Buffer,
  at: number,
  open: number,
  read: (start: number) => T | undefined,
): RangeWalk<T> {
  const ranges: T[] = []
  if (bytes[at] !== open) return { ranges, isComplete: false, end: at }
  for (let position = at + 1; ; ) {
    const start = skipSpaceAnd(bytes, position, COMMA)
    // In ASCII, each closing bracket is the opening one plus two.
    if (bytes[start] === open + 2) return { ranges, isComplete: true, end: start + 1 }
    const range = read(start)
    if (!range || range.end <= range.start) return { ranges, isComplete: false, end: start }
    ranges.push(range)
    position = range.end
  }
}

function skipSpaceAnd(bytes: Buffer, from: number, mark: number): number {
  let at = from
  while (at < bytes.length && ((bytes[at] as number) <= 32 || bytes[at] === mark)) at++
  return at
}
