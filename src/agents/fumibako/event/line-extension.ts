/** What messages bring from their line so that the way back is exact. */

import { digestOfText } from '../../../lib/json/digest.ts'
import { isJsonObject, JsonMap, type JsonValue, jsonEntries } from '../../../lib/json/lossless.ts'
import { toPortableJson } from '../../../lib/json/portable.ts'
import { writeJson } from '../../../lib/json/write.ts'
import { type ElementExtensions, readElementExtensions, type SourceExtension } from '../../../model/replay/extension.ts'
import { AGENT_ID } from '../find.ts'
import type { JournalRecord } from './parse-line.ts'

/** The line itself, or what it was made of when another agent's conversation was written as ours. */
export function lineExtensions(record: JournalRecord): ElementExtensions {
  const exact = record.exact() ?? null
  const own = { src: AGENT_ID, record: toPortableJson(exact) }
  return readElementExtensions(own, record.fields['x_conv'], () => digestOfText(writeJson(withoutExtension(exact))))
}

/** Pieces of an answer that nothing has followed yet, as if they had come at once. */
export const streamedExtension = (text: string, at: string): SourceExtension => ({
  src: AGENT_ID,
  records: [{ event: 'delta', at, text }],
})

const withoutExtension = (value: JsonValue): JsonValue =>
  isJsonObject(value) ? new JsonMap(jsonEntries(value).filter(([key]) => key !== 'x_conv')) : value
