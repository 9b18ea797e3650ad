/** One exchange of a history, in whatever shape it was written: a pair, an object, or what only the strict model knows. */
import { historyEntry } from '../../../conversation/codec/message.ts'
import { readValueAs } from '../../../conversation/codec/read.ts'
import { type Fields, fieldsOf, isObject } from '../../../lib/object.ts'
import type { EntryList } from '../row/document.ts'
import { hasUnsafeNumbers } from './exact.ts'

export interface Entry {
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
export function entryAt(list: EntryList, index: number): Entry | UnreadEntry {
  const entry = usual(list.at(index))
  if (entry && !hasUnsafeNumbers(entry)) return entry
  return unusual(list.exactAt(index))
}

export const isRead = (entry: Entry | UnreadEntry): entry is Entry => 'input' in entry

/** What the original reads with its unread answer: the message that is still to be sent. */
export function inputOf(user: unknown): Pick<Entry, 'user' | 'input'> | undefined {
  const fields = fieldsOf(user)
  const input = variantOf(fields?.['content'])
  return fields && input && { user: fields, input }
}

function usual(value: unknown): Entry | undefined {
  const [user, assistant, request] = Array.isArray(value)
    ? (value as readonly unknown[])
    : isObject(value)
      ? [value['user'], value['assistant'], value['request_metadata']]
      : []
  const said = inputOf(user)
  const answer = variantOf(assistant)
  return said && answer && { ...said, answer, request: fieldsOf(request) }
}

function variantOf(value: unknown): Variant | undefined {
  if (!isObject(value)) return undefined
  const [tag, ...more] = Object.keys(value)
  const body = tag === undefined ? undefined : fieldsOf(value[tag])
  return tag !== undefined && more.length === 0 && body ? { tag, body } : undefined
}

/** The original also takes structures as lists of their fields; its own reader says what is missing. */
function unusual(value: unknown): Entry | UnreadEntry {
  if (value === undefined) return { unread: 'not JSON' }
  const exact = usual(value)
  if (exact) return { ...exact, exact: true }
  const read = readValueAs(historyEntry, value)
  const entry = read.ok ? usual(read.value) : undefined
  return entry ? { ...entry, exact: true } : { unread: read.ok ? 'in no shape that Amazon Q writes' : read.reason }
}
