/** What messages bring from their entry or state so that the way back is exact. */
import { type JsonValue, parseJson } from '../../../lib/json/lossless.ts'
import { membersAt } from '../../../lib/json/ranges.ts'
import { sealOf } from '../../../lib/json/seal.ts'
import { writeJson } from '../../../lib/json/write.ts'
import { fieldsOf } from '../../../lib/object.ts'
import { textOf } from '../../../lib/text.ts'
import { type ElementExtensions, type Extension, extensionsOf } from '../../../model/replay/extension.ts'
import { AMAZON_Q } from '../store/stores.ts'

/**
 * The entry itself, or what it was made of when another agent's conversation was written as this one's.
 * @param entry as it is spelt
 * @param at its number in the conversation
 */
export function entryExtensions(entry: JsonValue | undefined, at: number): ElementExtensions {
  const fields = fieldsOf(entry)
  const own = { src: AMAZON_Q, record: portable(entry ?? null), at }
  return extensionsOf(own, fields?.['x_conv'], () => sealOf(fields ?? {}, 'x_conv'))
}

/** Of messages whose record is the state, which is told once, at the end. */
export const WITHOUT_RECORD: Extension = { src: AMAZON_Q, records: [] }

/** All of the state but its history, under one name, so that nobody takes it for an entry. */
export function stateExtension(bytes: Buffer): Extension {
  const state: Record<string, unknown> = {}
  let start = bytes[0] === 0xef ? 3 : 0
  while ((bytes[start] ?? 99) <= 32) start++
  if (bytes[start] !== OPEN_OBJECT) return WITHOUT_RECORD
  for (const member of membersAt(bytes, start).found) {
    if (member.key === 'history') continue
    const exact = parseJson(textOf(bytes.subarray(member.start, member.end)))
    if (exact.ok) state[member.key] = portable(exact.value)
  }
  return { src: AMAZON_Q, records: [{ state }] }
}

const OPEN_OBJECT = 123

/** Numbers and keys that other JSON would change travel as text. */
function portable(value: JsonValue): unknown {
  const text = writeJson(value)
  return text === JSON.stringify(value) ? value : { exact_json: text }
}
