/** Sums the history up, with less and less of it while that is too large itself. */

import { newResponse } from '../../conversation/create.ts'
import type { CompactStrategy } from '../../conversation/request/compact.ts'
import { createSummaryRequest, nextStrategy } from '../../conversation/request/compact.ts'
import type { Sendable } from '../../conversation/request/send.ts'
import type { ConversationState } from '../../conversation/state.ts'
import { byteLength } from '../../conversation/truncate.ts'
import { ABORTED, type ChatError } from '../../openai/chat/chat-error.ts'
import { type Asked, ask } from '../../openai/chat/send/ask.ts'
import { tokensOfText } from '../../openai/chat/send/tokens.ts'
import { splitThinking } from '../../openai/stream/reasoning.ts'
import { openAIMessages } from '../request/openai-messages.ts'
import { startOf } from '../request/sending.ts'
import { bodyOf } from '../turn/answer.ts'
import type { Desk } from '../turn/desk.ts'
import type { TalkEvent } from '../turn/event.ts'
import type { Gear } from '../turn/gear.ts'
import { isOverflow } from '../turn/overflow.ts'
import { Stopwatch } from '../turn/stopwatch.ts'
import { countedUsage, estimatedUsage } from '../turn/usage.ts'
import { withQuestion } from './question.ts'

export interface CompactWish {
  readonly strategy: CompactStrategy
  /** What the user wants of the summary. */
  readonly prompt?: string
  readonly automatic: boolean
}

export type Compacted =
  | { readonly kind: 'summary'; readonly text: string }
  | { readonly kind: 'too short' }
  | { readonly kind: 'failed'; readonly error: ChatError }

/** The waiting message stays as it is. When it fails, so does the history. */
export async function* compactHistory(
  desk: Desk,
  gear: Gear,
  wish: CompactWish,
  signal: AbortSignal,
): AsyncGenerator<TalkEvent, Compacted> {
  yield { kind: 'compacting', automatic: wish.automatic }
  const part = sentPart(desk.state)
  for (let strategy: CompactStrategy | undefined = wish.strategy; strategy; ) {
    const request = createSummaryRequest(part, desk.env(), strategy, wish.prompt)
    if (!request) return { kind: 'too short' }
    const asked = yield* summaryOf(request, desk, gear, signal)
    if (asked.kind === 'summary') {
      const keep = Math.min(strategy.messagesToExclude, part.history.length)
      const waiting = desk.state.next_message
      const next = withQuestion(waiting, part.history.slice(0, part.history.length - keep))
      desk.tell(
        { event: 'summary', summary: [asked.text, asked.metadata], keep },
        { event: 'window', range: [0, keep] },
        ...(next === waiting ? [] : [{ event: 'next_message', message: next } as const]),
      )
      yield { kind: 'compacted', summary: asked.text, kept: keep }
      return { kind: 'summary', text: asked.text }
    }
    strategy = isOverflow(asked.error) ? nextStrategy(strategy, part.history.length) : undefined
    if (strategy === undefined) return failed(desk, asked.error)
  }
  return failed(desk, ABORTED)
}

function failed(desk: Desk, error: ChatError): Compacted {
  if (error.kind !== 'aborted') desk.tell({ event: 'failed', what: 'compaction', reason: error.message })
  return { kind: 'failed', error }
}

/** What lies before the range was summed up before, or was left out because it was too large. */
function sentPart(state: ConversationState): ConversationState {
  return { ...state, history: state.history.slice(startOf(state)) }
}

type Summed =
  | { readonly kind: 'summary'; readonly text: string; readonly metadata: ReturnType<Stopwatch['metadata']> }
  | { readonly kind: 'error'; readonly error: ChatError }

/** Asks for a summary; what it used is written down, whatever comes of it. */
export async function* summaryOf(
  request: Sendable,
  desk: Desk,
  { server }: Gear,
  signal: AbortSignal,
): AsyncGenerator<TalkEvent, Summed> {
  const rendered = openAIMessages(request, { profile: server.profile, hasContext: false })
  const body = { ...bodyOf(server, rendered), stream_options: { include_usage: true } }
  const watch = new Stopwatch(desk.clock.now, byteLength(request.user_input_message.content))
  const { transport, maxRetries, model } = server
  const asking = ask(body, { transport, clock: desk.clock, maxRetries, streams: true }, signal)
  let asked: Asked
  for (;;) {
    const { value, done } = await asking.next()
    if (done) {
      asked = value
      break
    }
    if (value.kind === 'text') watch.piece(value.text)
    if (value.kind === 'retry') yield value
  }
  if (!('completion' in asked)) return { kind: 'error', error: asked.error }
  const message = asked.completion.choices[0]?.message
  const text = splitThinking(message?.allText ?? '').text.trim()
  const used = countedUsage(asked.completion) ?? estimatedUsage(tokensOfText(JSON.stringify(body.messages)), text)
  desk.tell({ event: 'usage', model, ...used, purpose: 'compaction' })
  yield { kind: 'usage', ...used, purpose: 'compaction' }
  if (text === '') return { kind: 'error', error: { kind: 'garbage', message: 'the model gave no summary' } }
  const assistant = newResponse(desk.newId(), text)
  const metadata = watch.metadata({ assistant, requestId: asked.completion.id ?? null, model, tags: ['Compact'] })
  return { kind: 'summary', text, metadata }
}
