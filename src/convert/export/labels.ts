/** English words that several formats share. */
import { duration } from '../../model/gist.ts'
import type { Tally, TurnMark } from './blocks.ts'
import { count } from './clock.ts'

export const TURN_MARKS: { readonly [mark in TurnMark]: string } = {
  rolled_back: 'rolled back',
  tangent: 'tangent',
  main: 'main conversation',
  cut: 'no longer sent',
  pending: 'not sent yet',
}

/** `turn 3`, how long it took, its tools and its tokens. */
export function tallyWords(number: number, { usage, tools, errors, ms }: Tally): readonly string[] {
  const cached = usage.input_tokens > 0 ? Math.round((usage.cached_input_tokens / usage.input_tokens) * 100) : 0
  return [
    `turn ${number}`,
    ...(ms > 0 ? [duration(ms)] : []),
    ...(tools > 0 ? [`${count(tools)} ${tools === 1 ? 'tool call' : 'tool calls'}`] : []),
    ...(errors > 0 ? [`${count(errors)} failed`] : []),
    ...(usage.total_tokens > 0
      ? [`${count(usage.input_tokens)} tokens in (${cached} % cached)`, `${count(usage.output_tokens)} out`]
      : []),
  ]
}
