import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Instant } from './ids.ts'
import { LIST_PRICES } from './prices.ts'
import { toUtcDay } from './totals.ts'
import { addUsage, NO_USAGE } from './usage.ts'
import { BLOCK_MS, groupUsage, USAGE_DIMENSIONS, type UsageRecord } from './usage-groups.ts'

const measures = { dayOf: toUtcDay, prices: LIST_PRICES }
const record = (at: string | null, model = 'gpt-5', tokens = 10, project = '/w/app'): UsageRecord => ({
  at: at as Instant | null,
  model,
  agent: 'codex',
  project,
  session: `codex:${project}`,
  usage: { ...NO_USAGE, input_tokens: tokens, total_tokens: tokens },
})
const tokensBy = (records: readonly UsageRecord[], ...by: Parameters<typeof groupUsage>[1]) =>
  groupUsage(records, by, measures).map(({ names, usage }) => [...names, usage.total_tokens])

describe('tokens are grouped', () => {
  const records = [
    record('2026-03-01T23:45:00.000Z'),
    record('2026-03-02T00:00:00.000Z', 'o3', 5),
    record('2026-03-08T10:00:00.000Z'),
    record('2026-04-01T10:00:00.000Z', 'gpt-5', 1),
    record(null, 'o3', 2),
  ]

  test('by weeks that begin on Monday, and by months', () => {
    expect(tokensBy(records, 'week')).toEqual([
      ['2026-02-23', 10],
      ['2026-03-02', 15],
      ['2026-03-30', 1],
      ['unknown', 2],
    ])
    expect(tokensBy(records, 'month')).toEqual([
      ['2026-03', 25],
      ['2026-04', 1],
      ['unknown', 2],
    ])
  })

  test('by two dimensions, dates first and the largest first within a date', () => {
    const day = [record('2026-03-01T08:00:00.000Z', 'o3', 3), record('2026-03-01T09:00:00.000Z', 'gpt-5', 7)]
    expect(tokensBy([...day, record('2026-02-01T09:00:00.000Z', 'o3', 1)], 'day', 'model')).toEqual([
      ['2026-02-01', 'o3', 1],
      ['2026-03-01', 'gpt-5', 7],
      ['2026-03-01', 'o3', 3],
    ])
  })

  test('by blocks that last five hours from the full hour of their first use', () => {
    const times = ['09:45', '14:00', '14:15', '20:00'].map((time) => record(`2026-03-01T${time}:00.000Z`))
    expect(tokensBy(times, 'block')).toEqual([
      ['2026-03-01T09:00:00.000Z', 10],
      ['2026-03-01T14:00:00.000Z', 20],
      ['2026-03-01T20:00:00.000Z', 10],
    ])
  })

  test('and nothing is lost or counted twice; blocks do not overlap', () => {
    const anyRecord = fc
      .tuple(fc.option(fc.integer({ min: 0, max: 400 })), fc.constantFrom('gpt-5', 'o3'), fc.nat(1000))
      .map(([quarter, model, tokens]) =>
        record(
          quarter === null ? null : new Date(Date.UTC(2026, 1, 1) + quarter * 900_000).toISOString(),
          model,
          tokens,
        ),
      )
    fc.assert(
      fc.property(
        fc.array(anyRecord),
        fc.subarray([...USAGE_DIMENSIONS], { minLength: 1, maxLength: 2 }),
        (records, by) => {
          const groups = groupUsage(records, by, measures)
          const sum = groups.map(({ usage }) => usage).reduce(addUsage, NO_USAGE)
          expect(sum).toEqual(records.map(({ usage }) => usage).reduce(addUsage, NO_USAGE))
          expect(new Set(groups.map(({ names }) => JSON.stringify(names))).size).toBe(groups.length)
          const blocks = groupUsage(records, ['block'], measures).flatMap(({ names: [start] }) =>
            start === 'unknown' || start === undefined ? [] : Date.parse(start),
          )
          blocks.slice(1).forEach((start, at) => {
            expect(start - (blocks[at] ?? 0)).toBeGreaterThanOrEqual(BLOCK_MS)
          })
        },
      ),
    )
  })
})

test('a subscription has no cost', () => {
  const prices = { ...LIST_PRICES, plan: 'subscription' as const }
  const [group] = groupUsage([record('2026-03-01T09:00:00.000Z')], ['model'], { ...measures, prices })
  expect(group?.cost).toEqual({ usd: 0, unpriced_tokens: 0 })
})
