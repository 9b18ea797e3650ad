/** The user's price file: same format, with all errors reported. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readPrices } from '../../src/config/config.ts'
import type { Instant } from '../../src/model/ids.ts'
import { findPrice, LIST_PRICES } from '../../src/model/prices.ts'
import { shortSession, tempFolder, text } from '../support/codex-log.ts'
import { fumi } from '../support/run-fumi.ts'

const NOW = '2026-11-15T12:00:00.000Z' as Instant

function read(content: unknown) {
  const path = join(tempFolder(), 'prices.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  const { list, problems } = readPrices(path)
  return { path, list, problems, told: problems.map(({ key, reason }) => `${key}: ${reason.en}`) }
}

describe('a custom price list', () => {
  test('takes precedence over the built-in one, model by model', () => {
    const { list, problems } = read({
      as_of: '2026-11-10',
      source: 'our contract',
      models: {
        'gpt-5': { input: 1, cached_input: 0.1, output: 2 },
        ours: [
          { from: '2026-06-01', input: 3, output: 4 },
          { input: 5, output: 6 },
        ],
        'ours-too': 'ours',
        'as-sonnet': 'claude-sonnet-4-5',
      },
    })
    expect(problems).toEqual([])
    expect(list).toMatchObject({ as_of: '2026-11-10', source: 'our contract' })
    expect(findPrice('gpt-5-2025-08-07', NOW, list)?.output).toBe(2)
    expect(findPrice('ours-too', NOW, list)?.input).toBe(3)
    expect(findPrice('ours', '2026-01-01T00:00:00.000Z' as Instant, list)?.input).toBe(5)
    expect(findPrice('as-sonnet', NOW, list)?.input).toBe(3)
    expect(findPrice('gpt-5.1', NOW, list)?.input).toBe(1.25)
  })

  test('reports errors with their position, and the rest applies', () => {
    const { told: reported, list } = read({
      as_of: 'yesterday',
      currency: 'JPY',
      models: {
        a: { input: '1', output: 2 },
        b: { input: 1 },
        c: [
          { input: 1, output: 2 },
          { from: 'May', input: 1, output: 2, tax: 3 },
        ],
        d: 'nobody',
        e: { input: -1, output: 2 },
        f: [],
        right: { input: 1, output: 2 },
      },
    })
    expect(reported).toEqual([
      'as_of: must be a day such as "2026-02-03"',
      'currency: is not known; there are as_of, source, models',
      'models.a.input: must be US dollars per million tokens',
      'models.b.output: is missing',
      'models.c[1].from: must be a day such as "2026-02-03"',
      'models.c[1].tax: is not known; there are from, input, cached_input, cache_write, cache_write_1h, output',
      'models.e.input: must be US dollars per million tokens',
      'models.f: must have at least one price',
      'models.d: must be the name of a model that has prices',
    ])
    for (const model of ['a', 'b', 'c', 'd', 'e', 'f']) expect(findPrice(model, NOW, list)).toBeUndefined()
    expect(findPrice('right', NOW, list)?.output).toBe(2)
  })

  test('that cannot be used is replaced by the built-in one', () => {
    expect(read('{"models": {} // none\n}')).toMatchObject({ list: LIST_PRICES, problems: [{ key: '' }] })
    expect(readPrices('/no/such/file')).toMatchObject({ list: LIST_PRICES, problems: [{ where: '/no/such/file' }] })
    expect(readPrices(null)).toEqual({ list: LIST_PRICES, problems: [] })
  })
})

test('fumi stats shows costs, and the models without a price', () => {
  const folder = tempFolder()
  const env = { HOME: folder, FUMI_HOME: join(folder, 'fumi'), CODEX_HOME: join(folder, 'codex') }
  mkdirSync(join(env.CODEX_HOME, 'sessions'), { recursive: true })
  const path = join(env.CODEX_HOME, 'sessions', 'rollout-2026-02-03T09-15-00-test.jsonl')
  writeFileSync(path, text(shortSession()))
  const spent = (2100 * 1.25 + 80 * 10) / 1e6
  const cost = (...args: readonly string[]) => JSON.parse(fumi(['stats', '--json', ...args], { env }).out).cost
  expect(cost('--by', 'session')).toEqual({
    usd: expect.closeTo(spent, 9),
    unpriced_tokens: 0,
    as_of: LIST_PRICES.as_of,
    by_model: { 'gpt-5-codex': { usd: expect.closeTo(spent, 9), unpriced_tokens: 0 } },
    by_day: { '2026-02-03': { usd: expect.closeTo(spent, 9), unpriced_tokens: 0 } },
    by_agent: { codex: { usd: expect.closeTo(spent, 9), unpriced_tokens: 0 } },
    by_session: { 'codex:019c0000-0000-7000-8000-000000000001': { usd: expect.closeTo(spent, 9), unpriced_tokens: 0 } },
  })
  writeFileSync(join(folder, 'mine.json'), '{"models": {"gpt-5-codex": {"input": 1000, "output": 1000}}, "x": 1}')
  const mine = fumi(['stats', '--set', `prices=${join(folder, 'mine.json')}`], { env })
  expect(mine.out).toMatch(/^gpt-5-codex\t.*\t2\.18$/m)
  expect(mine.err).toContain('mine.json: x is not known')
  writeFileSync(path, text(shortSession()).replaceAll('gpt-5-codex', 'unheard-of'))
  const unknown = fumi(['stats'], { env }).out
  expect(unknown).toMatch(/^unheard-of\t.*\t\?$/m)
  expect(unknown).toContain('No price for unheard-of (2,180 tokens).')
})
