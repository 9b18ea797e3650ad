/** Sums the history up, with less and less of it while that is too large itself. */

import { newResponse } from '../../conversation/new-message.ts'
import type { CompactStrategy } from '../../conversation/request/compact.ts'
import { createSummaryRequest, nextStrategy } from '../../conversation/request/compact.ts'
import type { Sendable } from '../../conversation/request/send.ts'
import type { ConversationState } from '../../conversation/state.ts'
import { byteLength } from '../../conversation/truncate.ts'
import { ABORTED_ERROR, type ChatError } from '../../openai/chat/chat-error.ts'
import { tokensOfText } from '../../openai/chat/send/estimate-tokens.ts'
import { type CompletionAttempt, requestCompletion } from '../../openai/chat/send/request-completion.ts'
import { splitThinking } from '../../openai/stream/reasoning.ts'
import { renderOpenAIMessages } from '../request/openai-messages.ts'
import { rangeStart } from '../request/outgoing-request.ts'
import type { ChatSessionEvent } from '../turn/chat-session-event.ts'
import { isContextOverflow } from '../turn/context-overflow.ts'
import type { JournalWriter } from '../turn/journal-writer.ts'
import { requestBodyOf } from '../turn/request-answer.ts'
import { estimatedUsage, reportedUsage } from '../turn/request-usage.ts'
import { Stopwatch } from '../turn/stopwatch.ts'
import type { TurnSetup } from '../turn/turn-setup.ts'
import { attachOpenQuestion } from './open-question.ts'

export interface CompactOptions {
  readonly strategy: CompactStrategy
  /** What the user wants of the summary. */
  readonly prompt?: string
  readonly automatic: boolean
}

export type CompactResult =
  | { readonly kind: 'summary'; readonly text: string }
  | { readonly kind: 'too short' }
  | { readonly kind: 'failed'; readonly error: ChatError }

/** The waiting message stays as it is. When it fails, so does the history. */
export async function* compactHistory(
  writer: JournalWriter,
  setup: TurnSetup,
  options: CompactOptions,
  signal: AbortSignal,
): AsyncGenerator<ChatSessionEvent, CompactResult> {
  yield { kind: 'compacting', automatic: options.automatic }
  const part = sentHistory(writer.state)
  for (let strategy: CompactStrategy | undefined = options.strategy; strategy; ) {
    const request = createSummaryRequest(part, writer.env(), strategy, options.prompt)
    if (!request) return { kind: 'too short' }
    const answer = yield* requestSummary(request, writer, setup, signal)
    if (answer.kind === 'summary') {
      const keep = Math.min(strategy.messagesToExclude, part.history.length)
      const waiting = writer.state.next_message
      const next = attachOpenQuestion(waiting, part.history.slice(0, part.history.length - keep))
      writer.append(
        { event: 'summary', summary: [answer.text, answer.metadata], keep },
        { event: 'window', range: [0, keep] },
        ...(next === waiting ? [] : [{ event: 'next_message', message: next } as const]),
      )
      yield { kind: 'compacted', summary: answer.text, kept: keep }
      return { kind: 'summary', text: answer.text }
    }
    strategy = isContextOverflow(answer.error) ? nextStrategy(strategy, part.history.length) : undefined
    if (strategy === undefined) return compactionFailed(writer, answer.error)
  }
  return compactionFailed(writer, ABORTED_ERROR)
}

function compactionFailed(writer: JournalWriter, error: ChatError): CompactResult {
  if (error.kind !== 'aborted') writer.append({ event: 'failed', what: 'compaction', reason: error.message })
  return { kind: 'failed', error }
}

/** What lies before the range was summed up before, or was left out because it was too large. */
function sentHistory(state: ConversationState): ConversationState {
  return { ...state, history: state.history.slice(rangeStart(state)) }
}

type SummaryResult =
  | { readonly kind: 'summary'; readonly text: string; readonly metadata: ReturnType<Stopwatch['metadata']> }
  | { readonly kind: 'error'; readonly error: ChatError }

/** Asks for a summary; what it used is written down, whatever comes of it. */
export async function* requestSummary(
  request: Sendable,
  writer: JournalWriter,
  { server }: TurnSetup,
  signal: AbortSignal,
): AsyncGenerator<ChatSessionEvent, SummaryResult> {
  const rendered = renderOpenAIMessages(request, { profile: server.profile, hasContext: false })
  const body = { ...requestBodyOf(server, rendered), stream_options: { include_usage: true } }
  const watch = new Stopwatch(writer.clock.now, byteLength(request.user_input_message.content))
  const { transport, maxRetries, model } = server
  const asking = requestCompletion(body, { transport, clock: writer.clock, maxRetries, streams: true }, signal)
  let answer: CompletionAttempt
  for (;;) {
    const { value, done } = await asking.next()
    if (done) {
      answer = value
      break
    }
    if (value.kind === 'text') watch.piece(value.text)
    if (value.kind === 'retry') yield value
  }
  if (!('completion' in answer)) return { kind: 'error', error: answer.error }
  const message = answer.completion.choices[0]?.message
  const text = splitThinking(message?.allText ?? '').text.trim()
  const used = reportedUsage(answer.completion) ?? estimatedUsage(tokensOfText(JSON.stringify(body.messages)), text)
  writer.append({ event: 'usage', model, ...used, purpose: 'compaction' })
  yield { kind: 'usage', ...used, purpose: 'compaction' }
  if (text === '') return { kind: 'error', error: { kind: 'garbage', message: 'the model gave no summary' } }
  const assistant = newResponse(writer.newId(), text)
  const metadata = watch.metadata({ assistant, requestId: answer.completion.id ?? null, model, tags: ['Compact'] })
  return { kind: 'summary', text, metadata }
}
