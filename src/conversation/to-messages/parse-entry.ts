/** One exchange of a history, in whatever shape it was written: a pair, an object, or what only the strict model knows. */

import type { JsonValue } from '../../lib/json/lossless.ts'
import { type Fields, fieldsOf, isObject } from '../../lib/unknown-values.ts'
import { historyEntry } from '../codec/message.ts'
import { readValueAs } from '../codec/read-state.ts'
import { needsExact } from './exact-text.ts'

/** Exchanges as they lie somewhere. */
export interface EntryList {
  readonly length: number
  /** `Bytes` may be base64, `chunks` stand for `time_between_chunks`, and `orig_args` be missing beside equal `args`. */
  at(index: number): unknown
  /** The same as it is spelt: numbers in their own letters, images as lists. */
  exactAt(index: number): JsonValue | undefined
}

export interface ParsedEntry {
  readonly user: Fields
  /** `Prompt`, `ToolUseResults`, `CancelledToolUses`, or a later one. */
  readonly input: Variant
  /** `Response`, `ToolUse`, or a later one. */
  readonly answer: Variant
  readonly request: Fields | undefined
  /** Its numbers are spelt as they stand there. */
  readonly exact?: true
}

export interface Variant {
  readonly tag: string
  readonly body: Fields
}

export interface UnreadEntry {
  /** A sentence for a person. Never conversation text. */
  readonly unread: string
}

/** Free values whose numbers JavaScript would change come in their own spelling. */
export function parseEntryAt(list: EntryList, index: number): ParsedEntry | UnreadEntry {
  const entry = parseUsualShape(list.at(index))
  if (entry && !needsExact(entry)) return entry
  return parseUnusualShape(list.exactAt(index))
}

export const isParsedEntry = (entry: ParsedEntry | UnreadEntry): entry is ParsedEntry => 'input' in entry

/** What the original reads with its unread answer: the message that is still to be sent. */
export function parseInput(user: unknown): Pick<ParsedEntry, 'user' | 'input'> | undefined {
  const fields = fieldsOf(user)
  const input = parseVariant(fields?.['content'])
  return fields && input && { user: fields, input }
}

function parseUsualShape(value: unknown): ParsedEntry | undefined {
  if (Array.isArray(value)) return joinHalves(value[0], value[1], value[2])
  return isObject(value) ? joinHalves(value['user'], value['assistant'], value['request_metadata']) : undefined
}

function joinHalves(user: unknown, assistant: unknown, request: unknown): ParsedEntry | undefined {
  const fields = fieldsOf(user)
  const input = parseVariant(fields?.['content'])
  const answer = parseVariant(assistant)
  return fields && input && answer && { user: fields, input, answer, request: fieldsOf(request) }
}

function parseVariant(value: unknown): Variant | undefined {
  if (!isObject(value)) return undefined
  let only: string | undefined
  for (const tag in value) {
    if (only !== undefined) return undefined
    only = tag
  }
  const body = only === undefined ? undefined : fieldsOf(value[only])
  return only !== undefined && body ? { tag: only, body } : undefined
}

/** The original also takes structures as lists of their fields; its own reader says what is missing. */
function parseUnusualShape(value: unknown): ParsedEntry | UnreadEntry {
  if (value === undefined) return { unread: 'not JSON' }
  const exact = parseUsualShape(value)
  if (exact) return { ...exact, exact: true }
  const read = readValueAs(historyEntry, value)
  const entry = read.ok ? parseUsualShape(read.value) : undefined
  return entry ? { ...entry, exact: true } : { unread: read.ok ? 'in no shape that Amazon Q writes' : read.reason }
}
