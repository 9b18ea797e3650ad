/** Makes JSON that was cut short whole again: leaves out what is unfinished and closes what is open. */

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
      const end = endOfString(text, at)
      if (end < 0) break
      if (!isValue) key = text.slice(at + 1, end)
      else if (top) top.safe = end + 1
      at = end
    } else if (code === OPEN_ARRAY) {
      open.push({ close: ']', list: true, safe: at + 1 })
      isValue = true
    } else if (code === OPEN_OBJECT) {
      open.push({ close: '}', list: isValue && isList(key), safe: at + 1 })
      isValue = false
    } else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) {
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

function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++
    if (slashes % 2 === 0) return at
  }
  return -1
}

const QUOTE = 34
const COMMA = 44
const COLON = 58
const OPEN_ARRAY = 91
const BACKSLASH = 92
const CLOSE_ARRAY = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125
