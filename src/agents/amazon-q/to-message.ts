/** Converts a draft to a message: id, time, position, and data for identifying and converting its entry. */

import type { EntryTime } from '../../conversation/to-messages/entry-clock.ts'
import type { EntryDraft } from '../../conversation/to-messages/entry-drafts.ts'
import {
  type EntryList,
  isParsedEntry,
  type ParsedEntry,
  parseEntryAt,
  type Variant,
} from '../../conversation/to-messages/parse-entry.ts'
import { checksum, sha256 } from '../../lib/hash.ts'
import { digestWithout } from '../../lib/json/compare.ts'
import { type JsonValue, parseJson, plainJson } from '../../lib/json/lossless.ts'
import { toPortableJson } from '../../lib/json/portable.ts'
import { findMemberRanges } from '../../lib/json/scanner.ts'
import { decodeUtf8 } from '../../lib/text.ts'
import { type Fields, fieldsOf, isObject, listOf, stringOf, toJsonText } from '../../lib/unknown-values.ts'
import type { SessionId } from '../../model/ids.ts'
import type { Metadata, TimestampBasis } from '../../model/metadata.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { type ElementExtensions, readElementExtensions, type SourceExtension } from '../../model/replay/extension.ts'
import type { Locator } from '../agent.ts'
import { placeMessage } from '../kit/place-message.ts'
import type { StateDocument } from './state-document.ts'
import { AMAZON_Q } from './stores.ts'

interface EntryPosition {
  /** Position in the conversation, from 1; 0 for messages about the complete conversation. */
  readonly entry: number
  /** Position in the entry, from 1. */
  readonly part: number
  readonly time: EntryTime
  /** The original time value. */
  readonly stamp?: unknown
  readonly marks: Metadata
}

export interface ConversationOrigin {
  readonly path: string
  readonly session: SessionId
  readonly key: string | undefined
  /** Number of entries before the first one of this source. */
  readonly before: number
}

export function toMessage(
  draft: EntryDraft,
  position: EntryPosition,
  origin: ConversationOrigin,
  extension?: SourceExtension,
): NormalizedMessage {
  const { entry, part, time, stamp, marks } = position
  const { path, session, key } = origin
  return placeMessage(draft, {
    at: time.at,
    basis: time.basis,
    line: entry,
    part,
    path,
    session,
    event: entry === 0 ? 'state' : 'history',
    row: key,
    stamp: stamp ?? undefined,
    marks,
    extension,
  })
}

/**
 * The entry itself, or the records it was converted from.
 * @param at number of the entry in the conversation
 */
export function entryExtensions(list: EntryList, index: number, at: number): ElementExtensions {
  const entry = list.exactAt(index)
  const fields = fieldsOf(entry)
  const own = { src: AMAZON_Q, record: toPortableJson(entry ?? null), at }
  const written = fields?.['x_conv'] as JsonValue | undefined
  return readElementExtensions(own, written && plainJson(written), () => digestWithout(fields ?? {}, 'x_conv'))
}

/** For messages that belong to the state, whose record is attached once, at the end. */
export function recordlessExtension({ x_conv }: Fields): SourceExtension {
  return { src: stringOf(fieldsOf(x_conv)?.['src']) ?? AMAZON_Q, records: [] }
}

/**
 * The state without its history, under one name, so that it is not mistaken for an entry; and the unreadable entries,
 * which have no message.
 */
export function stateExtension(bytes: Buffer, { fields, history }: StateDocument): SourceExtension {
  const own = recordlessExtension(fields)
  const records = fieldsOf(fields['x_conv'])?.['records']
  // The state was created for another agent's conversation.
  if (own.src !== AMAZON_Q && Array.isArray(records)) return { ...own, records }
  const state: Record<string, unknown> = {}
  const keys: string[] = []
  let start = bytes[0] === 0xef ? 3 : 0
  while ((bytes[start] ?? 99) <= 32) start++
  if (bytes[start] !== OPEN_OBJECT) return own
  for (const member of findMemberRanges(bytes, start).ranges) {
    keys.push(member.key)
    if (member.key === 'history') continue
    const exact = parseJson(decodeUtf8(bytes.subarray(member.start, member.end)))
    if (exact.ok) state[member.key] = toPortableJson(exact.value)
  }
  const unreadEntries: unknown[] = []
  for (let at = 0; at < history.length; at++)
    if (!isParsedEntry(parseEntryAt(history, at)))
      unreadEntries.push({ at: at + 1, entry: toPortableJson(history.exactAt(at) ?? null) })
  const layout = layoutOf(bytes, start, keys)
  return {
    src: AMAZON_Q,
    records: [{ state, ...(layout && { layout }), ...(unreadEntries.length > 0 && { unread: unreadEntries }) }],
  }
}

/** How the text of a state is laid out, where that is not how Amazon Q writes a row. */
export interface StateLayout {
  /** By two spaces, as `/save` writes files. */
  readonly indented?: boolean
  /** Number of fields before `history`. */
  readonly history_at?: number
}

/** The fields before `history` in every version. */
export const LEADING_FIELDS: readonly string[] = ['conversation_id', 'next_message']

function layoutOf(bytes: Buffer, start: number, keys: readonly string[]): StateLayout | undefined {
  const at = keys.indexOf('history')
  const isUsual = at === LEADING_FIELDS.length && LEADING_FIELDS.every((key, index) => keys[index] === key)
  const layout = {
    ...(bytes[start + 1] === NEWLINE && { indented: true }),
    ...(at >= 0 && !isUsual && { history_at: at }),
  }
  return Object.keys(layout).length > 0 ? layout : undefined
}

const NEWLINE = 10

/** Our extension of an entry. */
export const extensionFields = (entry: unknown): Fields | undefined => fieldsOf(fieldsOf(entry)?.['x_conv'])

const OPEN_OBJECT = 123

/**
 * Equal for a pair and the object that a later version makes of it, and for tools whose displayed name or arguments
 * were changed later: only the original ones count.
 */
export function entryIdentity({ input, answer }: Pick<ParsedEntry, 'input' | 'answer'>): string {
  const { message_id, content } = answer.body
  return sha256(
    toJsonText([input.tag, inputContent(input), answer.tag, message_id ?? null, content ?? null, toolUsesOf(answer)]),
  )
}

const inputContent = ({ body }: Variant): unknown => [body['prompt'] ?? null, body['tool_use_results'] ?? null]

const toolUsesOf = ({ body }: Variant): unknown =>
  listOf(body['tool_uses']).map((use) =>
    isObject(use)
      ? [use['id'], use['orig_name'] ?? use['name'], ('orig_args' in use ? use['orig_args'] : use['args']) ?? null]
      : use,
  )

/** Detects that an entry was replaced, in constant time. */
export function entryChecksum({ input, answer }: Pick<ParsedEntry, 'input' | 'answer'>): number {
  const prompt = stringOf(input.body['prompt'])
  const content = stringOf(answer.body['content'])
  const results = listOf(input.body['tool_use_results'])
  const uses = listOf(answer.body['tool_uses'])
  const samples = [
    input.tag,
    answer.tag,
    idText(answer.body['message_id']),
    sampleText(prompt),
    sampleText(content),
    ...results.map((one) => (isObject(one) ? idText(one['tool_use_id']) : '')),
    ...uses.map((one) => (isObject(one) ? idText(one['id']) : '')),
  ]
  return checksum(Buffer.from(samples.join('|')))
}

/** An id may have any type, and not every object can be converted to a string. */
const idText = (id: unknown): string => stringOf(id) ?? (id === undefined || id === null ? '' : toJsonText(id))

const sampleText = (text: string | undefined): string =>
  text === undefined ? '' : `${text.length}${text.slice(0, 12)}${text.slice(-12)}`

export interface QLocator extends Locator {
  /** Number in the conversation; 0 for messages about the complete conversation. */
  readonly entry: number
  readonly part: number
  /** Detects that the entry was replaced. */
  readonly check?: number
  readonly time: string
  readonly basis?: TimestampBasis
  /** The entry whose call a result answers. */
  readonly call?: number
  /** The entry is only in the main conversation; contains the number of its first part. */
  readonly main?: number
  /** The unsent message. */
  readonly next?: true
}
