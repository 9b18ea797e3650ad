/** A turn: ask, run the tools that the model calls, ask again, until it has no more calls. */

import { numberOf } from '../../lib/object.ts'
import { OpenAIMessage } from '../openai-message.ts'
import type { Completion } from '../stream/completion.ts'
import { ABORTED, type ChatError } from './chat-error.ts'
import type { ChatEvent, ChatResult, TurnUsage } from './events.ts'
import { type AskSettings, ask } from './send/ask.ts'
import { openCalls, withUnusedIds } from './tools/open-calls.ts'
import { type CallSettings, runCalls } from './tools/run-calls.ts'
import type { ChatRequest } from './transport.ts'

export interface TurnSettings extends AskSettings, CallSettings {
  readonly autoHandleToolCalls: boolean
  readonly maxRounds: number
}

/** The part of a conversation that a turn sees. */
export interface Turning {
  messages(): readonly OpenAIMessage[]
  push(message: OpenAIMessage): void
  /** What is sent: the messages that fit, and all else that belongs to a request. */
  request(): ChatRequest
  /** @returns the messages that were too many and are gone */
  trim(): readonly OpenAIMessage[]
}

/** However it ends, also when its consumer stops: every call is answered, unless the caller wants to answer calls himself. */
export async function* runTurn(
  turning: Turning,
  settings: TurnSettings,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent, ChatResult> {
  const completions: Completion[] = []
  const push = (message: OpenAIMessage): void => turning.push(message)
  for (let round = 0; ; round++) {
    const asked = yield* ask(turning.request(), settings, signal)
    if ('error' in asked) {
      if (asked.error.kind === 'aborted') keepWords(asked.partial, push)
      return failed(completions, asked.error, asked.partial)
    }
    const [choice] = asked.completion.choices
    if (!choice) throw new Error('an answer without a choice is an error')
    completions.push(asked.completion)
    const message = withUnusedIds(choice.message, turning.messages())
    push(spoken(message))
    const calls = openCalls(turning.messages())
    try {
      yield { kind: 'message', message, finish_reason: choice.finish_reason }
      if (message.hasToolCalls() && settings.autoHandleToolCalls) {
        if (round >= settings.maxRounds) return failed(completions, tooManyRounds(settings.maxRounds))
        yield* runCalls(calls, settings, signal, push)
      }
    } finally {
      if (settings.autoHandleToolCalls) closeOpenCalls(turning)
    }
    yield* trimmed(turning)
    if (!message.hasToolCalls() || !settings.autoHandleToolCalls) {
      const { finish_reason } = choice
      return { success: true, message, finish_reason, completions, usage: usageOf(completions), errors: [] }
    }
    if (signal.aborted) return failed(completions, ABORTED)
  }
}

/** Answers every call that is still open, saying that it was not run. */
export function closeOpenCalls(turning: Pick<Turning, 'messages' | 'push'>): void {
  for (const call of openCalls(turning.messages())) turning.push(OpenAIMessage.toolResult(call, NOT_RUN))
}

const NOT_RUN = 'Error: there is no result of this call.'

function* trimmed(turning: Turning): Generator<ChatEvent> {
  const messages = turning.trim()
  if (messages.length > 0) yield { kind: 'trimmed', messages }
}

/** What the user has seen stays. Calls go: nobody knows whether they were whole. */
function keepWords(partial: OpenAIMessage | undefined, push: (message: OpenAIMessage) => void): void {
  if (!partial || partial.allText === '') return
  const { tool_calls: _, function_call: __, ...fields } = partial.toJSON()
  push(spoken(new OpenAIMessage(fields)))
}

/** By the assistant, whoever the server says is speaking. */
function spoken(message: OpenAIMessage): OpenAIMessage {
  message.role = 'assistant'
  return message
}

function failed(completions: readonly Completion[], error: ChatError, partial?: OpenAIMessage): ChatResult {
  return { success: false, errors: [error], completions, usage: usageOf(completions), ...(partial && { partial }) }
}

function tooManyRounds(most: number): ChatError {
  return { kind: 'rounds', message: `the model still calls tools after ${most} rounds; resume to let it go on` }
}

function usageOf(completions: readonly Completion[]): TurnUsage {
  const sum = (key: keyof TurnUsage): number =>
    completions.reduce((total, { usage }) => total + (numberOf(usage?.[key]) ?? 0), 0)
  return {
    prompt_tokens: sum('prompt_tokens'),
    completion_tokens: sum('completion_tokens'),
    total_tokens: sum('total_tokens'),
  }
}
