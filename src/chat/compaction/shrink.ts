/** What is done when a request is too large: the history is summed up, and where that is off or fails, less of it is sent. */
import { automaticStrategy } from '../../conversation/request/compact.ts'
import { phrase } from '../../model/phrase.ts'
import { fittingStart } from '../request/fit.ts'
import { promptFrom, type Sending } from '../request/sending.ts'
import type { Desk } from '../turn/desk.ts'
import { error, notice, type TalkEvent } from '../turn/event.ts'
import { faultOf } from '../turn/fault.ts'
import type { Gear } from '../turn/gear.ts'
import type { compactHistory } from './compact.ts'
import { withQuestion } from './question.ts'

/** What is tried next. */
export type Shrinking = 'sum up' | 'move'

export const automatic = (isOn: boolean): Shrinking => (isOn ? 'sum up' : 'move')

export type Shrunk =
  | { readonly kind: 'smaller'; readonly next: Shrinking }
  /** There is nothing left that could be left out. */
  | { readonly kind: 'smallest' }
  | { readonly kind: 'aborted' }

/** @param tokens that the request may have, as we count them */
export async function* shrink(
  desk: Desk,
  gear: Gear,
  sending: Sending,
  how: Shrinking,
  tokens: number,
  compact: typeof compactHistory,
  signal: AbortSignal,
): AsyncGenerator<TalkEvent, Shrunk> {
  if (how === 'sum up' && desk.state.history.length > 0) {
    const strategy = automaticStrategy(sending.range[1] - sending.range[0])
    const done = yield* compact(desk, gear, { strategy, automatic: true }, signal)
    if (done.kind === 'summary') return { kind: 'smaller', next: 'move' }
    if (signal.aborted) return { kind: 'aborted' }
    if (done.kind === 'failed') {
      const { en, ja } = faultOf(done.error)
      yield error(phrase(`The conversation could not be summed up: ${en}`, `会話を要約できませんでした。${ja}`))
    }
  }
  return yield* moveRange(desk, sending, tokens)
}

function* moveRange(desk: Desk, sending: Sending, tokens: number): Generator<TalkEvent, Shrunk> {
  const { history } = desk.state
  const [first, end] = sending.range
  if (first >= end) return { kind: 'smallest' }
  const fitting = fittingStart(desk.state, sending, tokens)
  const start = fitting > first ? fitting : (promptFrom(history, first + 1) ?? end)
  const count = start - first
  const text = `${count} earlier exchange${count === 1 ? ' is' : 's are'} no longer sent: the model's window is full. They stay in the conversation.`
  const waiting = desk.state.next_message
  const isAsked = start < end && promptFrom(history, start) !== undefined
  const next = isAsked ? waiting : withQuestion(waiting, history.slice(0, start))
  desk.tell(
    { event: 'window', range: [start, history.length] },
    { event: 'transcript', lines: [text] },
    ...(next === waiting ? [] : [{ event: 'next_message', message: next } as const]),
  )
  const ja = `モデルのウィンドウがいっぱいのため、古いやり取り ${count} 件はもう送りません。会話には残ります。`
  yield notice('range_moved', phrase(text, ja))
  return { kind: 'smaller', next: 'move' }
}
