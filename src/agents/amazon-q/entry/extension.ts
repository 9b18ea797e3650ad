/** What messages bring from their entry or state so that the way back is exact. */

import type { EntryList } from '../../../conversation/told/entry.ts'
import { entryAt, isRead } from '../../../conversation/told/entry.ts'
import { parseJson } from '../../../lib/json/lossless.ts'
import { portable } from '../../../lib/json/portable.ts'
import { membersAt } from '../../../lib/json/ranges.ts'
import { sealOf } from '../../../lib/json/seal.ts'
import { type Fields, fieldsOf, stringOf } from '../../../lib/object.ts'
import { textOf } from '../../../lib/text.ts'
import { type ElementExtensions, type Extension, extensionsOf } from '../../../model/replay/extension.ts'
import type { Document } from '../row/document.ts'
import { AMAZON_Q } from '../store/stores.ts'

/**
 * The entry itself, or what it was made of when another agent's conversation was written as this one's.
 * @param at its number in the conversation
 */
export function extensionsIn(list: EntryList, index: number, at: number): ElementExtensions {
  const entry = list.exactAt(index)
  const fields = fieldsOf(entry)
  const own = { src: AMAZON_Q, record: portable(entry ?? null), at }
  return extensionsOf(own, fields?.['x_conv'], () => sealOf(fields ?? {}, 'x_conv'))
}

/** Of messages whose record is the state, which is told once, at the end. */
export function withoutRecord({ x_conv }: Fields): Extension {
  return { src: stringOf(fieldsOf(x_conv)?.['src']) ?? AMAZON_Q, records: [] }
}

/**
 * All of the state but its history, under one name, so that nobody takes it for an entry; and the entries that nobody
 * could read, of which no message tells.
 */
export function stateExtension(bytes: Buffer, { fields, history }: Document): Extension {
  const own = withoutRecord(fields)
  const records = fieldsOf(fields['x_conv'])?.['records']
  // It was made for another agent's conversation.
  if (own.src !== AMAZON_Q && Array.isArray(records)) return { ...own, records }
  const state: Record<string, unknown> = {}
  let start = bytes[0] === 0xef ? 3 : 0
  while ((bytes[start] ?? 99) <= 32) start++
  if (bytes[start] !== OPEN_OBJECT) return own
  for (const member of membersAt(bytes, start).found) {
    if (member.key === 'history') continue
    const exact = parseJson(textOf(bytes.subarray(member.start, member.end)))
    if (exact.ok) state[member.key] = portable(exact.value)
  }
  const unread: unknown[] = []
  for (let at = 0; at < history.length; at++)
    if (!isRead(entryAt(history, at))) unread.push({ at: at + 1, entry: portable(history.exactAt(at) ?? null) })
  return { src: AMAZON_Q, records: [unread.length > 0 ? { state, unread } : { state }] }
}

/** What an entry says beside what the program reads, where we wrote it. */
export const writtenIn = (entry: unknown): Fields | undefined => fieldsOf(fieldsOf(entry)?.['x_conv'])

const OPEN_OBJECT = 123
