/** A turn: sends the waiting message, runs tools and sends their results, until the model calls no more tools. */

import { calcMaxContextFilesSize } from '../../conversation/budget.ts'
import type { UntimedEvent } from '../../conversation/journal/event.ts'
import { TOOL_USE_INTERRUPTED, TOOL_USES_INTERRUPTED_REPLY } from '../../conversation/limits.ts'
import type { AssistantToolUse } from '../../conversation/message.ts'
import { newCancelledToolUses, newResponse } from '../../conversation/new-message.ts'
import type { JsonValue } from '../../lib/json/lossless.ts'
import type { ChatEnding } from '../../model/api/chat.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import {
  type CompletionAttempt,
  mapEvents,
  type RequestEvent,
  runRounds,
  type TurnSteps,
} from '../../openai/chat/loop.ts'
import type { ChatError } from '../../openai/chat/transport.ts'
import type { OpenAIMessage } from '../../openai/openai-message.ts'
import { firstShrinkMethod, type ShrinkMethod, shrinkRequest } from '../compaction.ts'
import { explainChatError, withoutCommands } from '../endpoint/explain-error.ts'
import { knownContextWindow, toModelInfo } from '../endpoint/models.ts'
import { type ChatSessionEvent, chatErrorText, endedEvent, entryEvent, errorText, noticeEvent } from '../events.ts'
import type { JournalWriter } from '../journal/journal-file.ts'
import type { ChatSetup } from '../setup.ts'
import { AnswerRecorder, isContextOverflow, omittedNotice, requestBodyOf } from './answer.ts'
import {
  buildOutgoingRequest,
  contextWindowTokens,
  nextTokenLimit,
  type OutgoingRequest,
  renderOpenAIMessages,
  requestTokens,
} from './request.ts'
import { type AskConsent, planTools, runTools } from './tools.ts'
import { TurnBudget } from './turn-budget.ts'

interface TurnEnd {
  readonly how: ChatEnding
  readonly error?: ChatError
  readonly reason?: Phrase
}

/** Failures are events. Throws only if the journal cannot be written. */
export async function* runSessionTurn(
  writer: JournalWriter,
  setup: ChatSetup,
  ask: AskConsent,
  signal: AbortSignal,
): AsyncGenerator<ChatSessionEvent, void> {
  const { spending } = setup
  const budget = new TurnBudget(setup.settings.limits, spending)
  spending.beginTurn()
  const { transport, maxRetries } = setup.server
  const settings = { transport, clock: writer.clock, maxRetries, streams: true }
  const rounds = runRounds(new SessionTurn(writer, setup, budget, ask, signal), settings, signal)
  const ended = yield* mapEvents(rounds, (event) => {
    budget.note(event)
    spending.note(event, setup.server.model, writer.utcNow())
    return [event]
  })
  if (!setup.isSubAgent) yield* setup.services.afterTurn(signal)
  yield endedEvent(ended.how, ended.error, ended.reason)
}

interface SentRequest {
  readonly outgoing: OutgoingRequest
  readonly tokens: number
  readonly messages: readonly OpenAIMessage[]
  readonly recorder: AnswerRecorder
}

/** The steps of a turn of the chat program: limits, context, shrinking, journal, permissions. */
class SessionTurn implements TurnSteps<ChatSessionEvent, TurnEnd> {
  readonly #writer: JournalWriter
  readonly #setup: ChatSetup
  readonly #budget: TurnBudget
  readonly #ask: AskConsent
  readonly #signal: AbortSignal
  #shrinking: ShrinkMethod
  #sent: SentRequest | undefined

  constructor(writer: JournalWriter, setup: ChatSetup, budget: TurnBudget, ask: AskConsent, signal: AbortSignal) {
    this.#writer = writer
    this.#setup = setup
    this.#budget = budget
    this.#ask = ask
    this.#signal = signal
    this.#shrinking = firstShrinkMethod(setup.settings.autoCompact)
  }

  async *prepare(): ReturnType<TurnSteps<ChatSessionEvent, TurnEnd>['prepare']> {
    const writer = this.#writer
    const { server } = this.#setup
    const limit = this.#budget.findReachedLimit()
    if (limit) return { end: yield* stopAtLimit(writer, this.#setup, limit) }
    const window = contextWindowTokens(writer.state)
    const context = await this.#setup.collectContext(calcMaxContextFilesSize(window), this.#signal)
    const { notices, ...requestContext } = context
    yield* notices
    const outgoing = buildOutgoingRequest(writer.state, { ...requestContext, env: writer.env() })
    if (this.#signal.aborted) return { end: { how: 'interrupted' } }
    if (!outgoing) return { end: { how: 'answered' } }
    const tokens = requestTokens(writer.state, outgoing)
    if (tokens > window && outgoing.range[1] > outgoing.range[0]) {
      const shrunk = yield* this.#shrink(outgoing, window)
      if (shrunk !== 'smallest') return shrunk
    }
    writer.append(...stateChanges(writer, outgoing))
    yield { kind: 'started', model: server.model, tokens, window }
    const rendered = renderOpenAIMessages(outgoing.request, {
      profile: server.profile,
      hasContext: outgoing.contextBytes !== null,
      documents: this.#setup.documentsOf(outgoing.next),
      reasoning: reasoningOfConversation(writer),
    })
    if (rendered.omitted > 0) yield omittedNotice(rendered.omitted, server)
    const recorder = new AnswerRecorder(writer, server, outgoing.next, tokens)
    this.#sent = { outgoing, tokens, messages: rendered.messages, recorder }
    return { request: { ...requestBodyOf(server, rendered), stream_options: { include_usage: true } } }
  }

  toEvents(event: RequestEvent): Iterable<ChatSessionEvent> {
    return this.#current.recorder.recordPiece(event)
  }

  async *onResult(result: CompletionAttempt): AsyncGenerator<ChatSessionEvent, TurnEnd | undefined> {
    if ('error' in result) return yield* this.#onFailure(result.error, result.partial)
    const { recorder, messages } = this.#current
    const { events, isRefused } = recorder.recordAnswer(result.completion, messages)
    yield* events
    this.#shrinking = firstShrinkMethod(this.#setup.settings.autoCompact)
    const uses = lastToolUses(this.#writer)
    if (uses.length === 0 && isRefused)
      return { how: 'refused', reason: this.#setup.settings.attended ? REFUSED : withoutCommands(REFUSED) }
    if (uses.length === 0) return { how: 'answered' }
    this.#budget.startCalls(uses)
    return yield* useTools(uses, this.#writer, this.#setup, this.#ask, this.#signal)
  }

  async *#onFailure(
    error: ChatError,
    partial: OpenAIMessage | undefined,
  ): AsyncGenerator<ChatSessionEvent, TurnEnd | undefined> {
    const { outgoing, tokens, recorder } = this.#current
    const next = this.#setup.server.fallback?.[0]
    const hasText = (partial?.allText ?? '') !== ''
    if (next !== undefined && !hasText && canFallBack(error)) return yield* this.#fallBack(next, error)
    if (!isContextOverflow(error)) {
      yield* recorder.recordFailure(error, partial)
      if (error.kind === 'aborted') return { how: 'interrupted', error }
      const { place, model } = this.#setup.server
      const isTurn = this.#setup.settings.attended
      return { how: 'failed', error, reason: explainChatError(error, { place, model, hasPartial: hasText, isTurn }) }
    }
    const shrunk = yield* this.#shrink(outgoing, nextTokenLimit(this.#writer.state, outgoing, tokens))
    if (shrunk === 'smallest') return yield* failTooLarge(this.#writer, error)
    return shrunk === 'again' ? undefined : shrunk.end
  }

  /** The same request goes to the next model. Its window may be another one, so the request is built again. */
  *#fallBack(next: string, error: ChatError): Generator<ChatSessionEvent, undefined> {
    const { server } = this.#setup
    const { fallback = [], model } = server
    const text = phrase(
      `${model} failed (${error.message}). Continuing with ${next}.`,
      `${model} が失敗したため（${error.message}）、${next} で続けます。`,
    )
    this.#setup.server = { ...server, model: next, fallback: fallback.slice(1) }
    const window = knownContextWindow(next) ?? contextWindowTokens(this.#writer.state)
    this.#writer.append(
      { event: 'failed', what: 'request', reason: error.message },
      { event: 'model', model_info: toModelInfo(next, { tokens: window, from: 'table' }) },
    )
    yield noticeEvent('model', text)
    return undefined
  }

  get #current(): SentRequest {
    if (!this.#sent) throw new Error('nothing was sent yet')
    return this.#sent
  }

  async *#shrink(
    outgoing: OutgoingRequest,
    tokens: number,
  ): AsyncGenerator<ChatSessionEvent, 'again' | 'smallest' | { readonly end: TurnEnd }> {
    const step = yield* shrinkRequest(this.#writer, this.#setup, outgoing, this.#shrinking, tokens, this.#signal)
    if (step.kind === 'aborted') return { end: { how: 'interrupted' } }
    if (step.kind === 'smaller') this.#shrinking = step.next
    return step.kind === 'smaller' ? 'again' : 'smallest'
  }
}

const reasoningOfConversation = ({ journal }: JournalWriter): ReadonlyMap<string, JsonValue> =>
  new Map(
    [...journal.replay.reasoning].flatMap(({ message_id, items }) => (items === null ? [] : [[message_id, items]])),
  )

function stateChanges(
  { state }: JournalWriter,
  { next, range, contextBytes }: OutgoingRequest,
): readonly UntimedEvent[] {
  const [start, end] = state.valid_history_range
  const isMoved = Number(start) !== range[0] || Number(end) !== range[1]
  const isMeasured = contextBytes !== null && Number(state.context_message_length) !== contextBytes
  return [
    ...(isMoved ? [{ event: 'window', range } as const] : []),
    ...(isMeasured ? [{ event: 'context_length', bytes: contextBytes } as const] : []),
    ...(next === state.next_message ? [] : [{ event: 'next_message', message: next } as const]),
  ]
}

/** The waiting message stays, and is sent when the turn continues. */
function* stopAtLimit(writer: JournalWriter, setup: ChatSetup, limit: Phrase): Generator<ChatSessionEvent, TurnEnd> {
  writer.append({ event: 'transcript', lines: [limit.en] })
  const { en, ja } = setup.settings.attended
    ? phrase('Type /retry to continue the turn.', '/retry で続けられます。')
    : phrase('Run fumi chat --resume to continue the conversation.', 'fumi chat --resume で会話を続けられます。')
  yield errorText(`${limit.en} ${en}`, `${limit.ja}${ja}`)
  return { how: 'limit' }
}

function* failTooLarge(writer: JournalWriter, error: ChatError): Generator<ChatSessionEvent, TurnEnd> {
  const reason = `The request is too large for the model's window: ${error.message}`
  writer.append({ event: 'failed', what: 'request', reason }, { event: 'transcript', lines: [reason] })
  yield errorText(reason, `要求がモデルのウィンドウに収まりません。${chatErrorText(error).ja}。`)
  return { how: 'overflow', error }
}

function lastToolUses({ state }: JournalWriter): readonly AssistantToolUse[] {
  const last = state.history.at(-1)?.assistant
  return last && 'ToolUse' in last ? last.ToolUse.tool_uses : []
}

async function* useTools(
  uses: readonly AssistantToolUse[],
  writer: JournalWriter,
  setup: ChatSetup,
  ask: AskConsent,
  signal: AbortSignal,
): AsyncGenerator<ChatSessionEvent, TurnEnd | undefined> {
  const ids = uses.map(({ id }) => id)
  if (uses.length > MAX_CALLS) return yield* cancelTools(TOO_MANY_CALLS, ids, writer)
  const plan = yield* planTools(uses, setup, ask, signal)
  if (plan.kind === 'unattended') {
    const { name, need } = plan.asked
    yield errorText(
      `${name} needs permission, and this chat cannot ask for it: ${need.summary}. Allow it with --trust-tools ${name}.`,
      `${name} には許可が必要ですが、この会話では確認できません（${need.summary_ja}）。--trust-tools ${name} で許可できます。`,
    )
    return { how: 'consent' }
  }
  if (plan.kind === 'cancel') return yield* cancelTools(plan.prompt, ids, writer)
  if (plan.kind === 'go') yield* runTools(plan.planned, writer, setup, signal)
  if (plan.kind === 'go' && !signal.aborted) return undefined
  yield* interruptTools(ids, writer)
  return { how: 'interrupted' }
}

/** Another model may answer where this one is overloaded, gone or over its quota. A wrong key is wrong for all. */
const canFallBack = ({ kind, status = 0 }: ChatError): boolean =>
  kind === 'timeout' ||
  kind === 'garbage' ||
  (kind === 'status' && (status >= 500 || [402, 404, 408, 429].includes(status)))

const REFUSED = phrase(
  'The model, or a content filter of its server, refused to answer. Rephrase the prompt, or choose another model with /model.',
  'モデルまたはサーバーのフィルターが応答を断りました。依頼を言い換えるか、/model で別のモデルを選んでください。',
)

const MAX_CALLS = 128

const TOO_MANY_CALLS = phrase(
  `An answer can call at most ${MAX_CALLS} tools. None of these calls ran. Make fewer calls at a time.`,
  `1 つの応答で呼び出せるツールは ${MAX_CALLS} 件までです。どれも実行していません。呼び出しを減らしてください。`,
)

function* cancelTools(
  reason: Phrase,
  ids: readonly string[],
  writer: JournalWriter,
): Generator<ChatSessionEvent, undefined> {
  const message = newCancelledToolUses(reason.en, ids, writer.localNow(), writer.env())
  writer.append({ event: 'next_message', message })
  yield cancelledEvent(ids, reason)
  return undefined
}

/** As Amazon Q CLI records it: the uses are cancelled, and our own answer closes the exchange. */
function* interruptTools(ids: readonly string[], writer: JournalWriter): Generator<ChatSessionEvent> {
  const assistant = newResponse(null, TOOL_USES_INTERRUPTED_REPLY)
  const number = writer.nextNumber()
  writer.append(
    {
      event: 'next_message',
      message: newCancelledToolUses(TOOL_USE_INTERRUPTED, ids, writer.localNow(), writer.env()),
    },
    { event: 'interrupted', number, assistant, request_metadata: null, reason: 'cancelled' },
  )
  yield cancelledEvent(ids, phrase(TOOL_USE_INTERRUPTED, 'ツールの実行を中断しました'))
  yield entryEvent(number, assistant, null, 'cancelled')
}

const cancelledEvent = (ids: readonly string[], { en: reason, ja: reason_ja }: Phrase): ChatSessionEvent => ({
  kind: 'tools_cancelled',
  ids,
  reason,
  reason_ja,
})
