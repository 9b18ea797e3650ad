/** What a request used: as the server counts it, else an estimate that says so. */
import { fieldsOf, numberOf } from '../../lib/object.ts'
import type { Usage } from '../../model/usage.ts'
import { tokensOfText } from '../../openai/chat/send/tokens.ts'
import type { Completion } from '../../openai/stream/completion.ts'

export interface Used {
  readonly usage: Usage
  readonly estimated: boolean
}

/** Nothing where the server did not count. */
export function countedUsage(completion: Completion | undefined): Used | undefined {
  const told = fieldsOf(completion?.usage)
  const input = numberOf(told?.['prompt_tokens'])
  const output = numberOf(told?.['completion_tokens'])
  if (!told || (input === undefined && output === undefined)) return undefined
  const cached = numberOf(fieldsOf(told['prompt_tokens_details'])?.['cached_tokens']) ?? 0
  const reasoning = numberOf(fieldsOf(told['completion_tokens_details'])?.['reasoning_tokens']) ?? 0
  return { usage: usageOf(input ?? 0, output ?? 0, cached, reasoning), estimated: false }
}

/** @param asked estimated tokens of the request */
export const estimatedUsage = (asked: number, answer: string): Used => ({
  usage: usageOf(asked, tokensOfText(answer), 0, 0),
  estimated: true,
})

function usageOf(input: number, output: number, cached: number, reasoning: number): Usage {
  const whole = (tokens: number): number => Math.max(0, Math.round(tokens))
  return {
    input_tokens: whole(input),
    cached_input_tokens: Math.min(whole(cached), whole(input)),
    output_tokens: whole(output),
    reasoning_output_tokens: Math.min(whole(reasoning), whole(output)),
    total_tokens: whole(input) + whole(output),
  }
}
