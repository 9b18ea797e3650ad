/** Which of the three patterns a conversation or a turn follows. */

import type { Patterned } from '../../model/history-summary.ts'
import { type HistorySource, type HistoryStep, readHistory } from './read-history.ts'

/**
 * The pattern of a conversation; null when it has no entry that can be understood.
 *
 * @example
 * conversationPattern([[prompt, { Response: { content: 'Hi.' } }]]) // { pattern: 'simple', incomplete: false }
 */
export function conversationPattern(history: HistorySource): Patterned | null {
  return patternOf(readHistory(history).steps)
}

export function patternOf(steps: readonly HistoryStep[]): Patterned | null {
  const last = steps.at(-1)
  if (!last) return null
  const asking = steps.filter(({ response }) => response.ToolUse).length
  return { pattern: asking === 0 ? 'simple' : asking === 1 ? 'single' : 'complex', incomplete: !last.response.Response }
}
