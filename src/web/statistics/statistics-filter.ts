/** Filters and options of the statistics, from the address. */
import type { CSV_TABLES } from '../../model/api/stats.ts'
import { apiPath } from '../api/client.ts'
import { hrefOf, type UrlQuery } from '../navigation/address.ts'

export const MEASURES = ['tokens', 'cost', 'cache'] as const
export type StatisticsMeasure = (typeof MEASURES)[number]
export const STATISTICS_GROUPS = ['all', 'model', 'project', 'agent'] as const
export type StatisticsGroup = (typeof STATISTICS_GROUPS)[number]
export const TIME_STEPS = ['day', 'week', 'month'] as const
export type TimeStep = (typeof TIME_STEPS)[number]
export const PERIODS = ['7d', '30d', '90d', '365d'] as const

const FILTER_NAMES = ['agent', 'project', 'model', 'tool', 'since', 'until'] as const
export type StatisticsFilter = { readonly [name in (typeof FILTER_NAMES)[number]]?: string }

export function parseStatisticsFilter(query: UrlQuery): StatisticsFilter {
  return Object.fromEntries(FILTER_NAMES.flatMap((name) => (query[name] ? [[name, query[name]]] : [])))
}

const findName = <Name extends string>(names: readonly Name[], given: string | undefined): Name | undefined =>
  names.find((name) => name === given)

export const parseMeasure = (query: UrlQuery): StatisticsMeasure => findName(MEASURES, query['show']) ?? 'tokens'
export const parseGroup = (query: UrlQuery): StatisticsGroup => findName(STATISTICS_GROUPS, query['by']) ?? 'model'
export const parseStep = (query: UrlQuery): TimeStep | undefined => findName(TIME_STEPS, query['step'])

/** Keeps a chart at about a hundred bars or fewer. */
export function defaultStep({ since }: StatisticsFilter, today: Date): TimeStep {
  const days = since === undefined ? Number.POSITIVE_INFINITY : daysSince(since, today)
  return days <= 100 ? 'day' : days <= 800 ? 'week' : 'month'
}

function daysSince(since: string, today: Date): number {
  const [, count] = /^(\d+)d$/.exec(since) ?? []
  if (count !== undefined) return Number(count)
  const at = Date.parse(since)
  return Number.isNaN(at) ? 0 : (today.getTime() - at) / 86_400_000
}

export const csvHref = (
  table: (typeof CSV_TABLES)[number],
  filter: StatisticsFilter,
  more: { by?: StatisticsGroup; step?: TimeStep } = {},
): string =>
  apiPath('/stats/export.csv', { ...filter, ...(more.by !== 'all' && { by: more.by }), step: more.step, table })

export const sessionsHref = (filter: StatisticsFilter, first: string, last: string): string =>
  hrefOf('/', { ...filter, since: first, until: last })

export function lastDayOf(start: string, step: TimeStep): string {
  const date = new Date(`${start}T00:00:00Z`)
  if (step === 'week') date.setUTCDate(date.getUTCDate() + 6)
  if (step === 'month') date.setUTCMonth(date.getUTCMonth() + 1, 0)
  return date.toISOString().slice(0, 10)
}
