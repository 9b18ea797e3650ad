/** How a file's records lie in it, told by its beginning. */
import { closeTruncatedJson } from '../../lib/json/salvage.ts'
import { parseStructure } from '../../lib/unknown-values.ts'
import { detectRecordShape, isForeignShape, isMessageLike } from './record-shape.ts'

export type FileLayout =
  /** One record on each line. */
  | 'lines'
  /** The elements of one JSON array. */
  | 'list'
  /** The file is one record: an object over several lines, or a list of messages. */
  | 'one'

/** @param head the file's beginning, cut anywhere, without byte order mark */
export function detectFileLayout(head: string): FileLayout {
  const first = /\S/.exec(head)
  if (!first || (first[0] !== '{' && first[0] !== '[')) return 'lines'
  const line = firstLineState(head, first.index)
  if (line === 'damaged' || (line === 'open' && hasRecordLine(head, first.index))) return 'lines'
  if (first[0] === '{') return line === 'open' ? 'one' : 'lines'
  const end = line === 'closed' ? head.indexOf('\n', first.index) : -1
  const isBare = beginsWithMessage(head.slice(first.index, end < 0 ? undefined : end))
  if (isBare === undefined) return 'list'
  if (isBare) return line === 'closed' ? 'lines' : 'one'
  return 'list'
}

/** Whether the value that begins here ends on its line. A string that a line break cuts is damage: JSON has none. */
function firstLineState(text: string, from: number): 'closed' | 'open' | 'damaged' {
  let depth = 0
  let isString = false
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === NEWLINE) return isString ? 'damaged' : 'open'
    if (isString) {
      if (code === BACKSLASH) at++
      else if (code === QUOTE) isString = false
    } else if (code === QUOTE) isString = true
    else if (code === OPEN_ARRAY || code === OPEN_OBJECT) depth++
    else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) {
      depth--
      if (depth === 0) return 'closed'
    }
  }
  // No line break so far: whoever writes a long line writes the whole record on it.
  return 'closed'
}

const MAX_CHECKED_LINES = 8

/** A first line that is more than a bracket may have lost its end: then one of the next is a record by itself. */
function hasRecordLine(text: string, from: number): boolean {
  const [first = '', ...others] = text.slice(from).split('\n', MAX_CHECKED_LINES)
  return first.trim().length > 1 && others.some((line) => !isForeignShape(detectRecordShape(parseStructure(line))))
}

/** Nothing when the beginning does not tell. */
function beginsWithMessage(text: string): boolean | undefined {
  const value = parseStructure(text.trim()) ?? parseStructure(closeTruncatedJson(text) ?? '')
  const first: unknown = Array.isArray(value) ? value[0] : undefined
  return first === undefined ? undefined : isMessageLike(first)
}

const NEWLINE = 10
const QUOTE = 34
const OPEN_ARRAY = 91
const BACKSLASH = 92
const CLOSE_ARRAY = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125
