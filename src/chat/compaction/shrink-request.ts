/** What is done when a request is too large: the history is summed up, and where that is off or fails, less of it is sent. */
import { automaticStrategy } from '../../conversation/request/compact.ts'
import { phrase } from '../../model/phrase.ts'
import { findPromptFrom, type OutgoingRequest } from '../request/outgoing-request.ts'
import { findFittingStart } from '../request/request-size.ts'
import { chatErrorText } from '../turn/chat-error-text.ts'
import { type ChatSessionEvent, errorEvent, noticeEvent } from '../turn/chat-session-event.ts'
import type { JournalWriter } from '../turn/journal-writer.ts'
import type { TurnSetup } from '../turn/turn-setup.ts'
import type { compactHistory } from './compact.ts'
import { attachOpenQuestion } from './open-question.ts'

/** What is tried next. */
export type ShrinkMethod = 'sum up' | 'move'

export const firstShrinkMethod = (isOn: boolean): ShrinkMethod => (isOn ? 'sum up' : 'move')

export type ShrinkResult =
  | { readonly kind: 'smaller'; readonly next: ShrinkMethod }
  /** There is nothing left that could be left out. */
  | { readonly kind: 'smallest' }
  | { readonly kind: 'aborted' }

/** @param tokens that the request may have, as we count them */
export async function* shrinkRequest(
  writer: JournalWriter,
  setup: TurnSetup,
  outgoing: OutgoingRequest,
  method: ShrinkMethod,
  tokens: number,
  compact: typeof compactHistory,
  signal: AbortSignal,
): AsyncGenerator<ChatSessionEvent, ShrinkResult> {
  if (method === 'sum up' && writer.state.history.length > 0) {
    const strategy = automaticStrategy(outgoing.range[1] - outgoing.range[0])
    const done = yield* compact(writer, setup, { strategy, automatic: true }, signal)
    if (done.kind === 'summary') return { kind: 'smaller', next: 'move' }
    if (signal.aborted) return { kind: 'aborted' }
    if (done.kind === 'failed') {
      const { en, ja } = chatErrorText(done.error)
      yield errorEvent(phrase(`The conversation could not be summed up: ${en}`, `会話を要約できませんでした。${ja}`))
    }
  }
  return yield* moveRange(writer, outgoing, tokens)
}

function* moveRange(
  writer: JournalWriter,
  outgoing: OutgoingRequest,
  tokens: number,
): Generator<ChatSessionEvent, ShrinkResult> {
  const { history } = writer.state
  const [first, end] = outgoing.range
  if (first >= end) return { kind: 'smallest' }
  const fitting = findFittingStart(writer.state, outgoing, tokens)
  const start = fitting > first ? fitting : (findPromptFrom(history, first + 1) ?? end)
  const count = start - first
  const text = `${count} earlier exchange${count === 1 ? ' is' : 's are'} no longer sent: the model's window is full. They stay in the conversation.`
  const waiting = writer.state.next_message
  const hasPrompt = start < end && findPromptFrom(history, start) !== undefined
  const next = hasPrompt ? waiting : attachOpenQuestion(waiting, history.slice(0, start))
  writer.append(
    { event: 'window', range: [start, history.length] },
    { event: 'transcript', lines: [text] },
    ...(next === waiting ? [] : [{ event: 'next_message', message: next } as const]),
  )
  const ja = `モデルのウィンドウがいっぱいのため、古いやり取り ${count} 件はもう送りません。会話には残ります。`
  yield noticeEvent('range_moved', phrase(text, ja))
  return { kind: 'smaller', next: 'move' }
}
