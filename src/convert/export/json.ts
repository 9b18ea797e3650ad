/** A session and its messages as they were read, as one line of JSON. */
import type { NormalizedMessage } from '../../model/normalized.ts'
import { serialize } from '../../model/serialize.ts'
import { isPrompt } from '../../model/turn.ts'
import type { ExportOptions, Material } from './material.ts'

/** Every record, whether `all` is asked for or not: what it is good for, the reader decides. */
export async function* json({ session, mark, outline, messages }: Material, { turns }: ExportOptions) {
  yield `${JSON.stringify(mark ? { session, mark } : { session }).slice(0, -1)},"messages":[`
  let number = 0
  let isFirst = true
  for await (const message of messages) {
    if (isPrompt(message, outline.links)) number++
    if (turns && number > turns.to) break
    if (turns && number < turns.from) continue
    yield `${isFirst ? '' : ','}${serialize(withoutCiphertext(message)).json}`
    isFirst = false
  }
  yield ']}\n'
}

function withoutCiphertext(message: NormalizedMessage): NormalizedMessage {
  if (message.raw.encrypted_content === undefined) return message
  const { encrypted_content: _, ...raw } = message.raw
  return { ...message, raw }
}
