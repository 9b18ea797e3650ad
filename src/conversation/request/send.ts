/** The request that a conversation becomes. */

import type { JsonValue } from '../../lib/json/lossless.ts'
import type { AssistantMessage, EnvState, ImageBlock, ToolUseResult, UserEnvContext, UserMessage } from '../message.ts'
import type { HistoryEntry, Tool, Tools } from '../record.ts'
import { contentWithContext, toolUseResultsOf } from '../render.ts'
import { type ConversationState, type HistoryLimit, modelOf } from '../state.ts'
import { type ContextInput, contextMessage, contextPair, type HookResult, hookContext } from './context.ts'
import { withInvariants } from './invariants.ts'

export interface UserInputMessage {
  readonly content: string
  readonly images: readonly ImageBlock[] | null
  readonly model_id: string | null
  readonly user_intent: null
  readonly user_input_message_context: UserInputMessageContext
}

export interface UserInputMessageContext {
  readonly env_state: EnvState | null
  readonly git_state: null
  /** Set for both kinds of tool answers, even when there are none. */
  readonly tool_results: readonly ToolUseResult[] | null
  /** Null in the history, and where no origin is known at all. */
  readonly tools: readonly Tool[] | null
}

export interface AssistantResponseMessage {
  readonly message_id: string | null
  readonly content: string
  readonly tool_uses: readonly SentToolUse[] | null
}

export interface SentToolUse {
  readonly tool_use_id: string
  readonly name: string
  readonly input: JsonValue
}

/** As a past message: with its tool results, without the tools. */
export function intoHistoryEntry(message: UserMessage): UserInputMessage {
  return {
    content: contentWithContext(message),
    images: message.images,
    model_id: null,
    user_intent: null,
    user_input_message_context: {
      env_state: message.env_context.env_state,
      git_state: null,
      tool_results: toolUseResultsOf(message) ?? null,
      tools: null,
    },
  }
}

/** As the message that is sent now: with all tools of all origins, and the model. */
export function intoUserInputMessage(message: UserMessage, modelId: string | null, tools: Tools): UserInputMessage {
  const past = intoHistoryEntry(message)
  const context = { ...past.user_input_message_context, tools: tools.size === 0 ? null : [...tools.values()].flat() }
  return { ...past, model_id: modelId, user_input_message_context: context }
}

/** Tools go out under their model-facing names and arguments. */
export function intoAssistantResponse(message: AssistantMessage): AssistantResponseMessage {
  if ('Response' in message) return { ...message.Response, tool_uses: null }
  const { message_id, content, tool_uses } = message.ToolUse
  return {
    message_id,
    content,
    tool_uses: tool_uses.map(({ id, name, args }) => ({ tool_use_id: id, name, input: args })),
  }
}

export type SentMessage =
  | { readonly kind: 'user'; readonly message: UserInputMessage }
  | { readonly kind: 'assistant'; readonly message: AssistantResponseMessage }

export interface Sendable {
  readonly conversation_id: string
  readonly user_input_message: UserInputMessage
  readonly history: readonly SentMessage[]
}

export interface SendInput extends ContextInput {
  readonly env: UserEnvContext
  /** Results of this prompt's hooks; what they say takes the place of the message's context. */
  readonly promptHooks?: readonly HookResult[]
  readonly limit?: HistoryLimit
}

/**
 * The state as it is after sending, with the entries outside the valid range gone for good, and the request. No request
 * when no message waits.
 */
export function asSendable(
  given: ConversationState,
  input: SendInput,
): { readonly state: ConversationState; readonly request: Sendable | undefined } {
  const checked = withInvariants(given, input.env, input.limit)
  const [start, end] = checked.valid_history_range
  const inRange = { ...checked, history: checked.history.slice(Number(start), Number(end)) }
  const rechecked = withInvariants(inRange, input.env, input.limit)
  const hookText =
    input.promptHooks && rechecked.next_message ? hookContext(input.promptHooks, 'userPromptSubmit') : undefined
  const next =
    rechecked.next_message && hookText !== undefined
      ? { ...rechecked.next_message, additional_context: hookText }
      : rechecked.next_message
  const context = contextMessage(rechecked, input)
  const state = {
    ...rechecked,
    next_message: next,
    context_message_length: context?.bytes ?? rechecked.context_message_length,
  }
  if (!next) return { state, request: undefined }
  const pair = context ? [contextPair(context.text, input.env)] : []
  const request = {
    conversation_id: state.conversation_id,
    user_input_message: intoUserInputMessage(next, modelOf(state), state.tools),
    history: toSentMessages([...pair, ...state.history]),
  }
  return { state, request }
}

export function toSentMessages(entries: Iterable<HistoryEntry>): readonly SentMessage[] {
  return Array.from(entries).flatMap(({ user, assistant }): SentMessage[] => [
    { kind: 'user', message: intoHistoryEntry(user) },
    { kind: 'assistant', message: intoAssistantResponse(assistant) },
  ])
}
