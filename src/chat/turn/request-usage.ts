/** What a request used: as the server counts it, else an estimate that says so. */
import { fieldsOf, numberOf } from '../../lib/unknown-values.ts'
import type { Usage } from '../../model/usage.ts'
import { tokensOfText } from '../../openai/chat/send/estimate-tokens.ts'
import type { Completion } from '../../openai/stream/completion.ts'

export interface RequestUsage {
  readonly usage: Usage
  readonly estimated: boolean
}

/** Nothing where the server did not count. */
export function reportedUsage(completion: Completion | undefined): RequestUsage | undefined {
  const reported = fieldsOf(completion?.usage)
  const input = numberOf(reported?.['prompt_tokens'])
  const output = numberOf(reported?.['completion_tokens'])
  if (!reported || (input === undefined && output === undefined)) return undefined
  const cached = numberOf(fieldsOf(reported['prompt_tokens_details'])?.['cached_tokens']) ?? 0
  const reasoning = numberOf(fieldsOf(reported['completion_tokens_details'])?.['reasoning_tokens']) ?? 0
  return { usage: toUsage(input ?? 0, output ?? 0, cached, reasoning), estimated: false }
}

/** @param requestTokens estimated tokens of the request */
export const estimatedUsage = (requestTokens: number, answer: string): RequestUsage => ({
  usage: toUsage(requestTokens, tokensOfText(answer), 0, 0),
  estimated: true,
})

function toUsage(input: number, output: number, cached: number, reasoning: number): Usage {
  const toCount = (tokens: number): number => Math.max(0, Math.round(tokens))
  return {
    input_tokens: toCount(input),
    cached_input_tokens: Math.min(toCount(cached), toCount(input)),
    output_tokens: toCount(output),
    reasoning_output_tokens: Math.min(toCount(reasoning), toCount(output)),
    total_tokens: toCount(input) + toCount(output),
  }
}
