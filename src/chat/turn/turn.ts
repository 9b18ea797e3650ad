/** A turn: the waiting message is sent, tools are run and their results sent, until the model has no more calls. */
import { newCancelledToolUses, newResponse } from '../../conversation/create.ts'
import type { Untimed } from '../../conversation/journal/event.ts'
import { TOOL_USE_INTERRUPTED, TOOL_USES_INTERRUPTED_REPLY } from '../../conversation/limits.ts'
import type { AssistantToolUse } from '../../conversation/message.ts'
import { calcMaxContextFilesSize } from '../../conversation/request/budget.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import type { ChatError } from '../../openai/chat/chat-error.ts'
import { compactHistory } from '../compaction/compact.ts'
import { automatic, type Shrinking, shrink } from '../compaction/shrink.ts'
import { requestTokens, smallerThan, windowTokens } from '../request/fit.ts'
import { type Sending, sendingOf } from '../request/sending.ts'
import { askForAnswer } from './answer.ts'
import { DEFAULT_LIMITS, TurnBudget } from './budget.ts'
import type { Desk } from './desk.ts'
import { type Ending, error as errorEvent, type TalkEvent } from './event.ts'
import { faultOf } from './fault.ts'
import type { Gear } from './gear.ts'
import { type AskConsent, planTools } from './plan-tools.ts'
import { runTools } from './run-tools.ts'

interface Ended {
  readonly how: Ending
  readonly error?: ChatError
}

/** Sends what waits. Failures are events; only a journal that cannot be written throws. */
export async function* runTurn(
  desk: Desk,
  gear: Gear,
  ask: AskConsent,
  signal: AbortSignal,
): AsyncGenerator<TalkEvent, void> {
  const budget = new TurnBudget(gear.settings.limits ?? DEFAULT_LIMITS)
  const ended = yield* noted(rounds(desk, gear, budget, ask, signal), budget)
  yield* gear.afterTurn(signal)
  yield { kind: 'ended', how: ended.how, ...(ended.error && { error: ended.error }) }
}

async function* noted(events: AsyncGenerator<TalkEvent, Ended>, budget: TurnBudget): AsyncGenerator<TalkEvent, Ended> {
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

async function* rounds(
  desk: Desk,
  gear: Gear,
  budget: TurnBudget,
  ask: AskConsent,
  signal: AbortSignal,
): AsyncGenerator<TalkEvent, Ended> {
  let shrinking: Shrinking = automatic(gear.settings.autoCompact)
  for (;;) {
    const limit = budget.reached()
    if (limit) return yield* stopped(desk, gear, limit)
    const prepared = yield* prepare(desk, gear, signal)
    if (signal.aborted) return { how: 'interrupted' }
    if (!prepared) return { how: 'answered' }
    const { sending, tokens, window } = prepared
    const isTooLarge = tokens > window && sending.range[1] > sending.range[0]
    if (isTooLarge) {
      const step = yield* shrink(desk, gear, sending, shrinking, window, compactHistory, signal)
      if (step.kind === 'aborted') return { how: 'interrupted' }
      if (step.kind === 'smaller') {
        shrinking = step.next
        continue
      }
    }
    desk.tell(...changesOf(desk, sending))
    yield { kind: 'started', model: gear.server.model, tokens, window }
    const answer = yield* askForAnswer(desk, gear, sending, tokens, signal)
    if (answer.kind === 'failed') return { how: answer.ending, error: answer.error }
    if (answer.kind === 'overflow') {
      const most = smallerThan(desk.state, sending, tokens)
      const step = yield* shrink(desk, gear, sending, shrinking, most, compactHistory, signal)
      if (step.kind === 'aborted') return { how: 'interrupted' }
      if (step.kind === 'smallest') return yield* tooLarge(desk, answer.error)
      shrinking = step.next
      continue
    }
    shrinking = automatic(gear.settings.autoCompact)
    const uses = lastUses(desk)
    if (uses.length === 0) return { how: answer.ending }
    budget.expect(uses)
    const how = yield* useTools(uses, desk, gear, ask, signal)
    if (how) return how
  }
}

interface Prepared {
  readonly sending: Sending
  readonly tokens: number
  readonly window: number
}

async function* prepare(desk: Desk, gear: Gear, signal: AbortSignal): AsyncGenerator<TalkEvent, Prepared | undefined> {
  const window = windowTokens(desk.state)
  const { notices, ...around } = await gear.around(calcMaxContextFilesSize(window), signal)
  yield* notices
  const sending = sendingOf(desk.state, { ...around, env: desk.env() })
  return sending && { sending, tokens: requestTokens(desk.state, sending), window }
}

/** What sending changes in the state. */
function changesOf({ state }: Desk, { next, range, contextBytes }: Sending): readonly Untimed[] {
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
function* stopped(desk: Desk, gear: Gear, limit: Phrase): Generator<TalkEvent, Ended> {
  desk.tell({ event: 'transcript', lines: [limit.en] })
  const { en, ja } = gear.settings.attended
    ? phrase('/retry continues the turn.', '/retry で続けられます。')
    : phrase('fumi chat --resume continues the conversation.', 'fumi chat --resume で会話を続けられます。')
  yield errorEvent(phrase(`${limit.en} ${en}`, `${limit.ja}${ja}`))
  return { how: 'limit' }
}

function* tooLarge(desk: Desk, error: ChatError): Generator<TalkEvent, Ended> {
  const reason = `The request is too large for the model's window: ${error.message}`
  desk.tell({ event: 'failed', what: 'request', reason }, { event: 'transcript', lines: [reason] })
  yield errorEvent(phrase(reason, `要求がモデルのウィンドウに収まりません。${faultOf(error).ja}。`))
  return { how: 'overflow', error }
}

function lastUses({ state }: Desk): readonly AssistantToolUse[] {
  const last = state.history.at(-1)?.assistant
  return last && 'ToolUse' in last ? last.ToolUse.tool_uses : []
}

/** Nothing when their results wait to be sent. */
async function* useTools(
  uses: readonly AssistantToolUse[],
  desk: Desk,
  gear: Gear,
  ask: AskConsent,
  signal: AbortSignal,
): AsyncGenerator<TalkEvent, Ended | undefined> {
  const ids = uses.map(({ id }) => id)
  if (uses.length > MAX_CALLS) return yield* cancelled(TOO_MANY_CALLS, ids, desk)
  const plan = yield* planTools(uses, gear, ask, signal)
  if (plan.kind === 'unattended') {
    const { name, need } = plan.asked
    yield errorEvent(
      phrase(
        `${name} needs consent, and nobody can be asked: ${need.summary.en}. Allow it with --trust-tools ${name}.`,
        `${name} には許可が必要ですが、確認できる人がいません（${need.summary.ja}）。--trust-tools ${name} で許可できます。`,
      ),
    )
    return { how: 'consent' }
  }
  if (plan.kind === 'cancel') return yield* cancelled(plan.prompt, ids, desk)
  if (plan.kind === 'go') yield* runTools(plan.planned, desk, gear, signal)
  if (plan.kind === 'go' && !signal.aborted) return undefined
  yield* interruptTools(ids, desk)
  return { how: 'interrupted' }
}

const MAX_CALLS = 128

const TOO_MANY_CALLS = phrase(
  `An answer may call ${MAX_CALLS} tools at most; none of these calls was run. Make fewer calls at a time.`,
  `1 つの応答で呼び出せるツールは ${MAX_CALLS} 件までです。どれも実行していません。呼び出しを減らしてください。`,
)

/** None of them runs; the model is told why. */
function* cancelled(reason: Phrase, ids: readonly string[], desk: Desk): Generator<TalkEvent, undefined> {
  const message = newCancelledToolUses(reason.en, ids, desk.local(), desk.env())
  desk.tell({ event: 'next_message', message })
  yield { kind: 'tools_cancelled', ids, reason }
  return undefined
}

/** As the original records it: the uses are cancelled, and an answer of ours closes the exchange. */
function* interruptTools(ids: readonly string[], desk: Desk): Generator<TalkEvent> {
  const assistant = newResponse(null, TOOL_USES_INTERRUPTED_REPLY)
  const number = desk.nextNumber()
  desk.tell(
    { event: 'next_message', message: newCancelledToolUses(TOOL_USE_INTERRUPTED, ids, desk.local(), desk.env()) },
    { event: 'interrupted', number, assistant, request_metadata: null, reason: 'cancelled' },
  )
  yield { kind: 'tools_cancelled', ids, reason: phrase(TOOL_USE_INTERRUPTED, 'ツールの実行を中断しました') }
  yield { kind: 'entry', number, assistant, metadata: null, interrupted: 'cancelled' }
}
