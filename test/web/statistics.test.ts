/** The numbers behind the charts. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Series } from '../../src/model/api/stats.ts'
import { NO_COST } from '../../src/model/prices.ts'
import { calendarDays, monthLabels } from '../../src/web/statistics/calendar.ts'
import { chartLines, stackLines } from '../../src/web/statistics/chart.ts'
import { changeOf, shownHeadlines, sparklinePath, sparklineValues } from '../../src/web/statistics/headlines.ts'
import { heatLevel, weekdayName } from '../../src/web/statistics/heat-map.ts'
import {
  csvHref,
  daysOfPeriod,
  defaultStep,
  lastDayOf,
  parseMeasure,
  parseStatisticsFilter,
} from '../../src/web/statistics/statistics-filter.ts'

const line = (name: string | null, rest: boolean, input: readonly number[], cached: readonly number[]) => ({
  name,
  rest,
  total_tokens: input,
  input_tokens: input,
  cached_input_tokens: cached,
  cache_write_tokens: cached.map(() => 0),
  output_tokens: input.map(() => 0),
  usd: input.map((tokens) => tokens / 100),
})
const series: Series = {
  step: 'day',
  starts: ['2026-02-03', '2026-02-04'],
  lines: [line('gpt-5', false, [100, 0], [80, 0]), line(null, true, [10, 20], [0, 10])],
}

test('each measure has its own lines', () => {
  expect(chartLines(series, 'tokens')).toMatchObject([
    { name: 'gpt-5', tone: 1, values: [100, 0], total: 100 },
    { name: null, isRest: true, tone: 9, total: 30 },
  ])
  expect(chartLines(series, 'cost')[1]).toMatchObject({ values: [0.1, 0.2] })
  expect(chartLines(series, 'cache')).toMatchObject([
    { values: [0.8, null], total: 0.8 },
    { values: [0, 0.5], total: 10 / 30 },
  ])
})

test('stacked lines never decrease and end at the sum', () => {
  const values = fc.array(fc.array(fc.option(fc.nat(1e6)), { minLength: 3, maxLength: 3 }), { minLength: 1 })
  fc.assert(
    fc.property(values, (lines) => {
      const heights = stackLines(lines)
      for (const at of [0, 1, 2]) {
        const column = heights.map((one) => one[at] ?? 0)
        expect(column).toEqual([...column].sort((a, b) => a - b))
        expect(column.at(-1)).toBe(lines.reduce((sum, one) => sum + (one[at] ?? 0), 0))
      }
    }),
  )
})

/** A Thursday. */
const NOW = new Date('2026-11-19T15:00:00')

test('a period is compared with as long a time before it, up to the same hour', () => {
  const period = (query: Record<string, string>) => parseStatisticsFilter(query, NOW)
  const ago = (days: number): string => new Date(NOW.getTime() - days * 86_400_000).toISOString()
  expect(period({})).toEqual({
    period: 'week',
    filter: { since: '2026-11-16' },
    previous: { since: '2026-11-09', until: ago(7) },
  })
  expect(period({ since: '30d', agent: 'codex' })).toEqual({
    period: '30d',
    filter: { agent: 'codex', since: '2026-10-21' },
    previous: { agent: 'codex', since: '2026-09-21', until: ago(30) },
  })
  expect(period({ since: '2026-11-01', until: '2026-11-10' })).toMatchObject({
    period: 'custom',
    previous: { since: '2026-10-22', until: '2026-10-31' },
  })
  expect(period({ since: 'all' })).toEqual({ period: 'all', filter: {}, previous: undefined })
  expect(period({ since: 'nonsense', until: '2026-11-10' }).previous).toBeUndefined()
})

test('the cost is a headline only if something has a price, or none is known', () => {
  const numbers = { sessions: 3, total_tokens: 10, cost: NO_COST, calls: 5, results: 5, errors: 2 }
  const isShown = (...costs: readonly (typeof NO_COST)[]) =>
    shownHeadlines(costs.map((cost) => ({ ...numbers, cost }))).includes('cost')
  expect(isShown(NO_COST, NO_COST)).toBe(false)
  expect(isShown(NO_COST, { ...NO_COST, usd: 0.1 })).toBe(true)
  expect(isShown({ ...NO_COST, unpriced_tokens: 7 })).toBe(true)
  expect(shownHeadlines([])).toEqual(['tokens', 'sessions', 'failed'])
})

test('the line of a headline has a value for each day, and at most sixty', () => {
  const days = daysOfPeriod({ since: '2026-11-16' }, undefined, NOW)
  expect(days).toEqual(['2026-11-16', '2026-11-17', '2026-11-18', '2026-11-19'])
  const numbers = { sessions: 3, total_tokens: 10, cost: NO_COST, calls: 5, results: 5, errors: 2 }
  expect(sparklineValues(days, [{ day: '2026-11-18', ...numbers }], 'failed')).toEqual([0, 0, 2, 0])
  const years = daysOfPeriod({}, '2020-01-01', NOW)
  const known = years.map((day) => ({ day, ...numbers }))
  const values = sparklineValues(years, known, 'sessions')
  expect(values.length).toBeLessThanOrEqual(60)
  expect(values.reduce((sum, one) => sum + one, 0)).toBe(3 * years.length)
  expect(sparklinePath([4])).toBe('M0 1.0H100')
})

test('a change is a share of the earlier value', () => {
  expect(changeOf(150, 100)).toEqual({ direction: 'up', share: 0.5 })
  expect(changeOf(50, 100)).toEqual({ direction: 'down', share: 0.5 })
  expect(changeOf(1001, 1000).direction).toBe('same')
  expect(changeOf(3, 0)).toEqual({ direction: 'up', share: undefined })
})

test('the calendar ends today and has whole weeks from Monday', () => {
  const days = calendarDays('2026-11-19')
  expect(days.at(-1)).toEqual({ day: '2026-11-19', week: 52, weekday: 3 })
  expect(days[0]).toEqual({ day: '2025-11-17', week: 0, weekday: 0 })
  const labels = monthLabels(days)
  expect(labels.map(({ month }) => month)).toEqual([...new Set(labels.map(({ month }) => month))])
  expect(labels.every(({ week }, at) => at === 0 || week - (labels[at - 1]?.week ?? 0) >= 3)).toBe(true)
})

test('only filters in the address are requested', () => {
  expect(parseStatisticsFilter({ since: 'all', agent: '', tool: 'shell', show: 'cost', x: '1' }, NOW).filter).toEqual({
    tool: 'shell',
  })
  expect(parseMeasure({ show: 'loudness' })).toBe('tokens')
  expect(csvHref('series', { since: '30d' }, { by: 'model', step: 'week' })).toBe(
    '/api/stats/export.csv?since=30d&by=model&step=week&table=series',
  )
  expect(csvHref('series', {}, { by: 'all', step: 'day' })).toBe('/api/stats/export.csv?step=day&table=series')
})

test('a long time has longer steps', () => {
  const today = new Date('2026-11-15')
  expect(
    ['2026-11-09', '2026-08-20', '2025-11-15', '2026-10-01', '2020-01-01'].map((since) =>
      defaultStep({ since }, today),
    ),
  ).toEqual(['day', 'day', 'week', 'day', 'month'])
  expect(defaultStep({}, today)).toBe('month')
  expect(lastDayOf('2026-02-01', 'month')).toBe('2026-02-28')
  expect(lastDayOf('2026-12-28', 'week')).toBe('2027-01-03')
  expect(lastDayOf('2026-02-03', 'day')).toBe('2026-02-03')
})

test('busier hours have a higher heat level', () => {
  expect([0, 1, 30, 100].map((count) => heatLevel(count, 100))).toEqual([0, 1, 3, 4])
  expect(heatLevel(0, 0)).toBe(0)
  expect(weekdayName(0, 'en', 'long')).toBe('Sunday')
  expect(weekdayName(6, 'ja', 'short')).toBe('土')
})
