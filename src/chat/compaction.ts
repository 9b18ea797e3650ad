/** Makes a request fit the context window: summarizes the history, or sends less of it. */

import { automaticStrategy, type CompactStrategy, createSummaryRequest, nextStrategy } from '../conversation/compact.ts'
import { CONTEXT_ENTRY_END_HEADER, CONTEXT_ENTRY_START_HEADER } from '../conversation/limits.ts'
import type { UserMessage } from '../conversation/message.ts'
import { promptOf, toolUseResultsOf } from '../conversation/message-text.ts'
import { newResponse } from '../conversation/new-message.ts'
import type { History } from '../conversation/record.ts'
import type { Sendable } from '../conversation/request.ts'
import type { ConversationState } from '../conversation/state.ts'
import { phrase } from '../model/phrase.ts'
import { byteLength } from '../model/token-estimate.ts'
import { mapEvents, requestCompletion } from '../openai/chat/loop.ts'
import { tokensOfText } from '../openai/chat/request.ts'
import { ABORTED_ERROR, type ChatError } from '../openai/chat/transport.ts'
import { splitThinking } from '../openai/stream/reasoning.ts'
import { type ChatSessionEvent, chatErrorText, errorText, noticeEvent, retryEvent, usageEvent } from './events.ts'
import type { JournalWriter } from './journal/journal-file.ts'
import type { ChatSetup } from './setup.ts'
import { estimatedUsage, isContextOverflow, reportedUsage, requestBodyOf, Stopwatch } from './turn/answer.ts'
import {
  findFittingStart,
  findPromptFrom,
  type OutgoingRequest,
  rangeStart,
  renderOpenAIMessages,
} from './turn/request.ts'

const QUESTION_HEADING = 'This is still to be answered:\n'

/**
 * Adds the question to the waiting message if the request no longer contains it.
 * @param dropped entries that are no longer sent
 */
function attachOpenQuestion(next: UserMessage | null, dropped: History): UserMessage | null {
  if (!next || promptOf(next) !== undefined || !toolUseResultsOf(next)) return next
  const question = findLastPrompt(dropped)
  if (question === undefined || next.additional_context.includes(QUESTION_HEADING)) return next
  const context = `${CONTEXT_ENTRY_START_HEADER}${QUESTION_HEADING}${question}\n${CONTEXT_ENTRY_END_HEADER}`
  return { ...next, additional_context: context + next.additional_context }
}

function findLastPrompt(history: History): string | undefined {
  for (let at = history.length - 1; at >= 0; at--) {
    const entry = history.at(at)
    const prompt = entry && promptOf(entry.user)
    if (prompt !== undefined) return prompt
  }
  return undefined
}

interface CompactOptions {
  readonly strategy: CompactStrategy
  readonly prompt?: string
  readonly automatic: boolean
}

type CompactResult =
  | { readonly kind: 'summary'; readonly text: string }
  | { readonly kind: 'too short' }
  | { readonly kind: 'failed'; readonly error: ChatError }

/** Keeps the waiting message. A failure keeps the history. */
export async function* compactHistory(
  writer: JournalWriter,
  setup: ChatSetup,
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

/** Without the entries before the range, which were summarized or left out. */
function sentHistory(state: ConversationState): ConversationState {
  return { ...state, history: state.history.slice(rangeStart(state)) }
}

type SummaryResult =
  | { readonly kind: 'summary'; readonly text: string; readonly metadata: ReturnType<Stopwatch['metadata']> }
  | { readonly kind: 'error'; readonly error: ChatError }

export async function* requestSummary(
  request: Sendable,
  writer: JournalWriter,
  { server }: ChatSetup,
  signal: AbortSignal,
): AsyncGenerator<ChatSessionEvent, SummaryResult> {
  const rendered = renderOpenAIMessages(request, { profile: server.profile, hasContext: false })
  const body = { ...requestBodyOf(server, rendered), stream_options: { include_usage: true } }
  const watch = new Stopwatch(writer.clock.now, byteLength(request.user_input_message.content))
  const { transport, maxRetries, model } = server
  const sending = { transport, clock: writer.clock, maxRetries, streams: true }
  const answer = yield* mapEvents(requestCompletion(body, sending, signal), (event) => {
    if (event.kind === 'text') watch.piece(event.text)
    return event.kind === 'retry' ? [retryEvent(event.error, event.attempt, event.waitMs)] : []
  })
  if (!('completion' in answer)) return { kind: 'error', error: answer.error }
  const message = answer.completion.choices[0]?.message
  const text = splitThinking(message?.allText ?? '').text.trim()
  const used = reportedUsage(answer.completion) ?? estimatedUsage(tokensOfText(JSON.stringify(body.messages)), text)
  writer.append({ event: 'usage', model, ...used, purpose: 'compaction' })
  yield usageEvent(used.usage, used.estimated, 'compaction')
  if (text === '') return { kind: 'error', error: { kind: 'garbage', message: 'the model gave no summary' } }
  const assistant = newResponse(writer.newId(), text)
  const metadata = watch.metadata({ assistant, requestId: answer.completion.id ?? null, model, tags: ['Compact'] })
  return { kind: 'summary', text, metadata }
}

export type ShrinkMethod = 'summarize' | 'move'

export const firstShrinkMethod = (isOn: boolean): ShrinkMethod => (isOn ? 'summarize' : 'move')

type ShrinkResult =
  | { readonly kind: 'smaller'; readonly next: ShrinkMethod }
  /** Nothing else can be left out. */
  | { readonly kind: 'smallest' }
  | { readonly kind: 'aborted' }

/** @param tokens limit of the request, as we estimate tokens */
export async function* shrinkRequest(
  writer: JournalWriter,
  setup: ChatSetup,
  outgoing: OutgoingRequest,
  method: ShrinkMethod,
  tokens: number,
  signal: AbortSignal,
): AsyncGenerator<ChatSessionEvent, ShrinkResult> {
  if (method === 'summarize' && writer.state.history.length > 0) {
    const strategy = automaticStrategy(outgoing.range[1] - outgoing.range[0])
    const done = yield* compactHistory(writer, setup, { strategy, automatic: true }, signal)
    if (done.kind === 'summary') return { kind: 'smaller', next: 'move' }
    if (signal.aborted) return { kind: 'aborted' }
    if (done.kind === 'failed') {
      const { en, ja } = chatErrorText(done.error)
      yield errorText(`Could not summarize the conversation: ${en}`, `会話を要約できませんでした。${ja}`)
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
