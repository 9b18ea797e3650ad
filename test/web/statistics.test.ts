/** The numbers behind the charts. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Series } from '../../src/model/api/stats.ts'
import { chartLines, stackLines } from '../../src/web/statistics/chart.ts'
import { findBusiestHour, heatLevel, weekdayName } from '../../src/web/statistics/heat-map.ts'
import {
  csvHref,
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

test('only filters in the address are requested', () => {
  expect(parseStatisticsFilter({ since: '30d', agent: '', show: 'cost', x: '1' })).toEqual({ since: '30d' })
  expect(parseMeasure({ show: 'loudness' })).toBe('tokens')
  expect(csvHref('series', { since: '30d' }, { by: 'model', step: 'week' })).toBe(
    '/api/stats/export.csv?since=30d&by=model&step=week&table=series',
  )
  expect(csvHref('series', {}, { by: 'all', step: 'day' })).toBe('/api/stats/export.csv?step=day&table=series')
})

test('a long time has longer steps', () => {
  const today = new Date('2026-11-15')
  expect(['7d', '90d', '365d', '2026-10-01', '2020-01-01'].map((since) => defaultStep({ since }, today))).toEqual([
    'day',
    'day',
    'week',
    'day',
    'month',
  ])
  expect(defaultStep({}, today)).toBe('month')
  expect(lastDayOf('2026-02-01', 'month')).toBe('2026-02-28')
  expect(lastDayOf('2026-12-28', 'week')).toBe('2027-01-03')
  expect(lastDayOf('2026-02-03', 'day')).toBe('2026-02-03')
})

test('busier hours have a higher heat level', () => {
  expect([0, 1, 30, 100].map((count) => heatLevel(count, 100))).toEqual([0, 1, 3, 4])
  expect(heatLevel(0, 0)).toBe(0)
  expect(findBusiestHour([[0, 2], [5]])).toEqual({ weekday: 1, hour: 0 })
  expect(findBusiestHour([[0]])).toBeUndefined()
  expect(weekdayName(0, 'en', 'long')).toBe('Sunday')
  expect(weekdayName(6, 'ja', 'short')).toBe('土')
})
