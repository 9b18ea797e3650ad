/** Writes a conversation state, or any one of its types, as the original program does. */

import { writeMarkedJson } from '../../lib/json/lossless.ts'
import type { ConversationState } from '../state.ts'
import type { Codec } from './codec.ts'
import { conversationState } from './state.ts'

export interface WriteOptions {
  /** `compact` is what the database holds, `pretty` what `/save` writes: two spaces, no newline at the end. */
  readonly style?: 'compact' | 'pretty'
  /** `known` leaves out everything the original program does not know, so that it loads the result. */
  readonly keep?: 'all' | 'known'
}

export function writeState(state: ConversationState, options: WriteOptions = {}): string {
  return writeAs(conversationState, state, options)
}

/** Any type of the model, by its codec. */
export function writeAs<T>(codec: Codec<T>, value: T, options: WriteOptions = {}): string {
  const keep = options.keep ?? 'all'
  return writeMarkedJson((marks) => codec.lower(value, { keep, marks }), options.style === 'pretty' ? 2 : 0)
}
