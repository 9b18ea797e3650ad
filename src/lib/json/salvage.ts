/** Finds whole JSON values in text that is not one JSON document: glued records, a file cut short. */

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
    const end = findValueEnd(text, open)
    const value = end === undefined ? undefined : tryParse(text.slice(open, end))
    if (value !== undefined && end !== undefined) {
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
    const end = findValueEnd(text, at)
    const value = end === undefined ? undefined : tryParse(text.slice(at, end))
    if (end === undefined || value === undefined) return { values, hasDamage: true }
    values.push(value)
    at = end
  }
}

/** Where the object or array that begins at `open` ends, or nothing when it does not. */
function findValueEnd(text: string, open: number): number | undefined {
  let depth = 0
  for (let at = open; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = findStringEnd(text, at)
      if (at < 0) return undefined
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth++
    else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      depth--
      if (depth <= 0) return at + 1
    } else if (depth === 0) return undefined
  }
  return undefined
}

function findStringEnd(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++
    if (slashes % 2 === 0) return at
  }
  return -1
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const QUOTE = 34
const BACKSLASH = 92
const OPEN_ARRAY = 91
const CLOSE_ARRAY = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125
