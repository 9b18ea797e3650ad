/** What tokens cost at list prices. The tokens of a model without a known price are counted as unpriced. */

import { addSafely } from './checked-numbers.ts'
import type { Instant } from './ids.ts'
import type { Usage } from './usage.ts'

/** US dollars per million tokens. */
export interface TokenPrice {
  /** First day (UTC) on which the price applies: `2025-06-10`. Without it, the price always applied. */
  readonly from?: string
  readonly input: number
  /** Default: the price of other input. */
  readonly cached_input?: number
  /** Input that is written to the cache. Default: the price of other input. */
  readonly cache_write?: number
  /** Input that is written to the cache for an hour. Default: `cache_write`. */
  readonly cache_write_1h?: number
  readonly output: number
}

export interface PriceList {
  /** Day of the last comparison with the public lists. */
  readonly as_of: string
  readonly source: string
  /**
   * By model: its prices over time, oldest first, or the name of another model with the same price. A trailing `*` in a
   * name matches any ending.
   */
  readonly models: { readonly [model: string]: readonly TokenPrice[] | string }
  /** With a subscription, tokens have no price of their own: nothing is priced. */
  readonly plan?: 'subscription'
}

/** Cost, as far as prices are known. */
export interface Spent {
  readonly usd: number
  /** Tokens without a known price, not included in `usd`. */
  readonly unpriced_tokens: number
}

export const NO_COST: Spent = { usd: 0, unpriced_tokens: 0 }

export const addCosts = (a: Spent, b: Spent): Spent => ({
  usd: a.usd + b.usd,
  unpriced_tokens: addSafely(a.unpriced_tokens, b.unpriced_tokens),
})

export function costOfUsage(usage: Usage, model: string | undefined, at: Instant | null, list: PriceList): Spent {
  if (list.plan === 'subscription') return NO_COST
  const price = model === undefined ? undefined : findPrice(model, at, list)
  if (!price) return { usd: 0, unpriced_tokens: usage.total_tokens }
  const cached = Math.min(usage.cached_input_tokens, usage.input_tokens)
  const written = Math.min(usage.cache_write_tokens ?? 0, usage.input_tokens - cached)
  const forAnHour = Math.min(usage.cache_write_1h_tokens ?? 0, written)
  const writePrice = price.cache_write ?? price.input
  const input =
    (usage.input_tokens - cached - written) * price.input +
    cached * (price.cached_input ?? price.input) +
    (written - forAnHour) * writePrice +
    forAnHour * (price.cache_write_1h ?? writePrice)
  return { usd: (input + usage.output_tokens * price.output) / 1e6, unpriced_tokens: 0 }
}

/**
 * Undefined if the model is not in the list, or was used before its first price.
 * @param at null where the date is unknown: the newest price counts
 */
export function findPrice(model: string, at: Instant | null, list: PriceList): TokenPrice | undefined {
  return cachedPrices(model, list).findLast(({ from }) => from === undefined || at === null || from <= at)
}

/** Cached, because logs contain few models, many times each. */
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

/** Looks up the exact name, then the name without its release, then a prefix. */
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

/** Own properties only: a name from a log could be `constructor`. */
const ownEntry = (name: string, { models }: PriceList): readonly TokenPrice[] | string | undefined =>
  Object.hasOwn(models, name) ? models[name] : undefined

/** Removes prefixes for access (`us.anthropic.claude-…-v1:0`, `openai/…`) and release dates. Guesses nothing else. */
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

/** Models of the first list take precedence. */
export const mergePriceLists = (over: PriceList, under: PriceList): PriceList => ({
  as_of: over.as_of || under.as_of,
  source: over.source,
  models: { ...under.models, ...over.models },
})

const GPT_5 = [{ input: 1.25, cached_input: 0.125, output: 10 }]
const GPT_5_MINI = [{ input: 0.25, cached_input: 0.025, output: 2 }]
const GPT_5_2 = [{ input: 1.75, cached_input: 0.175, output: 14 }]

/** Anthropic's cache: a write for five minutes costs 1.25 times the input, a write for an hour twice as much as the input. */
const anthropic = (input: number, output: number, cached_input = input / 10): TokenPrice => ({
  input,
  cached_input,
  cache_write: input * 1.25,
  cache_write_1h: input * 2,
  output,
})

const OLDER_OPUS = [anthropic(15, 75)]
const OPUS = [anthropic(5, 25)]
const SONNET = [anthropic(3, 15, 0.3)]
const GEMINI_3_PRO = [{ input: 2, cached_input: 0.2, output: 12 }]
const GEMINI_FLASH_LITE = [{ input: 0.1, cached_input: 0.01, output: 0.4 }]

/**
 * The prices that come with fumibako: public list prices of OpenAI, Anthropic and Google, standard tier. Models whose price is
 * not certain are left out. Subscriptions, batches, priority and surcharges for long prompts are not included.
 */
export const LIST_PRICES: PriceList = {
  as_of: '2026-11-01',
  source: 'public list prices of OpenAI, Anthropic and Google, standard tier',
  models: {
    'gpt-5.5': [{ input: 5, cached_input: 0.5, output: 30 }],
    'gpt-5.4': [{ input: 2.5, cached_input: 0.25, output: 15 }],
    'gpt-5.4-mini': [{ input: 0.75, cached_input: 0.075, output: 4.5 }],
    'gpt-5.4-nano': [{ input: 0.2, cached_input: 0.02, output: 1.25 }],
    'gpt-5.3-codex': GPT_5_2,
    'gpt-5.2': GPT_5_2,
    'gpt-5.2-codex': GPT_5_2,
    'gpt-5.1': GPT_5,
    'gpt-5.1-codex': GPT_5,
    'gpt-5.1-codex-max': GPT_5,
    'gpt-5.1-codex-mini': GPT_5_MINI,
    'gpt-5': GPT_5,
    'gpt-5-codex': GPT_5,
    'gpt-5-mini': GPT_5_MINI,
    'gpt-5-nano': [{ input: 0.05, cached_input: 0.005, output: 0.4 }],
    'gpt-5-pro': [{ input: 15, output: 120 }],
    'codex-mini': [{ input: 1.5, cached_input: 0.375, output: 6 }],
    'gpt-4.1': [{ input: 2, cached_input: 0.5, output: 8 }],
    'gpt-4.1-mini': [{ input: 0.4, cached_input: 0.1, output: 1.6 }],
    'gpt-4.1-nano': [{ input: 0.1, cached_input: 0.025, output: 0.4 }],
    'gpt-4o': [{ from: '2024-10-02', input: 2.5, cached_input: 1.25, output: 10 }],
    'gpt-4o-2024-05-13': [{ input: 5, output: 15 }],
    'gpt-4o-mini': [{ input: 0.15, cached_input: 0.075, output: 0.6 }],
    'gpt-4-turbo': [{ input: 10, output: 30 }],
    'gpt-4': [{ input: 30, output: 60 }],
    'o4-mini': [{ input: 1.1, cached_input: 0.275, output: 4.4 }],
    o3: [
      { input: 10, cached_input: 2.5, output: 40 },
      { from: '2025-06-10', input: 2, cached_input: 0.5, output: 8 },
    ],
    'o3-pro': [{ input: 20, output: 80 }],
    'o3-mini': [{ input: 1.1, cached_input: 0.55, output: 4.4 }],
    o1: [{ input: 15, cached_input: 7.5, output: 60 }],
    'o1-mini': [{ from: '2025-02-01', input: 1.1, cached_input: 0.55, output: 4.4 }],
    'claude-opus-5': OPUS,
    'claude-opus-4-8': OPUS,
    'claude-opus-4-7': OPUS,
    'claude-opus-4-6': OPUS,
    'claude-opus-4-5': OPUS,
    'claude-opus-4-1': OLDER_OPUS,
    'claude-opus-4': OLDER_OPUS,
    'claude-opus-4-0': 'claude-opus-4',
    'claude-3-opus': OLDER_OPUS,
    'claude-sonnet-4-6': SONNET,
    'claude-sonnet-4-5': SONNET,
    'claude-sonnet-4': SONNET,
    'claude-sonnet-4-0': 'claude-sonnet-4',
    'claude-3-7-sonnet': SONNET,
    'claude-3-5-sonnet': SONNET,
    'claude-haiku-4-5': [anthropic(1, 5)],
    'claude-3-5-haiku': [{ from: '2025-01-01', ...anthropic(0.8, 4, 0.08) }],
    'claude-3-haiku': [{ input: 0.25, cached_input: 0.03, cache_write: 0.3, cache_write_1h: 0.5, output: 1.25 }],
    'gemini-3.1-pro-preview': GEMINI_3_PRO,
    'gemini-3-pro-preview': GEMINI_3_PRO,
    'gemini-3-flash-preview': [{ input: 0.5, cached_input: 0.05, output: 3 }],
    'gemini-2.5-pro': [{ input: 1.25, cached_input: 0.125, output: 10 }],
    'gemini-2.5-flash': [{ input: 0.3, cached_input: 0.03, output: 2.5 }],
    'gemini-2.5-flash-lite': GEMINI_FLASH_LITE,
    'gemini-2.0-flash': [{ input: 0.1, cached_input: 0.025, output: 0.4 }],
  },
}
