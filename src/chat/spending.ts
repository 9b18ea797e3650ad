/** What a chat has used since it was opened: requests, tokens and cost. */

import type { Instant } from '../model/ids.ts'
import { type Phrase, phrase } from '../model/phrase.ts'
import { addCosts, costOfUsage, NO_COST, type PriceList, type Spent } from '../model/prices.ts'
import { addUsage, NO_USAGE, type Usage } from '../model/usage.ts'
import type { ChatSessionEvent } from './events.ts'
import type { TurnLimits } from './turn/turn-budget.ts'

export interface SpentTotals {
  readonly requests: number
  readonly usage: Usage
  readonly cost: Spent
  readonly isEstimated: boolean
}

const NOTHING: SpentTotals = { requests: 0, usage: NO_USAGE, cost: NO_COST, isEstimated: false }

export class Spending {
  readonly #prices: PriceList | undefined
  #turn = NOTHING
  #session = NOTHING

  constructor(prices: PriceList | undefined) {
    this.#prices = prices
  }

  /** Since the last turn began. */
  get turn(): SpentTotals {
    return this.#turn
  }

  get session(): SpentTotals {
    return this.#session
  }

  /** Whether tokens have a price at all: not without a list, and not with a subscription. */
  get isPriced(): boolean {
    return this.#prices !== undefined && this.#prices.plan === undefined
  }

  beginTurn(): void {
    this.#turn = NOTHING
  }

  /** @param model that the request went to */
  note(event: ChatSessionEvent, model: string, at: string): void {
    if (event.kind === 'started' || event.kind === 'retry' || event.kind === 'compacting') {
      this.#turn = { ...this.#turn, requests: this.#turn.requests + 1 }
      this.#session = { ...this.#session, requests: this.#session.requests + 1 }
    }
    if (event.kind !== 'usage') return
    const { usage } = event.local
    const cost = this.#prices ? costOfUsage(usage, model, at as Instant, this.#prices) : NO_COST
    const add = (all: SpentTotals): SpentTotals => ({
      requests: all.requests,
      usage: addUsage(all.usage, usage),
      cost: addCosts(all.cost, cost),
      isEstimated: all.isEstimated || event.estimated,
    })
    this.#turn = add(this.#turn)
    this.#session = add(this.#session)
  }
}

/** `$0.0123`; cents are shown for larger amounts. */
export const formatCost = (usd: number): string => `$${usd.toFixed(usd >= 1 ? 2 : 4)}`

interface UsedLimit {
  readonly label: Phrase
  /** 1 when the limit is reached. */
  readonly share: number
}

/** Every limit with how much of it is used, such as `requests 12/50`. */
export function usedLimits({ turn, session }: Spending, limits: TurnLimits): readonly UsedLimit[] {
  const entry = (en: string, ja: string, used: number, limit: number | null | undefined, show = groupDigits) =>
    limit == null
      ? []
      : [
          {
            label: phrase(`${en} ${show(used)}/${show(limit)}`, `${ja} ${show(used)}/${show(limit)}`),
            share: used / limit,
          },
        ]
  return [
    ...entry('requests', '要求', turn.requests, limits.maxRequests),
    ...entry('tokens', 'トークン', turn.usage.total_tokens, limits.maxTokens),
    ...entry('chat tokens', '全トークン', session.usage.total_tokens, limits.maxSessionTokens),
    ...entry('cost', '費用', session.cost.usd, limits.maxCost, formatCost),
  ]
}

const groupDigits = (n: number): string => n.toLocaleString('en-US')
