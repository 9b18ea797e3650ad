/** The last thing that was asked and what was answered, for who comes back to a conversation. */
import type { AssistantMessage } from '../conversation/message.ts'
import { promptOf } from '../conversation/render.ts'
import type { ConversationState } from '../conversation/state.ts'

interface LastExchange {
  readonly prompt: string
  /** Of the last answer to it; empty where it has no words. */
  readonly answer: string
  /** Entries of the history, those of tools included. */
  readonly entries: number
}

export function findLastExchange({ history }: ConversationState): LastExchange | undefined {
  const last = history.at(-1)
  for (let at = history.length - 1; at >= 0 && last; at--) {
    const entry = history.at(at)
    const prompt = entry && promptOf(entry.user)
    if (prompt !== undefined) return { prompt, answer: answerTextOf(last.assistant), entries: history.length }
  }
  return undefined
}

const answerTextOf = (assistant: AssistantMessage): string =>
  ('Response' in assistant ? assistant.Response : assistant.ToolUse).content
