/** A turn: ask, run the tools that the model calls, ask again, until it has no more calls. */

import { numberOf } from '../../lib/unknown-values.ts'
import { OpenAIMessage } from '../openai-message.ts'
import type { Completion } from '../stream/completion.ts'
import { ABORTED_ERROR, type ChatError } from './chat-error.ts'
import type { ChatEvent, ChatResult, TurnUsage } from './events.ts'
import { requestCompletion, type SendSettings } from './send/request-completion.ts'
import { findOpenCalls, withUniqueCallIds } from './tools/open-calls.ts'
import { type CallSettings, runToolCalls } from './tools/run-calls.ts'
import type { ChatRequest } from './transport.ts'

export interface TurnSettings extends SendSettings, CallSettings {
  readonly autoHandleToolCalls: boolean
  readonly maxRounds: number
}

/** The part of a conversation that a turn sees. */
export interface TurnConversation {
  messages(): readonly OpenAIMessage[]
  push(message: OpenAIMessage): void
  /** What is sent: the messages that fit, and all else that belongs to a request. */
  request(): ChatRequest
  /** @returns the messages that were too many and are gone */
  trim(): readonly OpenAIMessage[]
}

/** However it ends, also when its consumer stops: every call is answered, unless the caller wants to answer calls himself. */
export async function* runChatTurn(
  conversation: TurnConversation,
  settings: TurnSettings,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent, ChatResult> {
  const completions: Completion[] = []
  const push = (message: OpenAIMessage): void => conversation.push(message)
  for (let round = 0; ; round++) {
    const attempt = yield* requestCompletion(conversation.request(), settings, signal)
    if ('error' in attempt) {
      if (attempt.error.kind === 'aborted') savePartialText(attempt.partial, push)
      return toFailedResult(completions, attempt.error, attempt.partial)
    }
    const [choice] = attempt.completion.choices
    if (!choice) throw new Error('an answer without a choice is an error')
    completions.push(attempt.completion)
    const message = withUniqueCallIds(choice.message, conversation.messages())
    push(asAssistantMessage(message))
    const calls = findOpenCalls(conversation.messages())
    try {
      yield { kind: 'message', message, finish_reason: choice.finish_reason }
      if (message.hasToolCalls() && settings.autoHandleToolCalls) {
        if (round >= settings.maxRounds) return toFailedResult(completions, tooManyRoundsError(settings.maxRounds))
        yield* runToolCalls(calls, settings, signal, push)
      }
    } finally {
      if (settings.autoHandleToolCalls) closeOpenCalls(conversation)
    }
    yield* emitTrimmed(conversation)
    if (!message.hasToolCalls() || !settings.autoHandleToolCalls) {
      const { finish_reason } = choice
      return { success: true, message, finish_reason, completions, usage: sumUsage(completions), errors: [] }
    }
    if (signal.aborted) return toFailedResult(completions, ABORTED_ERROR)
  }
}

/** Answers every call that is still open, saying that it was not run. */
export function closeOpenCalls(conversation: Pick<TurnConversation, 'messages' | 'push'>): void {
  for (const call of findOpenCalls(conversation.messages()))
    conversation.push(OpenAIMessage.toolResult(call, NO_RESULT_TEXT))
}

const NO_RESULT_TEXT = 'Error: there is no result of this call.'

function* emitTrimmed(conversation: TurnConversation): Generator<ChatEvent> {
  const messages = conversation.trim()
  if (messages.length > 0) yield { kind: 'trimmed', messages }
}

/** What the user has seen stays. Calls go: nobody knows whether they were whole. */
function savePartialText(partial: OpenAIMessage | undefined, push: (message: OpenAIMessage) => void): void {
  if (!partial || partial.allText === '') return
  const { tool_calls: _, function_call: __, ...fields } = partial.toJSON()
  push(asAssistantMessage(new OpenAIMessage(fields)))
}

/** By the assistant, whoever the server says is speaking. */
function asAssistantMessage(message: OpenAIMessage): OpenAIMessage {
  message.role = 'assistant'
  return message
}

function toFailedResult(completions: readonly Completion[], error: ChatError, partial?: OpenAIMessage): ChatResult {
  return { success: false, errors: [error], completions, usage: sumUsage(completions), ...(partial && { partial }) }
}

function tooManyRoundsError(maxRounds: number): ChatError {
  return { kind: 'rounds', message: `the model still calls tools after ${maxRounds} rounds; resume to let it go on` }
}

function sumUsage(completions: readonly Completion[]): TurnUsage {
  const sum = (key: keyof TurnUsage): number =>
    completions.reduce((total, { usage }) => total + (numberOf(usage?.[key]) ?? 0), 0)
  return {
    prompt_tokens: sum('prompt_tokens'),
    completion_tokens: sum('completion_tokens'),
    total_tokens: sum('total_tokens'),
  }
}
