/** English words that several formats share. */

import type { PromptMark } from '../model/classify.ts'
import { formatShortDuration } from '../model/tool-summary.ts'
import type { ExportTurnTotals } from './blocks.ts'
import { formatInteger } from './format-values.ts'

export const TURN_MARK_LABELS: { readonly [mark in PromptMark]: string } = {
  rolled_back: 'rolled back',
  tangent: 'tangent',
  main: 'main conversation',
  cut: 'no longer sent',
  pending: 'not sent yet',
}

/** `turn 3`, how long it took, its tools and its tokens. */
export function formatTurnTotals(number: number, { usage, tools, errors, ms }: ExportTurnTotals): readonly string[] {
  const cached = usage.input_tokens > 0 ? Math.round((usage.cached_input_tokens / usage.input_tokens) * 100) : 0
  return [
    `turn ${number}`,
    ...(ms > 0 ? [formatShortDuration(ms)] : []),
    ...(tools > 0 ? [`${formatInteger(tools)} ${tools === 1 ? 'tool call' : 'tool calls'}`] : []),
    ...(errors > 0 ? [`${formatInteger(errors)} failed`] : []),
    ...(usage.total_tokens > 0
      ? [
          `${formatInteger(usage.input_tokens)} tokens in (${cached} % cached)`,
          `${formatInteger(usage.output_tokens)} out`,
        ]
      : []),
  ]
}
