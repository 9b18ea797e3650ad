/** Recovers complete values from damaged JSON: concatenated records, truncated text. */
import { findContainerEnd, findStringEnd, isClosing, isOpening } from './scanner.ts'

export interface SalvagedValues {
  readonly values: readonly unknown[]
  /** There is other text between, before or after the values. */
  readonly hasDamage: boolean
}

/** Finds consecutive objects, with or without damage between them. */
export function salvageObjects(text: string): SalvagedValues {
  const values: unknown[] = []
  let hasDamage = false
  let failures = 0
  let at = 0
  while (at < text.length) {
    const open = text.indexOf('{', at)
    if (open < 0) break
    if (text.slice(at, open).trim() !== '') hasDamage = true
    const end = findContainerEnd(text, open)
    const value = end < 0 ? undefined : tryParse(text.slice(open, end))
    if (value !== undefined) {
      values.push(value)
      at = end
      continue
    }
    hasDamage = true
    // An unfinished record followed by a complete one on the same line.
    const restart = ++failures < MAX_FAILURES ? findNextRecord(text, open + 1) : findLastRecord(text, open + 1)
    if (restart === undefined) return { values, hasDamage }
    at = restart
  }
  return { values, hasDamage: hasDamage || text.slice(at).trim() !== '' }
}

/** Each failure scans the rest of the text, so hostile nesting would take quadratic time without a limit. */
const MAX_FAILURES = 64

const RECORD_START = /\{"(?:timestamp|type|record_type|session_id|id)":/g

function findNextRecord(text: string, from: number): number | undefined {
  RECORD_START.lastIndex = from
  return RECORD_START.exec(text)?.index
}

/** As a last resort, finds the start of the last record that has a time. */
function findLastRecord(text: string, from: number): number | undefined {
  const found = text.lastIndexOf('{"timestamp":')
  return found >= from ? found : undefined
}

/** The complete elements of the array that begins at `open`, which may be truncated. */
export function salvageElements(text: string, open: number): SalvagedValues {
  const values: unknown[] = []
  let at = open + 1
  for (;;) {
    while (at < text.length && /[\s,]/.test(text.charAt(at))) at++
    if (text.charAt(at) === ']') return { values, hasDamage: false }
    const end = isOpening(text.charCodeAt(at)) ? findContainerEnd(text, at) : -1
    const value = end < 0 ? undefined : tryParse(text.slice(at, end))
    if (value === undefined) return { values, hasDamage: true }
    values.push(value)
    at = end
  }
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

interface OpenContainer {
  readonly close: ']' | '}'
  /** An array, or an object for which `isList` is true. */
  readonly list: boolean
  /** End of the last complete child. */
  safe: number
}

/**
 * Closes truncated JSON and keeps every complete element and member at any depth. Only for previews: open containers
 * look complete.
 */
export function closeTruncatedJson(text: string): string | undefined {
  const open = findOpenContainers(text, () => false)
  return open && closeContainers(text, open, open.length - 1)
}

/**
 * Closes truncated JSON and keeps only complete children of the outermost open list.
 * @param isList whether the object under this key also counts as a list
 */
export function closeTruncatedList(text: string, isList: (key: string) => boolean = () => false): string | undefined {
  const open = findOpenContainers(text, isList)
  const at = open?.findIndex(({ list }) => list) ?? -1
  return open && at >= 0 ? closeContainers(text, open, at) : undefined
}

function closeContainers(text: string, open: readonly OpenContainer[], at: number): string | undefined {
  const last = open[at]
  if (!last) return undefined
  let closed = text.slice(0, last.safe)
  for (let level = at; level >= 0; level--) closed += open[level]?.close ?? ''
  return closed
}

/** Containers still open at the end of the text. Undefined if the text is not a structure, or is complete. */
function findOpenContainers(text: string, isList: (key: string) => boolean): readonly OpenContainer[] | undefined {
  const open: OpenContainer[] = []
  let key = ''
  let isValue = true
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const top = open.at(-1)
    if (code === QUOTE) {
      const end = findStringEnd(text, at + 1)
      if (end < 0) break
      if (!isValue) key = text.slice(at + 1, end - 1)
      else if (top) top.safe = end
      at = end - 1
    } else if (isOpening(code)) {
      const isArray = code === OPEN_ARRAY
      open.push({ close: isArray ? ']' : '}', list: isArray || (isValue && isList(key)), safe: at + 1 })
      isValue = isArray
    } else if (isClosing(code)) {
      open.pop()
      const outer = open.at(-1)
      if (!outer) return undefined
      outer.safe = at + 1
    } else if (code === COMMA) {
      if (top) top.safe = at
      isValue = top?.close === ']'
    } else if (code === COLON) isValue = true
  }
  return open.length > 0 ? open : undefined
}

const COLON = 58
const COMMA = 44
const OPEN_ARRAY = 91
const QUOTE = 34
