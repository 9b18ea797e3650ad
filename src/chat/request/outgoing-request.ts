/** What of a conversation is sent now. The history itself loses nothing by it: only the range says what goes out. */
import { MAX_CONVERSATION_STATE_HISTORY_LEN } from '../../conversation/limits.ts'
import type { UserMessage } from '../../conversation/message.ts'
import type { History } from '../../conversation/record.ts'
import { hasToolUseResults } from '../../conversation/render.ts'
import { asSendable, type Sendable, type SendInput } from '../../conversation/request/send.ts'
import type { ConversationState } from '../../conversation/state.ts'

export interface OutgoingRequest {
  readonly request: Sendable
  /** The waiting message as it is sent: mended where the history asks for it, with what hooks said. */
  readonly next: UserMessage
  readonly range: readonly [start: number, end: number]
  /** Bytes of the context message; null where there is none. */
  readonly contextBytes: number | null
}

/** Room for the next message, its answer and the context pair. */
const SPARE_MESSAGES = 6

/** Nothing when no message waits. */
export function buildOutgoingRequest(state: ConversationState, input: SendInput): OutgoingRequest | undefined {
  const { history } = state
  const start = limitHistory(history, rangeStart(state))
  // Within a window of its own, so that what lies before it neither counts nor costs.
  const part: ConversationState = {
    ...state,
    history: history.slice(start),
    valid_history_range: [0, history.length - start],
    context_message_length: null,
  }
  const { state: sent, request } = asSendable(part, input)
  if (!request || !sent.next_message) return undefined
  const bytes = sent.context_message_length
  return {
    request,
    next: sent.next_message,
    range: [start, history.length],
    contextBytes: bytes === null ? null : Number(bytes),
  }
}

/** Where the range begins; a range of another history counts from its beginning. */
export function rangeStart({ history, valid_history_range: [start] }: ConversationState): number {
  const at = Number(start)
  return at >= 0 && at <= history.length ? at : 0
}

function limitHistory(history: History, start: number): number {
  const maxEntries = Math.floor((MAX_CONVERSATION_STATE_HISTORY_LEN - SPARE_MESSAGES) / 2)
  if (history.length - start <= maxEntries) return start
  return findPromptFrom(history, history.length - maxEntries) ?? history.length
}

/** The first entry from there on that begins with what somebody said, and not with the results of tools. */
export function findPromptFrom(history: History, from: number): number | undefined {
  for (let at = from; at < history.length; at++) {
    const entry = history.at(at)
    if (entry && !hasToolUseResults(entry.user)) return at
  }
  return undefined
}
