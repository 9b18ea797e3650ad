/** What messages bring from their entry or state so that the way back is exact. */

import type { EntryList } from '../../../conversation/to-messages/parse-entry.ts'
import { isParsedEntry, parseEntryAt } from '../../../conversation/to-messages/parse-entry.ts'
import { digestWithout } from '../../../lib/json/digest.ts'
import { parseJson } from '../../../lib/json/lossless.ts'
import { toPortableJson } from '../../../lib/json/portable.ts'
import { findMemberRanges } from '../../../lib/json/ranges.ts'
import { decodeUtf8 } from '../../../lib/text.ts'
import { type Fields, fieldsOf, stringOf } from '../../../lib/unknown-values.ts'
import { type ElementExtensions, readElementExtensions, type SourceExtension } from '../../../model/replay/extension.ts'
import type { StateDocument } from '../row/state-document.ts'
import { AMAZON_Q } from '../store/store-paths.ts'

/**
 * The entry itself, or what it was made of when another agent's conversation was written as this one's.
 * @param at its number in the conversation
 */
export function entryExtensions(list: EntryList, index: number, at: number): ElementExtensions {
  const entry = list.exactAt(index)
  const fields = fieldsOf(entry)
  const own = { src: AMAZON_Q, record: toPortableJson(entry ?? null), at }
  return readElementExtensions(own, fields?.['x_conv'], () => digestWithout(fields ?? {}, 'x_conv'))
}

/** Of messages whose record is the state, which is told once, at the end. */
export function recordlessExtension({ x_conv }: Fields): SourceExtension {
  return { src: stringOf(fieldsOf(x_conv)?.['src']) ?? AMAZON_Q, records: [] }
}

/**
 * All of the state but its history, under one name, so that nobody takes it for an entry; and the entries that nobody
 * could read, of which no message tells.
 */
export function stateExtension(bytes: Buffer, { fields, history }: StateDocument): SourceExtension {
  const own = recordlessExtension(fields)
  const records = fieldsOf(fields['x_conv'])?.['records']
  // It was made for another agent's conversation.
  if (own.src !== AMAZON_Q && Array.isArray(records)) return { ...own, records }
  const state: Record<string, unknown> = {}
  let start = bytes[0] === 0xef ? 3 : 0
  while ((bytes[start] ?? 99) <= 32) start++
  if (bytes[start] !== OPEN_OBJECT) return own
  for (const member of findMemberRanges(bytes, start).ranges) {
    if (member.key === 'history') continue
    const exact = parseJson(decodeUtf8(bytes.subarray(member.start, member.end)))
    if (exact.ok) state[member.key] = toPortableJson(exact.value)
  }
  const unreadEntries: unknown[] = []
  for (let at = 0; at < history.length; at++)
    if (!isParsedEntry(parseEntryAt(history, at)))
      unreadEntries.push({ at: at + 1, entry: toPortableJson(history.exactAt(at) ?? null) })
  return { src: AMAZON_Q, records: [unreadEntries.length > 0 ? { state, unread: unreadEntries } : { state }] }
}

/** What an entry says beside what the program reads, where we wrote it. */
export const extensionFields = (entry: unknown): Fields | undefined => fieldsOf(fieldsOf(entry)?.['x_conv'])

const OPEN_OBJECT = 123
