/** Gets what is complete out of damaged JSON: records glued together, a text that was cut short. */
import { findContainerEnd, findStringEnd, isClosing, isOpening } from './scanner.ts'

export interface SalvagedValues {
  readonly values: readonly unknown[]
  /** Something that is no whole value lies between, before or after them. */
  readonly hasDamage: boolean
}

/** Objects that stand one after another, with or without damage between them. */
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
    // A record that was never finished, with a whole one behind it on the same line.
    const restart = ++failures < MAX_FAILURES ? findNextRecord(text, open + 1) : findLastRecord(text, open + 1)
    if (restart === undefined) return { values, hasDamage }
    at = restart
  }
  return { values, hasDamage: hasDamage || text.slice(at).trim() !== '' }
}

/** Each failure looks at all that follows: without an end, hostile nesting would take for ever. */
const MAX_FAILURES = 64

const RECORD_START = /\{"(?:timestamp|type|record_type|session_id|id)":/g

function findNextRecord(text: string, from: number): number | undefined {
  RECORD_START.lastIndex = from
  return RECORD_START.exec(text)?.index
}

/** The last try: where the last record with a time begins. */
function findLastRecord(text: string, from: number): number | undefined {
  const found = text.lastIndexOf('{"timestamp":')
  return found >= from ? found : undefined
}

/** The whole elements of the array that begins at `open`; the array itself may be cut short. */
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
  /** An array, or an object that the caller calls a list. */
  readonly list: boolean
  /** Where the last finished child ends. */
  safe: number
}

/** Keeps every finished element and member, however deep. For looking at a beginning, not for reading it. */
export function closeTruncatedJson(text: string): string | undefined {
  const open = findOpenContainers(text, () => false)
  return open && closeContainers(text, open, open.length - 1)
}

/**
 * Keeps only the finished children of the outermost list that is open at the end: none of them is half there.
 * @param isList whether the object under this key is a list as well
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

/** What is still open where the text ends; nothing when the text is no structure, or a whole one. */
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
