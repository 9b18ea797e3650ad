/** What makes an entry the same entry: what was said, however it was written down this time. */

import type { Entry, Variant } from '../../../conversation/told/entry.ts'
import { checksum, sha256 } from '../../../lib/hash.ts'
import { isObject, jsonText, listOf, stringOf } from '../../../lib/object.ts'

/**
 * Equal for a pair and for the object that a later version makes of it, and for tools whose shown name or arguments
 * were changed afterwards: their original ones count.
 */
export function identityOf({ input, answer }: Pick<Entry, 'input' | 'answer'>): string {
  const { message_id, content } = answer.body
  return sha256(jsonText([input.tag, saidIn(input), answer.tag, message_id ?? null, content ?? null, usesIn(answer)]))
}

const saidIn = ({ body }: Variant): unknown => [body['prompt'] ?? null, body['tool_use_results'] ?? null]

const usesIn = ({ body }: Variant): unknown =>
  listOf(body['tool_uses']).map((use) =>
    isObject(use)
      ? [use['id'], use['orig_name'] ?? use['name'], ('orig_args' in use ? use['orig_args'] : use['args']) ?? null]
      : use,
  )

/** Enough to notice that another entry stands in its place. Costs next to nothing, however long the entry is. */
export function checkOf({ input, answer }: Pick<Entry, 'input' | 'answer'>): number {
  const prompt = stringOf(input.body['prompt'])
  const content = stringOf(answer.body['content'])
  const results = listOf(input.body['tool_use_results'])
  const uses = listOf(answer.body['tool_uses'])
  const seen = [
    input.tag,
    answer.tag,
    wordOf(answer.body['message_id']),
    glance(prompt),
    glance(content),
    ...results.map((one) => (isObject(one) ? wordOf(one['tool_use_id']) : '')),
    ...uses.map((one) => (isObject(one) ? wordOf(one['id']) : '')),
  ]
  return checksum(Buffer.from(seen.join('|')))
}

/** An id need not be a text, and not every object can be made one. */
const wordOf = (id: unknown): string => stringOf(id) ?? (id === undefined || id === null ? '' : jsonText(id))

const glance = (text: string | undefined): string =>
  text === undefined ? '' : `${text.length}${text.slice(0, 12)}${text.slice(-12)}`
