/** What a conversation is made with, and what one prompt may ask for. */

import type { OpenAIMessage } from '../openai-message.ts'
import type { Profile, ProfileName } from '../profile.ts'
import type { Clock } from './clock.ts'
import type { ChatEvent, ChatFailed, ChatResult, ChatSuccess } from './events.ts'
import type { ChatParameters, ChatSettings } from './settings.ts'
import type { Confirm } from './tools/run-calls.ts'
import type { ToolSources } from './tools/tool-registry.ts'
import type { ChatTransport } from './transport.ts'

export interface ChatOptions extends Partial<ChatSettings> {
  readonly transport: ChatTransport
  /** `tools` among them are registered. */
  readonly parameters: ChatParameters
  readonly systemPrompt?: string | OpenAIMessage
  readonly tools?: ToolSources
  /** What the server takes; `openai` unless told. */
  readonly profile?: ProfileName | Profile
  /** Asked before each call is run. */
  readonly confirm?: Confirm
  /** The model's own counter, where an estimate will not do. */
  readonly countTokens?: (message: OpenAIMessage) => number
  readonly clock?: Clock
}

export interface StreamOptions {
  /** Ends the turn at any moment; every call gets its answer all the same. */
  readonly signal?: AbortSignal
}

/** Called in this order: `onData` for each event, `onResponse` or `onError`, `onTerminate`. */
export interface PromptOptions extends StreamOptions {
  /** Whether the answer is to come in pieces; it does where `onData` is given. */
  readonly stream?: boolean
  readonly onData?: (event: ChatEvent) => void
  readonly onResponse?: (result: ChatSuccess) => void
  readonly onError?: (result: ChatFailed) => void
  readonly onTerminate?: (result: ChatResult) => void
}

/** Lets a turn run to its end, and tells who asked for it. */
export async function runTurnToEnd(turn: AsyncGenerator<ChatEvent>, options: PromptOptions): Promise<ChatResult> {
  let result: ChatResult | undefined
  for await (const event of turn) {
    options.onData?.(event)
    if (event.kind === 'done' || event.kind === 'failed') result = event.result
  }
  if (!result) throw new Error('a turn ends with done or failed')
  if (result.success) options.onResponse?.(result)
  else options.onError?.(result)
  options.onTerminate?.(result)
  return result
}
