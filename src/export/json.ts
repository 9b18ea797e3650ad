/** Exports a session and its messages as one line of JSON. */

import { classify } from '../model/classify.ts'
import { type NormalizedMessage, serializeMessage } from '../model/normalized.ts'
import type { ExportInput, ExportOptions } from './export-input.ts'

/** Always contains every record, with or without `all`. */
export async function* exportJson(
  { session, mark: annotation, outline, messages }: ExportInput,
  { turns }: ExportOptions,
) {
  yield `${JSON.stringify(annotation ? { session, mark: annotation } : { session }).slice(0, -1)},"messages":[`
  let number = 0
  let isFirst = true
  for await (const message of messages) {
    if (classify(message, outline.facts).isTyped) number++
    if (turns && number > turns.to) break
    if (turns && number < turns.from) continue
    yield `${isFirst ? '' : ','}${serializeMessage(withoutCiphertext(message)).json}`
    isFirst = false
  }
  yield ']}\n'
}

function withoutCiphertext(message: NormalizedMessage): NormalizedMessage {
  if (message.raw.encrypted_content === undefined) return message
  const { encrypted_content: _, ...raw } = message.raw
  return { ...message, raw }
}
