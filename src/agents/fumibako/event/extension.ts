/** What messages bring from their line so that the way back is exact. */
import { isJsonObject, JsonMap, type JsonValue, jsonEntries } from '../../../lib/json/lossless.ts'
import { portable } from '../../../lib/json/portable.ts'
import { sealOfText } from '../../../lib/json/seal.ts'
import { writeJson } from '../../../lib/json/write.ts'
import { type ElementExtensions, type Extension, extensionsOf } from '../../../model/replay/extension.ts'
import { AGENT_ID } from '../find.ts'
import type { JournalRecord } from './line.ts'

/** The line itself, or what it was made of when another agent's conversation was written as ours. */
export function extensionsIn(record: JournalRecord): ElementExtensions {
  const exact = record.exact() ?? null
  const own = { src: AGENT_ID, record: portable(exact) }
  return extensionsOf(own, record.fields['x_conv'], () => sealOfText(writeJson(withoutExtension(exact))))
}

/** Pieces of an answer that nothing has followed yet, as if they had come at once. */
export const streamedExtension = (text: string, at: string): Extension => ({
  src: AGENT_ID,
  records: [{ event: 'delta', at, text }],
})

const withoutExtension = (value: JsonValue): JsonValue =>
  isJsonObject(value) ? new JsonMap(jsonEntries(value).filter(([key]) => key !== 'x_conv')) : value
