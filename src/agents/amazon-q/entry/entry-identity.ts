/** What makes an entry the same entry: what was said, however it was written down this time. */

import type { ParsedEntry, Variant } from '../../../conversation/to-messages/parse-entry.ts'
import { checksum, sha256 } from '../../../lib/hash.ts'
import { isObject, listOf, stringOf, toJsonText } from '../../../lib/unknown-values.ts'

/**
 * Equal for a pair and for the object that a later version makes of it, and for tools whose shown name or arguments
 * were changed afterwards: their original ones count.
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

/** Enough to notice that another entry stands in its place. Costs next to nothing, however long the entry is. */
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

/** An id need not be a text, and not every object can be made one. */
const idText = (id: unknown): string => stringOf(id) ?? (id === undefined || id === null ? '' : toJsonText(id))

const sampleText = (text: string | undefined): string =>
  text === undefined ? '' : `${text.length}${text.slice(0, 12)}${text.slice(-12)}`
