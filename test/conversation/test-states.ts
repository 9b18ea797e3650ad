/** Small conversations for tests. */

import type { AssistantMessage, UserMessage } from '../../src/conversation/message.ts'
import { promptOf } from '../../src/conversation/message-text.ts'
import {
  NO_ENVIRONMENT,
  newPrompt,
  newResponse,
  newToolUse,
  newToolUseResults,
} from '../../src/conversation/new-message.ts'
import { type ConversationState, newState, pushAssistantMessage } from '../../src/conversation/state.ts'
import { tangentTime } from '../../src/conversation/zoned-time.ts'

export const ENV = NO_ENVIRONMENT
export const NOW = tangentTime(1_761_371_580_000_000_000n)

export function prompt(text: string): UserMessage {
  return newPrompt(text, null, ENV)
}

export function toolResult(id: string, text: string): UserMessage {
  return newToolUseResults([{ tool_use_id: id, content: [{ Text: text }], status: 'Success' }], ENV)
}

export function toolUse(id: string, name = 'look'): AssistantMessage {
  return newToolUse(null, '', [{ id, name, orig_name: name, args: {}, orig_args: {} }])
}

export function withExchange(
  state: ConversationState,
  user: UserMessage,
  assistant: AssistantMessage,
): ConversationState {
  return pushAssistantMessage({ ...state, next_message: user }, assistant)
}

/** Prompts, each answered by `<prompt>!`. */
export function conversationOf(...prompts: readonly string[]): ConversationState {
  return continueWith(newState('c'), ...prompts)
}

export function continueWith(state: ConversationState, ...prompts: readonly string[]): ConversationState {
  return prompts.reduce((before, text) => withExchange(before, prompt(text), newResponse(null, `${text}!`)), state)
}

export function promptsOf(state: ConversationState): readonly (string | undefined)[] {
  return state.history.toArray().map(({ user }) => promptOf(user))
}
