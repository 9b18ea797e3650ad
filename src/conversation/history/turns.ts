/** Groups the entries of a history into turns: from a prompt to the response that ends it. */

import type { Patterned, TurnStatus } from '../../model/history-summary.ts'
import { type HistoryToolUse, inputPrompt } from './entry.ts'
import { patternOf } from './pattern.ts'
import { type HistorySource, type HistoryStep, readHistory } from './read-history.ts'

/** One turn: the entries from a prompt to the response, and what they hold. */
export interface ConversationTurn extends Patterned {
  /** Null for entries that follow no prompt: what a compaction left over, or results nobody waited for. */
  readonly prompt: string | null
  /** At least one. */
  readonly steps: readonly HistoryStep[]
  /** What was said on the way, where something was said. */
  readonly thinking: readonly string[]
  /** Null when the turn was not completed. */
  readonly response: string | null
  readonly toolsUsed: readonly HistoryToolUse[]
  readonly messageIds: readonly string[]
  /** Places in the history. What lies between them and is no step could not be understood. */
  readonly firstEntry: number
  readonly lastEntry: number
  readonly status: TurnStatus
}

/**
 * Every entry that can be understood is in exactly one turn. A cancellation with words of the user ends the open turn
 * and opens the next one; without words it stays inside.
 *
 * @example
 * for (const turn of conversationTurns(state)) console.log(turn.prompt, turn.toolsUsed.length, turn.status)
 */
export function conversationTurns(history: HistorySource): readonly ConversationTurn[] {
  return groupTurns(readHistory(history).steps)
}

export function groupTurns(steps: readonly HistoryStep[]): readonly ConversationTurn[] {
  const turns: ConversationTurn[] = []
  let open: HistoryStep[] = []
  const close = (status: TurnStatus): void => {
    const pattern = patternOf(open)
    if (pattern) turns.push(toTurn(open, pattern, status))
    open = []
  }
  for (const step of steps) {
    if (inputPrompt(step.input) !== undefined) close(step.input.content.CancelledToolUses ? 'cancelled' : 'incomplete')
    open.push(step)
    if (step.response.Response) close('complete')
  }
  close('incomplete')
  return turns
}

function toTurn(steps: readonly HistoryStep[], pattern: Patterned, status: TurnStatus): ConversationTurn {
  const first = steps.at(0)
  const last = steps.at(-1)
  const toolUseAnswers = steps.flatMap(({ response }) => response.ToolUse ?? [])
  return {
    ...pattern,
    prompt: (first && inputPrompt(first.input)) ?? null,
    steps,
    thinking: toolUseAnswers.map(({ content }) => content).filter((content) => content !== ''),
    response: last?.response.Response?.content ?? null,
    toolsUsed: toolUseAnswers.flatMap(({ tool_uses }) => tool_uses),
    messageIds: steps.flatMap(({ response }) => (response.Response ?? response.ToolUse).message_id ?? []),
    firstEntry: first?.index ?? 0,
    lastEntry: last?.index ?? 0,
    status,
  }
}
