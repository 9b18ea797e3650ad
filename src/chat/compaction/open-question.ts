/** While tools work on a question, it lies in the history: when that goes, the question stays with what waits. */
import { CONTEXT_ENTRY_END_HEADER, CONTEXT_ENTRY_START_HEADER } from '../../conversation/limits.ts'
import type { UserMessage } from '../../conversation/message.ts'
import type { History } from '../../conversation/record.ts'
import { promptOf, toolUseResultsOf } from '../../conversation/render.ts'

const QUESTION_HEADING = 'This is still to be answered:\n'

/**
 * The waiting message, with the question that it belongs to.
 * @param dropped what is no longer sent, from the oldest on
 */
export function attachOpenQuestion(next: UserMessage | null, dropped: History): UserMessage | null {
  if (!next || promptOf(next) !== undefined || !toolUseResultsOf(next)) return next
  const question = findLastPrompt(dropped)
  if (question === undefined || next.additional_context.includes(QUESTION_HEADING)) return next
  const context = `${CONTEXT_ENTRY_START_HEADER}${QUESTION_HEADING}${question}\n${CONTEXT_ENTRY_END_HEADER}`
  return { ...next, additional_context: context + next.additional_context }
}

function findLastPrompt(history: History): string | undefined {
  for (let at = history.length - 1; at >= 0; at--) {
    const entry = history.at(at)
    const prompt = entry && promptOf(entry.user)
    if (prompt !== undefined) return prompt
  }
  return undefined
}
