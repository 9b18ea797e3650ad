/** A history as messages to show: what the user said and what was answered. */

import { fieldsOf } from '../../lib/unknown-values.ts'
import {
  type HistoryEntry,
  type HistoryInputMessage,
  type HistoryResponseMessage,
  type HistoryToolUse,
  inputPrompt,
} from './entry.ts'
import { isResponse } from './guards.ts'
import { type HistorySource, readHistory } from './read-history.ts'

/** What the user said. */
export interface UserDisplayMessage {
  readonly type: 'user'
  readonly content: string
  /** There when these words were said instead of letting tools run. */
  readonly metadata?: { readonly cancelled: true }
}

/** What was answered. */
export interface AssistantDisplayMessage {
  readonly type: 'assistant'
  readonly content: string
  /** There when the answer asks for tools: its content is a thought on the way. */
  readonly metadata?: { readonly toolsUsed: readonly HistoryToolUse[]; readonly thinking: true }
}

/** One message to show, told by its `type`. */
export type DisplayMessage = UserDisplayMessage | AssistantDisplayMessage

/**
 * The messages of a history in order. Results of tools are no messages; entries that cannot be understood are skipped.
 *
 * @example
 * convertToDisplayMessages([[
 *   { content: { Prompt: { prompt: 'Hello' } } },
 *   { Response: { message_id: 'm', content: 'Hi.' } },
 * ]])
 * // [{ type: 'user', content: 'Hello' }, { type: 'assistant', content: 'Hi.' }]
 */
export function convertToDisplayMessages(history: HistorySource): readonly DisplayMessage[] {
  return readHistory(history).steps.flatMap(({ input, response }) => [
    ...userMessages(input),
    assistantMessage(response),
  ])
}

function userMessages(input: HistoryInputMessage): readonly UserDisplayMessage[] {
  const content = inputPrompt(input)
  if (content === undefined) return []
  return [{ type: 'user', content, ...(input.content.CancelledToolUses && { metadata: { cancelled: true } }) }]
}

function assistantMessage(response: HistoryResponseMessage): AssistantDisplayMessage {
  if (response.Response) return { type: 'assistant', content: response.Response.content }
  const { content, tool_uses } = response.ToolUse
  return { type: 'assistant', content, metadata: { toolsUsed: tool_uses, thinking: true } }
}

/**
 * Whether this entry ends its turn: its answer asks for no more tools.
 *
 * @example
 * isConversationTurnComplete([input, { Response: { message_id: 'm', content: 'Done.' } }]) // true
 */
export function isConversationTurnComplete(entry: HistoryEntry): boolean {
  const response: unknown = Array.isArray(entry) ? entry[1] : fieldsOf(entry)?.['assistant']
  return isResponse(response)
}

/**
 * The newest text of the assistant, be it an answer or a thought on the way to one; null where there is none.
 *
 * @example
 * getLatestMessage([]) // null
 */
export function getLatestMessage(history: HistorySource): string | null {
  const last = readHistory(history).steps.at(-1)
  return last ? assistantMessage(last.response).content : null
}
