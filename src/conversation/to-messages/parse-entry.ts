/** Reads one exchange of a history in any shape: a pair, an object, or what only the strict model knows. */

import { type JsonValue, writeJson } from '../../lib/json/lossless.ts'
import { type Fields, fieldsOf, isObject, listOf, toJsonText } from '../../lib/unknown-values.ts'
import { readValueAs } from '../codec/codec.ts'
import { historyEntry } from '../codec/entry.ts'

/** @param exact the value was parsed losslessly */
export const exactText = (value: unknown, exact: boolean): string =>
  exact ? writeJson(value as JsonValue) : toJsonText(value)

/**
 * Whether arguments or results may need a lossless parse: they contain numbers that JavaScript would change, or fields
 * that an entry list may shorten.
 */
export function needsExact({ input, answer }: Pick<ParsedEntry, 'input' | 'answer'>): boolean {
  const uses = listOf(answer.body['tool_uses'])
  if (uses.some((use) => isObject(use) && hasUnsafeValue(use['args'], 0))) return true
  const results = listOf(input.body['tool_use_results'])
  return results.some(
    (result) =>
      isObject(result) &&
      listOf(result['content']).some((block) => isObject(block) && hasUnsafeValue(block['Json'], 0)),
  )
}

const MAX_DEPTH = 200

function hasUnsafeValue(value: unknown, depth: number): boolean {
  if (typeof value === 'number') return Math.abs(value) > Number.MAX_SAFE_INTEGER
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return false
  for (const key in value)
    if (SHORTENED.has(key) || hasUnsafeValue((value as Record<string, unknown>)[key], depth + 1)) return true
  return false
}

/** Values next to these, or in their place, may be missing: see `EntryList.at`. */
const SHORTENED: ReadonlySet<string> = new Set(['Bytes', 'chunks', 'args'])

/** Access to stored exchanges. */
export interface EntryList {
  readonly length: number
  /**
   * `Bytes` may be base64, `chunks` may replace `time_between_chunks`, and `orig_args` may be missing if it equals
   * `args`.
   */
  at(index: number): unknown
  /** The same entry parsed losslessly: numbers keep their spelling, images are lists. */
  exactAt(index: number): JsonValue | undefined
}

export interface ParsedEntry {
  readonly user: Fields
  /** `Prompt`, `ToolUseResults`, `CancelledToolUses`, or a later variant. */
  readonly input: Variant
  /** `Response`, `ToolUse`, or a later variant. */
  readonly answer: Variant
  readonly request: Fields | undefined
  /** Numbers have their original spelling. */
  readonly exact?: true
}

export interface Variant {
  readonly tag: string
  readonly body: Fields
}

export interface UnreadEntry {
  /** For a person. Never quotes the conversation. */
  readonly unread: string
}

/** Uses the lossless form for values whose numbers JavaScript would change. */
export function parseEntryAt(list: EntryList, index: number): ParsedEntry | UnreadEntry {
  const entry = parseUsualShape(list.at(index))
  if (entry && !needsExact(entry)) return entry
  return parseUnusualShape(list.exactAt(index))
}

export const isParsedEntry = (entry: ParsedEntry | UnreadEntry): entry is ParsedEntry => 'input' in entry

/** The unsent message that a state may contain. */
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

/** Structures may also be lists of their fields. The strict reader reports what is missing. */
function parseUnusualShape(value: unknown): ParsedEntry | UnreadEntry {
  if (value === undefined) return { unread: 'not JSON' }
  const exact = parseUsualShape(value)
  if (exact) return { ...exact, exact: true }
  const read = readValueAs(historyEntry, value)
  const entry = read.ok ? parseUsualShape(read.value) : undefined
  return entry ? { ...entry, exact: true } : { unread: read.ok ? 'in no shape that Amazon Q writes' : read.reason }
}
