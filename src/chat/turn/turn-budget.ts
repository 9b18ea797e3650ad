/** Limits of one turn: requests, tokens, and repeated calls. */
import type { AssistantToolUse } from '../../conversation/message.ts'
import { sha256 } from '../../lib/hash.ts'
import { plainJson } from '../../lib/json/lossless.ts'
import { isObject } from '../../lib/unknown-values.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import type { ChatSessionEvent } from '../events.ts'
import { formatCost, Spending } from '../spending.ts'

export interface TurnLimits {
  /** Requests to the server, including retries and summaries. */
  readonly maxRequests: number
  /** Tokens of all requests of a turn, sent and received; null: unlimited. */
  readonly maxTokens: number | null
  /** Tokens of the chat since it was opened; absent or null: unlimited. */
  readonly maxSessionTokens?: number | null
  /** US dollars since the chat was opened. Tokens without a known price do not count. */
  readonly maxCost?: number | null
}

export const DEFAULT_TURN_LIMITS: TurnLimits = { maxRequests: 50, maxTokens: null }

/** The same tool with the same arguments, denied or failed each time. */
const MAX_SAME_FAILED_CALLS = 3
/** The same with success: polling a command several times is legitimate. */
const MAX_SAME_CALLS = 10

export class TurnBudget {
  readonly #limits: TurnLimits
  /** By use id, while the call is processed. */
  readonly #calls = new Map<string, Call>()
  readonly #counts = new Map<string, { all: number; failed: number }>()
  #requests = 0
  #tokens = 0
  #repeated: Phrase | undefined

  readonly #spending: Spending

  constructor(limits: TurnLimits, spending: Spending = new Spending(undefined)) {
    this.#limits = limits
    this.#spending = spending
  }

  startCalls(uses: readonly AssistantToolUse[]): void {
    this.#calls.clear()
    for (const { id, name, args } of uses) this.#calls.set(id, { name, key: callKey(name, args) })
  }

  note(event: ChatSessionEvent): void {
    switch (event.kind) {
      case 'started':
      case 'retry':
      case 'compacting':
        this.#requests++
        break
      case 'usage':
        this.#tokens += event.local.usage.total_tokens
        break
      case 'tool_done':
        this.#countCall(event.id, event.status === 'error')
        break
      case 'tools_cancelled':
        for (const id of event.ids) this.#countCall(id, true)
        break
    }
  }

  /** Why no further request is allowed; undefined if one is. */
  findReachedLimit(): Phrase | undefined {
    const { maxRequests, maxTokens } = this.#limits
    if (this.#repeated) return this.#repeated
    if (this.#requests >= maxRequests)
      return phrase(
        `Stopped after ${countText(this.#requests, 'request')} in this turn. To change the limit, use --max-requests or chat.maxRequests.`,
        `このターンの要求が ${numberText(this.#requests)} 件になったため、停止しました。上限は --max-requests または chat.maxRequests で変更できます。`,
      )
    if (maxTokens !== null && this.#tokens >= maxTokens)
      return phrase(
        `Stopped after ${countText(this.#tokens, 'token')} in this turn; the limit is ${numberText(maxTokens)}. To change it, use --max-tokens or chat.maxTokens.`,
        `このターンで ${numberText(this.#tokens)} トークンを使ったため、停止しました（上限 ${numberText(maxTokens)}）。上限は --max-tokens または chat.maxTokens で変更できます。`,
      )
    return this.#findSessionLimit()
  }

  #findSessionLimit(): Phrase | undefined {
    const { maxSessionTokens, maxCost } = this.#limits
    const { usage, cost } = this.#spending.session
    if (maxSessionTokens != null && usage.total_tokens >= maxSessionTokens)
      return phrase(
        `Stopped: this chat has used ${countText(usage.total_tokens, 'token')}; the limit is ${numberText(maxSessionTokens)}. To change it, use --max-session-tokens or chat.maxSessionTokens.`,
        `このチャットで ${numberText(usage.total_tokens)} トークンを使ったため、停止しました（上限 ${numberText(maxSessionTokens)}）。上限は --max-session-tokens または chat.maxSessionTokens で変更できます。`,
      )
    if (maxCost != null && cost.usd >= maxCost)
      return phrase(
        `Stopped: this chat has cost ${formatCost(cost.usd)}; the limit is ${formatCost(maxCost)}. To change it, use --max-cost or chat.maxCost.`,
        `このチャットの費用が ${formatCost(cost.usd)} になったため、停止しました（上限 ${formatCost(maxCost)}）。上限は --max-cost または chat.maxCost で変更できます。`,
      )
    return undefined
  }

  #countCall(id: string, hasFailed: boolean): void {
    const call = this.#calls.get(id)
    if (!call) return
    this.#calls.delete(id)
    const { all, failed } = this.#counts.get(call.key) ?? { all: 0, failed: 0 }
    const now = { all: all + 1, failed: failed + (hasFailed ? 1 : 0) }
    this.#counts.set(call.key, now)
    if (now.failed >= MAX_SAME_FAILED_CALLS)
      this.#repeated = phrase(
        `Stopped: the model called ${call.name} ${now.failed} times with the same arguments, and each call was denied or failed.`,
        `モデルが同じ引数で ${call.name} を ${now.failed} 回呼び出し、すべて拒否または失敗したため、停止しました。`,
      )
    else if (now.all >= MAX_SAME_CALLS)
      this.#repeated = phrase(
        `Stopped: the model called ${call.name} ${now.all} times with the same arguments.`,
        `モデルが同じ引数で ${call.name} を ${now.all} 回呼び出したため、停止しました。`,
      )
  }
}

interface Call {
  readonly name: string
  readonly key: string
}

const numberText = (value: number): string => value.toLocaleString('en-US')

const countText = (value: number, noun: string): string => `${numberText(value)} ${noun}${value === 1 ? '' : 's'}`

/** A hash, because arguments may be large. Independent of the order of keys. */
const callKey = (name: string, args: AssistantToolUse['args']): string =>
  sha256(JSON.stringify([name, plainJson(args)], (_, value: unknown) => (isObject(value) ? sortKeys(value) : value)))

const sortKeys = (value: object): object =>
  Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
