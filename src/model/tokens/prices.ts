/** What tokens cost at list prices. A model without a known price costs nothing that could be told, and says so. */

import { addSafely } from '../checked-numbers.ts'
import type { Instant } from '../ids.ts'
import type { Usage } from '../usage.ts'

/** US dollars for a million tokens. */
export interface TokenPrice {
  /** The first day, in UTC, on which it holds: `2025-06-10`. Without one it has always held. */
  readonly from?: string
  readonly input: number
  /** Where there is no discount for it, it costs as much as other input. */
  readonly cached_input?: number
  readonly output: number
}

export interface PriceList {
  /** The day on which it was compared with the public lists. */
  readonly as_of: string
  readonly source: string
  /** By model: its prices over time, the oldest first, or the name of another model that costs the same. `*` at the end of a name stands for any ending. */
  readonly models: { readonly [model: string]: readonly TokenPrice[] | string }
}

/** What was spent, as far as prices are known. */
export interface Spent {
  readonly usd: number
  /** Used, but with no known price: not in `usd`. */
  readonly unpriced_tokens: number
}

export const NO_COST: Spent = { usd: 0, unpriced_tokens: 0 }

export const addCosts = (a: Spent, b: Spent): Spent => ({
  usd: a.usd + b.usd,
  unpriced_tokens: addSafely(a.unpriced_tokens, b.unpriced_tokens),
})

export function costOfUsage(usage: Usage, model: string | undefined, at: Instant, list: PriceList): Spent {
  const price = model === undefined ? undefined : findPrice(model, at, list)
  if (!price) return { usd: 0, unpriced_tokens: usage.total_tokens }
  const cached = Math.min(usage.cached_input_tokens, usage.input_tokens)
  const input = (usage.input_tokens - cached) * price.input + cached * (price.cached_input ?? price.input)
  return { usd: (input + usage.output_tokens * price.output) / 1e6, unpriced_tokens: 0 }
}

/** Nothing when the model is not in the list, or was used before its first price. */
export function findPrice(model: string, at: Instant, list: PriceList): TokenPrice | undefined {
  return cachedPrices(model, list).findLast(({ from }) => from === undefined || from <= at)
}

/** Logs name few models, many times each. */
const pricesByList = new WeakMap<PriceList, Map<string, readonly TokenPrice[]>>()

function cachedPrices(model: string, list: PriceList): readonly TokenPrice[] {
  const byModel = pricesByList.get(list) ?? new Map<string, readonly TokenPrice[]>()
  pricesByList.set(list, byModel)
  const found = byModel.get(model) ?? searchPrices(model, list)
  byModel.set(model, found)
  return found
}

function searchPrices(model: string, list: PriceList): readonly TokenPrice[] {
  const found = findEntry(model, list)
  const prices = typeof found === 'string' ? ownEntry(found, list) : found
  return prices === undefined || typeof prices === 'string' ? [] : prices
}

/** The name as it stands, then without what tells one release of the same model from another, then by its beginning. */
function findEntry(model: string, list: PriceList): readonly TokenPrice[] | string | undefined {
  const names = candidateNames(model)
  for (const name of names) {
    const found = ownEntry(name, list)
    if (found !== undefined) return found
  }
  const prefixes = Object.keys(list.models)
    .filter((pattern) => pattern.endsWith('*') && names.some((name) => name.startsWith(pattern.slice(0, -1))))
    .sort((a, b) => b.length - a.length)
  return prefixes[0] === undefined ? undefined : ownEntry(prefixes[0], list)
}

/** Names come from logs: none of them may mean something to an object. */
const ownEntry = (name: string, { models }: PriceList): readonly TokenPrice[] | string | undefined =>
  Object.hasOwn(models, name) ? models[name] : undefined

/** `us.anthropic.claude-…-v1:0` and `openai/…` are ways to reach a model, dates are its releases. Nothing else is guessed. */
function candidateNames(model: string): readonly string[] {
  const plain = model
    .toLowerCase()
    .replace(/^.*\//, '')
    .replace(/^(?:[a-z]{2,6}\.)?anthropic\./, '')
    .replace(/^(claude.*)-v\d+(?::\d+)?$/, '$1')
  const undated = plain.replace(/(?:-\d{4}-\d{2}-\d{2}|[-@]\d{8}|-latest)$/, '')
  const dashed = /^claude/.test(undated) ? undated.replaceAll(/(?<=\d)\.(?=\d)/g, '-') : undated
  return [...new Set([model, plain, undated, dashed])]
}

/** One list over another: its models go first. */
export const mergePriceLists = (over: PriceList, under: PriceList): PriceList => ({
  as_of: over.as_of || under.as_of,
  source: over.source,
  models: { ...under.models, ...over.models },
})
