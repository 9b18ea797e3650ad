/** Token counts as the API reports them. */
import { type Fields, fieldsOf, numberOf } from '../../../lib/object.ts'
import type { Usage } from '../../../model/usage.ts'

/** In either of the API's spellings. */
export function usageOf(usage: Fields | undefined): Usage | undefined {
  if (!usage) return undefined
  const input = numberOf(usage['prompt_tokens']) ?? numberOf(usage['input_tokens']) ?? 0
  const output = numberOf(usage['completion_tokens']) ?? numberOf(usage['output_tokens']) ?? 0
  const read = fieldsOf(usage['prompt_tokens_details'] ?? usage['input_tokens_details'])
  const written = fieldsOf(usage['completion_tokens_details'] ?? usage['output_tokens_details'])
  return {
    input_tokens: input,
    cached_input_tokens: numberOf(read?.['cached_tokens']) ?? 0,
    output_tokens: output,
    reasoning_output_tokens: numberOf(written?.['reasoning_tokens']) ?? 0,
    total_tokens: numberOf(usage['total_tokens']) ?? input + output,
  }
}
