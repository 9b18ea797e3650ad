/** Tokens of a response. Every record of a response repeats them, and the last repetition is complete. */
import { type Fields, fieldsOf, nonEmptyStringOf } from '../../../lib/unknown-values.ts'
import { MAX_TOKEN_COUNT } from '../../../model/checked-numbers.ts'
import { isZeroUsage, makeUsage, type Usage, usageDifference } from '../../../model/usage.ts'
import { messageOf } from './drafts.ts'

const countOf = (value: unknown): number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_TOKEN_COUNT ? value : 0

/** Undefined if the record reports no tokens, or no model wrote it. */
export function usageOf(record: Fields): Usage | undefined {
  if (record['isApiErrorMessage'] === true) return undefined
  const given = fieldsOf(messageOf(record)?.['usage'])
  if (!given) return undefined
  const tiers = fieldsOf(given['cache_creation'])
  const hour = countOf(tiers?.['ephemeral_1h_input_tokens'])
  const written = Math.max(
    countOf(given['cache_creation_input_tokens']),
    hour + countOf(tiers?.['ephemeral_5m_input_tokens']),
  )
  const cached = countOf(given['cache_read_input_tokens'])
  const input = countOf(given['input_tokens']) + cached + written
  const output = countOf(given['output_tokens'])
  const usage = makeUsage(input, cached, written, hour, output, 0, input + output)
  return isZeroUsage(usage) ? undefined : usage
}

/** Response id, request id (null where the record names none), and the most that its records reported. */
type CountedResponse = readonly [response: string, request: string | null, usage: Usage]

export type SavedResponses = CountedResponse[]

/** Records of a response stand close together. */
const MAX_RESPONSES = 64

/**
 * What the record adds to the sum of all responses. Of the records of a response the largest report counts.
 * @param isRepeat the record repeats an earlier one; a response that is no longer remembered was counted with it
 */
export function countResponse(record: Fields, responses: SavedResponses, isRepeat: boolean): Usage | undefined {
  const usage = usageOf(record)
  if (!usage) return undefined
  const response = nonEmptyStringOf(messageOf(record)?.['id'])
  const request = nonEmptyStringOf(record['requestId']) ?? null
  const id = response ?? request
  if (id === null) return isRepeat ? undefined : usage
  // A response may be recorded with its request and without it.
  const at = responses.findLastIndex(
    ([one, knownRequest]) => one === id && (knownRequest === request || knownRequest === null || request === null),
  )
  const before = responses[at]?.[2]
  if (!before && isRepeat) return undefined
  const most = before ? largestOf(before, usage) : usage
  const known = at >= 0 ? responses.splice(at, 1)[0] : undefined
  responses.push([id, request ?? known?.[1] ?? null, most])
  if (responses.length > MAX_RESPONSES) responses.shift()
  const added = before ? usageDifference(most, before) : most
  return isZeroUsage(added) ? undefined : added
}

function largestOf(a: Usage, b: Usage): Usage {
  const input_tokens = Math.max(a.input_tokens, b.input_tokens)
  const output_tokens = Math.max(a.output_tokens, b.output_tokens)
  return makeUsage(
    input_tokens,
    Math.max(a.cached_input_tokens, b.cached_input_tokens),
    Math.max(a.cache_write_tokens ?? 0, b.cache_write_tokens ?? 0),
    Math.max(a.cache_write_1h_tokens ?? 0, b.cache_write_1h_tokens ?? 0),
    output_tokens,
    0,
    input_tokens + output_tokens,
  )
}
