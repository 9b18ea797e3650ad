import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Instant } from './ids.ts'
import { addCosts, costOfUsage, findPrice, LIST_PRICES, mergePriceLists, NO_COST, type PriceList } from './prices.ts'
import { addUsage, type Usage } from './usage.ts'

const at = (day: string): Instant => `${day}T12:00:00.000Z` as Instant
const NOW = at('2026-11-15')

const used = (input: number, cached: number, output: number): Usage => ({
  input_tokens: input,
  cached_input_tokens: cached,
  output_tokens: output,
  reasoning_output_tokens: 0,
  total_tokens: input + output,
})

const LIST: PriceList = {
  as_of: '2026-01-01',
  source: 'a test',
  models: {
    river: [{ input: 2, cached_input: 0.5, output: 8 }],
    'river-2025-01-01': [{ input: 5, output: 15 }],
    brook: 'river',
    'lake-*': [{ input: 1, output: 1 }],
    'lake-deep-*': [{ input: 3, output: 3 }],
    pond: [
      { input: 10, output: 40 },
      { from: '2025-06-10', input: 2, output: 8 },
    ],
    spring: [{ from: '2026-01-01', input: 1, output: 1 }],
  },
}

describe('the cost of tokens', () => {
  test('input, cached input and output each at their price for a million', () => {
    expect(costOfUsage(used(3_000_000, 1_000_000, 500_000), 'river', NOW, LIST)).toEqual({
      usd: 4 + 0.5 + 4,
      unpriced_tokens: 0,
    })
    expect(costOfUsage(used(1000, 1000, 0), 'pond', NOW, LIST).usd).toBeCloseTo(0.002)
  })

  test('at the price of the day', () => {
    const on = (day: string) => costOfUsage(used(1_000_000, 0, 0), 'pond', at(day), LIST).usd
    expect([on('2025-06-09'), on('2025-06-10'), on('2026-01-01')]).toEqual([10, 2, 2])
  })

  test('is not guessed for a model without a price, or before its first price', () => {
    for (const model of ['stream', 'river-deluxe', 'riverbed', undefined, 'constructor', '__proto__', ''])
      expect(costOfUsage(used(10, 0, 5), model, NOW, LIST)).toEqual({ usd: 0, unpriced_tokens: 15 })
    expect(costOfUsage(used(10, 0, 5), 'spring', at('2025-12-31'), LIST)).toEqual({ usd: 0, unpriced_tokens: 15 })
  })

  test.each([
    ['brook', 2],
    ['openai/river', 2],
    ['RIVER', 2],
    ['river-2026-03-04', 2],
    ['river-20260304', 2],
    ['river@20260304', 2],
    ['river-latest', 2],
    ['river-2025-01-01', 5],
    ['lake-blue', 1],
    ['lake-deep-blue', 3],
  ])('%s is known', (model, input) => {
    expect(findPrice(model, NOW, LIST)?.input).toBe(input)
  })

  test('adds up, whatever the order', () => {
    const usage = fc.tuple(fc.nat(1e6), fc.nat(1e6), fc.nat(1e6)).map(([a, b, c]) => used(a + b, b, c))
    fc.assert(
      fc.property(usage, usage, fc.constantFrom('river', 'unheard'), (a, b, model) => {
        const separate = addCosts(costOfUsage(a, model, NOW, LIST), costOfUsage(b, model, NOW, LIST))
        const together = costOfUsage(addUsage(a, b), model, NOW, LIST)
        expect(separate.usd).toBeCloseTo(together.usd, 6)
        expect(separate.unpriced_tokens).toBe(together.unpriced_tokens)
        expect(addCosts(separate, NO_COST)).toEqual(separate)
      }),
    )
  })

  test('one list overrides another, model by model', () => {
    const mine: PriceList = { as_of: '', source: 'mine', models: { river: [{ input: 7, output: 7 }] } }
    const both = mergePriceLists(mine, LIST)
    expect(findPrice('brook', NOW, both)?.input).toBe(7)
    expect(findPrice('pond', NOW, both)?.input).toBe(2)
    expect(both.as_of).toBe(LIST.as_of)
  })
})

describe('input that is written to a cache', () => {
  const written = (input: number, cached: number, write: number, forAnHour: number): Usage => ({
    ...used(input, cached, 1000),
    cache_write_tokens: write,
    cache_write_1h_tokens: forAnHour,
  })
  const SONNET = 'claude-sonnet-4-5-20250929'

  test('costs what a hand calculation gives: 100 fresh, 20,000 read, 3,000 for five minutes, 7,000 for an hour', () => {
    const usd = (100 * 3 + 20_000 * 0.3 + 3000 * 3.75 + 7000 * 6 + 1000 * 15) / 1e6
    const { usd: cost } = costOfUsage(written(30_100, 20_000, 10_000, 7000), SONNET, NOW, LIST_PRICES)
    expect(cost).toBeCloseTo(usd, 12)
  })

  test('costs as much as other input where the list has no price for it', () => {
    expect(costOfUsage(written(3_000_000, 1_000_000, 2_000_000, 0), 'river', NOW, LIST).usd).toBeCloseTo(4.5 + 0.008)
  })

  test('never counts more than the input', () => {
    expect(costOfUsage(written(100, 50, 9000, 9000), 'river', NOW, LIST).usd).toBeCloseTo(
      (50 * 2 + 50 * 0.5 + 1000 * 8) / 1e6,
    )
  })

  test('is added up by tier, and absent where nothing was written', () => {
    expect(addUsage(written(10, 0, 5, 2), written(10, 0, 3, 0))).toMatchObject({
      cache_write_tokens: 8,
      cache_write_1h_tokens: 2,
    })
    expect(addUsage(used(1, 0, 1), used(1, 0, 1))).not.toHaveProperty('cache_write_tokens')
  })
})

describe('the built-in list', () => {
  test.each([
    ['gpt-5-codex', { input: 1.25, cached_input: 0.125, output: 10 }],
    ['gpt-5.2-codex', { input: 1.75, cached_input: 0.175, output: 14 }],
    ['codex-mini-latest', { input: 1.5, cached_input: 0.375, output: 6 }],
    [
      'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
      { input: 3, cached_input: 0.3, cache_write: 3.75, cache_write_1h: 6, output: 15 },
    ],
    ['claude-opus-4.5', { input: 5, cached_input: 0.5, cache_write: 6.25, cache_write_1h: 10, output: 25 }],
    ['claude-sonnet-4-20250514', { input: 3, cached_input: 0.3, cache_write: 3.75, cache_write_1h: 6, output: 15 }],
  ])('knows %s', (model, price) => {
    expect(findPrice(model, NOW, LIST_PRICES)).toEqual(price)
  })

  test('is consistent: cached input is never more expensive, days ascend, aliases have prices', () => {
    for (const [model, entry] of Object.entries(LIST_PRICES.models)) {
      const prices = typeof entry === 'string' ? LIST_PRICES.models[entry] : entry
      if (prices === undefined || typeof prices === 'string') throw new Error(`${model} leads nowhere`)
      expect(prices.map(({ from = '' }) => from)).toEqual(prices.map(({ from = '' }) => from).sort())
      for (const { input, cached_input = 0, cache_write = input, cache_write_1h = cache_write, output } of prices) {
        expect(cached_input).toBeLessThan(input)
        expect(cache_write).toBeGreaterThanOrEqual(input)
        expect(cache_write_1h).toBeGreaterThanOrEqual(cache_write)
        expect(output).toBeGreaterThan(input)
      }
    }
    expect(LIST_PRICES.as_of).toMatch(/^\d{4}-\d{2}-\d{2}$/)
  })
})
