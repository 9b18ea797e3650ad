/** What a turn tells while it runs, and how it ends. */

import type { Fields } from '../../lib/unknown-values.ts'
import type { ToolCall } from '../message.ts'
import type { OpenAIMessage } from '../openai-message.ts'
import type { Completion, FinishReason } from '../stream/completion.ts'
import type { ChatError } from './chat-error.ts'

/** How a call came to its answer. Every answer is a tool message, whatever the outcome. */
export type ToolOutcome =
  | 'success'
  /** It threw. */
  | 'error'
  | 'timeout'
  | 'unknown_tool'
  /** What the model wrote is no JSON object. */
  | 'bad_arguments'
  /** By the confirm hook. */
  | 'refused'
  /** The turn was aborted before the tool had ended. */
  | 'aborted'

export type ChatEvent =
  /** The answer while it comes; where it does not come in pieces, all at once. */
  | { readonly kind: 'text' | 'reasoning' | 'refusal'; readonly text: string }
  /** A call while it comes. */
  | { readonly kind: 'call'; readonly call: number; readonly name: string; readonly text: string }
  /** The answer is whole and in the history. */
  | { readonly kind: 'message'; readonly message: OpenAIMessage; readonly finish_reason: FinishReason }
  | { readonly kind: 'tool_started'; readonly call: ToolCall; readonly name: string; readonly arguments: Fields }
  /** The result is in the history. */
  | {
      readonly kind: 'tool_finished'
      readonly call: ToolCall
      readonly name: string
      readonly outcome: ToolOutcome
      readonly message: OpenAIMessage
    }
  /** What came of the answer so far is void: it is asked for again. */
  | { readonly kind: 'retry'; readonly error: ChatError; readonly attempt: number; readonly waitMs: number }
  /** These have left the history, because it was too long. */
  | { readonly kind: 'trimmed'; readonly messages: readonly OpenAIMessage[] }
  | { readonly kind: 'done'; readonly result: ChatSuccess }
  | { readonly kind: 'failed'; readonly result: ChatFailed }

interface Turned {
  /** Every answer that was whole, with what its server said of it; several where tools were run. */
  readonly completions: readonly Completion[]
  /** Added up over these answers, as far as servers report it. Streams report it if `stream_options` asks them to. */
  readonly usage: TurnUsage
}

export interface TurnUsage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
}

export interface ChatSuccess extends Turned {
  readonly success: true
  /** The last answer. Where tools are not run automatically, it may hold calls. */
  readonly message: OpenAIMessage
  readonly finish_reason: FinishReason
  readonly errors: readonly []
}

export interface ChatFailed extends Turned {
  readonly success: false
  readonly errors: readonly [ChatError, ...ChatError[]]
  /** What had come of the answer that failed, if anything. */
  readonly partial?: OpenAIMessage
}

export type ChatResult = ChatSuccess | ChatFailed
