/** Token counts as the API reports them. */
import { type Fields, fieldsOf } from '../../../lib/object.ts'
import type { NumberCheck } from '../../../model/numbers.ts'
import type { Usage } from '../../../model/usage.ts'

/** In either of the API's spellings. */
export function parseChatUsage(usage: Fields | undefined, check: NumberCheck): Usage | undefined {
  if (!usage) return undefined
  const count = (fields: Fields | undefined, name: string): number | undefined => check.tokens(fields?.[name], name)
  const input = count(usage, 'prompt_tokens') ?? count(usage, 'input_tokens') ?? 0
  const output = count(usage, 'completion_tokens') ?? count(usage, 'output_tokens') ?? 0
  const inputDetails = fieldsOf(usage['prompt_tokens_details'] ?? usage['input_tokens_details'])
  const outputDetails = fieldsOf(usage['completion_tokens_details'] ?? usage['output_tokens_details'])
  return {
    input_tokens: input,
    cached_input_tokens: count(inputDetails, 'cached_tokens') ?? 0,
    output_tokens: output,
    reasoning_output_tokens: count(outputDetails, 'reasoning_tokens') ?? 0,
    total_tokens: count(usage, 'total_tokens') ?? input + output,
  }
}
