/** A turn: the waiting message is sent, tools are run and their results sent, until the model has no more calls. */

import type { UntimedEvent } from '../../conversation/journal/event.ts'
import { TOOL_USE_INTERRUPTED, TOOL_USES_INTERRUPTED_REPLY } from '../../conversation/limits.ts'
import type { AssistantToolUse } from '../../conversation/message.ts'
import { newCancelledToolUses, newResponse } from '../../conversation/new-message.ts'
import { calcMaxContextFilesSize } from '../../conversation/request/budget.ts'
import type { ChatEnding } from '../../model/api/chat.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import type { ChatError } from '../../openai/chat/transport.ts'
import { compactHistory, firstShrinkMethod, type ShrinkMethod, shrinkRequest } from '../compaction.ts'
import { type ChatSessionEvent, chatErrorText, endedEvent, entryEvent, errorEvent } from '../events.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { ChatSetup } from '../setup.ts'
import { requestAnswer } from './answer.ts'
import {
  buildOutgoingRequest,
  contextWindowTokens,
  nextTokenLimit,
  type OutgoingRequest,
  requestTokens,
} from './request.ts'
import { type AskConsent, planTools, runTools } from './tools.ts'
import { TurnBudget } from './turn-budget.ts'

interface TurnEnd {
  readonly how: ChatEnding
  readonly error?: ChatError
}

/** Sends what waits. Failures are events; only a journal that cannot be written throws. */
export async function* runSessionTurn(
  writer: JournalWriter,
  setup: ChatSetup,
  ask: AskConsent,
  signal: AbortSignal,
): AsyncGenerator<ChatSessionEvent, void> {
  const budget = new TurnBudget(setup.settings.limits)
  const ended = yield* trackBudget(runRounds(writer, setup, budget, ask, signal), budget)
  yield* setup.services.afterTurn(signal)
  yield endedEvent(ended.how, ended.error)
}

async function* trackBudget(
  events: AsyncGenerator<ChatSessionEvent, TurnEnd>,
  budget: TurnBudget,
): AsyncGenerator<ChatSessionEvent, TurnEnd> {
  let isOpen = true
  try {
    for (;;) {
      const { value, done } = await events.next()
      isOpen = !done
      if (done) return value
      budget.note(value)
      yield value
    }
  } finally {
    if (isOpen) await events.return({ how: 'interrupted' })
  }
}

async function* runRounds(
  writer: JournalWriter,
  setup: ChatSetup,
  budget: TurnBudget,
  ask: AskConsent,
  signal: AbortSignal,
): AsyncGenerator<ChatSessionEvent, TurnEnd> {
  let shrinking: ShrinkMethod = firstShrinkMethod(setup.settings.autoCompact)
  for (;;) {
    const limit = budget.findReachedLimit()
    if (limit) return yield* stopAtLimit(writer, setup, limit)
    const prepared = yield* prepare(writer, setup, signal)
    if (signal.aborted) return { how: 'interrupted' }
    if (!prepared) return { how: 'answered' }
    const { sending: outgoing, tokens, window } = prepared
    const isTooLarge = tokens > window && outgoing.range[1] > outgoing.range[0]
    if (isTooLarge) {
      const step = yield* shrinkRequest(writer, setup, outgoing, shrinking, window, compactHistory, signal)
      if (step.kind === 'aborted') return { how: 'interrupted' }
      if (step.kind === 'smaller') {
        shrinking = step.next
        continue
      }
    }
    writer.append(...stateChanges(writer, outgoing))
    yield { kind: 'started', model: setup.server.model, tokens, window }
    const answer = yield* requestAnswer(writer, setup, outgoing, tokens, signal)
    if (answer.kind === 'failed') return { how: answer.ending, error: answer.error }
    if (answer.kind === 'overflow') {
      const tokenLimit = nextTokenLimit(writer.state, outgoing, tokens)
      const step = yield* shrinkRequest(writer, setup, outgoing, shrinking, tokenLimit, compactHistory, signal)
      if (step.kind === 'aborted') return { how: 'interrupted' }
      if (step.kind === 'smallest') return yield* failTooLarge(writer, answer.error)
      shrinking = step.next
      continue
    }
    shrinking = firstShrinkMethod(setup.settings.autoCompact)
    const uses = lastToolUses(writer)
    if (uses.length === 0) return { how: answer.ending }
    budget.startCalls(uses)
    const turnEnd = yield* useTools(uses, writer, setup, ask, signal)
    if (turnEnd) return turnEnd
  }
}

interface Prepared {
  readonly sending: OutgoingRequest
  readonly tokens: number
  readonly window: number
}

async function* prepare(
  writer: JournalWriter,
  setup: ChatSetup,
  signal: AbortSignal,
): AsyncGenerator<ChatSessionEvent, Prepared | undefined> {
  const window = contextWindowTokens(writer.state)
  const { notices, ...requestContext } = await setup.collectContext(calcMaxContextFilesSize(window), signal)
  yield* notices
  const outgoing = buildOutgoingRequest(writer.state, { ...requestContext, env: writer.env() })
  return outgoing && { sending: outgoing, tokens: requestTokens(writer.state, outgoing), window }
}

/** What sending changes in the state. */
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

/** What waits, such as results of tools, stays: it is sent when the turn is continued. */
function* stopAtLimit(writer: JournalWriter, setup: ChatSetup, limit: Phrase): Generator<ChatSessionEvent, TurnEnd> {
  writer.append({ event: 'transcript', lines: [limit.en] })
  const { en, ja } = setup.settings.attended
    ? phrase('/retry continues the turn.', '/retry で続けられます。')
    : phrase('fumi chat --resume continues the conversation.', 'fumi chat --resume で会話を続けられます。')
  yield errorEvent(phrase(`${limit.en} ${en}`, `${limit.ja}${ja}`))
  return { how: 'limit' }
}

function* failTooLarge(writer: JournalWriter, error: ChatError): Generator<ChatSessionEvent, TurnEnd> {
  const reason = `The request is too large for the model's window: ${error.message}`
  writer.append({ event: 'failed', what: 'request', reason }, { event: 'transcript', lines: [reason] })
  yield errorEvent(phrase(reason, `要求がモデルのウィンドウに収まりません。${chatErrorText(error).ja}。`))
  return { how: 'overflow', error }
}

function lastToolUses({ state }: JournalWriter): readonly AssistantToolUse[] {
  const last = state.history.at(-1)?.assistant
  return last && 'ToolUse' in last ? last.ToolUse.tool_uses : []
}

/** Nothing when their results wait to be sent. */
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
    yield errorEvent(
      phrase(
        `${name} needs consent, and nobody can be asked: ${need.summary}. Allow it with --trust-tools ${name}.`,
        `${name} には許可が必要ですが、確認できる人がいません（${need.summary_ja}）。--trust-tools ${name} で許可できます。`,
      ),
    )
    return { how: 'consent' }
  }
  if (plan.kind === 'cancel') return yield* cancelTools(plan.prompt, ids, writer)
  if (plan.kind === 'go') yield* runTools(plan.planned, writer, setup, signal)
  if (plan.kind === 'go' && !signal.aborted) return undefined
  yield* interruptTools(ids, writer)
  return { how: 'interrupted' }
}

const MAX_CALLS = 128

const TOO_MANY_CALLS = phrase(
  `An answer may call ${MAX_CALLS} tools at most; none of these calls was run. Make fewer calls at a time.`,
  `1 つの応答で呼び出せるツールは ${MAX_CALLS} 件までです。どれも実行していません。呼び出しを減らしてください。`,
)

/** None of them runs; the model is told why. */
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

/** As the original records it: the uses are cancelled, and an answer of ours closes the exchange. */
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
