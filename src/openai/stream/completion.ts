/** What a stream of deltas adds up to. The shape is that of an answer that came whole. */

import type { Fields } from '../../lib/unknown-values.ts'
import type { Open } from '../message.ts'
import type { OpenAIMessage } from '../openai-message.ts'

/** Why an answer ended. */
export type FinishReason = Open<'stop' | 'length' | 'tool_calls' | 'content_filter' | 'function_call'>

/** One of the answers that were asked for. */
export interface Choice {
  readonly index: number
  readonly message: OpenAIMessage
  /** Inferred from the message where the server gives none. */
  readonly finish_reason: FinishReason
  readonly [key: string]: unknown
}

/** The answer to a request, as far as it has come. */
export interface Completion {
  readonly id?: string
  readonly object: 'chat.completion'
  readonly created?: number
  readonly model?: string
  readonly choices: readonly Choice[]
  /** The server's last report; reports are never added up. */
  readonly usage?: Fields
  /** What the server said in the middle of the stream when it could not go on. */
  readonly error?: unknown
  readonly [key: string]: unknown
}

/** What one chunk adds, for who shows an answer while it comes. */
export type Piece =
  | { readonly kind: 'text' | 'reasoning' | 'refusal'; readonly choice: number; readonly text: string }
  | {
      readonly kind: 'call'
      readonly choice: number
      /** The call's position in `tool_calls`. */
      readonly call: number
      /** As far as it is known. */
      readonly name: string
      /** What was added to arguments or input. */
      readonly text: string
    }
