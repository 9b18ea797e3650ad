/** Tells from a file's beginning how its records are arranged, and which format they have. */

import { closeTruncatedJson } from '../../lib/json/salvage.ts'
import { trimCharacters } from '../../lib/text.ts'
import { parseStructure } from '../../lib/unknown-values.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import type { FileFormat } from './file-conversation.ts'
import {
  detectRecordShape,
  type ForeignShape,
  isForeignShape,
  isMessageLike,
  type RecordShape,
  SHAPE_TEXTS,
} from './record-shape.ts'

export type FileLayout =
  /** One record on each line. */
  | 'lines'
  /** The elements of one JSON array. */
  | 'list'
  /** The complete file is one record: an object over several lines, or a list of messages. */
  | 'one'

/** @param head beginning of the file, cut at any position, without byte order mark */
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

/** Whether the value that begins here ends on its line. A line break inside a string is damage. */
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
  // No line break yet: a writer of long lines puts the complete record on one line.
  return 'closed'
}

const MAX_CHECKED_LINES = 8

/** The first line may be truncated; then one of the next lines is a record. */
function hasRecordLine(text: string, from: number): boolean {
  const [first = '', ...others] = text.slice(from).split('\n', MAX_CHECKED_LINES)
  return first.trim().length > 1 && others.some((line) => !isForeignShape(detectRecordShape(parseStructure(line))))
}

/** Undefined if the beginning is not sufficient. */
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

export interface FileKind {
  readonly layout: FileLayout
  /** Format of the most frequent kind of record; conversations take precedence over others. */
  readonly format: FileFormat | ForeignShape
  readonly isConversation: boolean
  /** For a person. */
  readonly why: Phrase
}

const MAX_RECORDS = 50

/** @param head beginning of the file, cut at any position. Returns undefined if it contains no JSON. */
export function describeFileHead(head: string): FileKind | undefined {
  const text = head.replace(/^[\0\uFEFF]+/, '')
  const layout = detectFileLayout(text)
  const counts = new Map<FileFormat | ForeignShape, number>()
  let records = 0
  for (const value of readRecords(text, layout)) {
    const format = fileFormatOf(detectRecordShape(value), layout)
    counts.set(format, (counts.get(format) ?? 0) + 1)
    records++
  }
  const [best] = [...counts].sort(compareRanks)
  if (!best) return undefined
  const [format, count] = best
  const isConversation = !isForeignShape(format as RecordShape)
  if (counts.size === 1) return { layout, format, isConversation, why: SHAPE_TEXTS[format] }
  const others = records - count
  return {
    layout,
    format,
    isConversation,
    why: phrase(
      `${SHAPE_TEXTS[format].en}; ${others} of the first ${records} records differ`,
      `${SHAPE_TEXTS[format].ja}。先頭 ${records} 件のうち ${others} 件は別の形`,
    ),
  }
}

/** Whether `describeFileHead` would find a conversation. Stops at a record of another agent. */
export function beginsWithConversation(head: string): boolean {
  const text = head.replace(/^[\0\uFEFF]+/, '')
  let isFound = false
  for (const value of readRecords(text, detectFileLayout(text))) {
    const shape = detectRecordShape(value)
    if (shape === 'agent-record') return false
    isFound ||= !isForeignShape(shape)
  }
  return isFound
}

/** Another agent's records take precedence, then conversations, then the larger number. */
function compareRanks(
  a: readonly [FileFormat | ForeignShape, number],
  b: readonly [FileFormat | ForeignShape, number],
): number {
  return rankOf(a[0]) - rankOf(b[0]) || b[1] - a[1]
}

function rankOf(format: FileFormat | ForeignShape): number {
  if (format === 'agent-record') return 0
  return isForeignShape(format as RecordShape) ? 2 : 1
}

/** On a line, the same record is a fine-tuning example. */
export const fileFormatOf = (shape: RecordShape, layout: FileLayout): FileFormat | ForeignShape =>
  shape === 'messages' && layout === 'lines' ? 'sft' : shape

function readRecords(text: string, layout: FileLayout): Iterable<unknown> {
  if (layout === 'lines') return readLineRecords(text)
  const value = parseBeginning(text)
  if (value === undefined) return []
  return layout === 'list' && Array.isArray(value) ? value.slice(0, MAX_RECORDS) : [value]
}

function* readLineRecords(text: string): Generator<unknown> {
  const lines = text.split('\n', MAX_RECORDS + 1).filter((line) => line.trim() !== '')
  for (const [at, line] of lines.slice(0, MAX_RECORDS).entries()) {
    const value = at === lines.length - 1 ? parseBeginning(line) : parseStructure(line)
    if (value !== undefined) yield value
  }
}

/** The value, or the part of it that the text contains. */
const parseBeginning = (text: string): unknown => {
  const bare = trimCharacters(text, /[\0\s]/)
  return parseStructure(bare) ?? parseStructure(closeTruncatedJson(bare) ?? '')
}
