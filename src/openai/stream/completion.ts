/** The result of a stream of deltas, in the form of an answer that was not streamed. */

import type { Fields } from '../../lib/unknown-values.ts'
import type { Open } from '../message.ts'
import type { OpenAIMessage } from '../openai-message.ts'

/** Why an answer ended. */
export type FinishReason = Open<'stop' | 'length' | 'tool_calls' | 'content_filter' | 'function_call'>

/** One of the requested answers. */
export interface Choice {
  readonly index: number
  readonly message: OpenAIMessage
  /** Derived from the message if the server sends none. */
  readonly finish_reason: FinishReason
  readonly [key: string]: unknown
}

/** The answer to a request so far. */
export interface Completion {
  readonly id?: string
  readonly object: 'chat.completion'
  readonly created?: number
  readonly model?: string
  readonly choices: readonly Choice[]
  /** The server's last report. Reports are not added up. */
  readonly usage?: Fields
  /** Error that the server sent in the middle of the stream. */
  readonly error?: unknown
  readonly [key: string]: unknown
}

/** What one chunk adds, for display. */
export type Piece =
  | { readonly kind: 'text' | 'reasoning' | 'refusal'; readonly choice: number; readonly text: string }
  | {
      readonly kind: 'call'
      readonly choice: number
      /** Index in `tool_calls`. */
      readonly call: number
      /** The name so far. */
      readonly name: string
      /** Text added to arguments or input. */
      readonly text: string
    }
