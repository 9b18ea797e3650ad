/** Filters and options of the statistics, from the address. */
import type { SessionSort } from '../../model/api/session.ts'
import type { TEAM_CSV_TABLES } from '../../model/api/stats.ts'
import { apiPath } from '../api/client.ts'
import { dayOf } from '../format.ts'
import { hrefOf, type UrlQuery } from '../navigation/address.ts'

export const MEASURES = ['tokens', 'cost', 'cache'] as const
export type StatisticsMeasure = (typeof MEASURES)[number]
export const STATISTICS_GROUPS = ['all', 'model', 'project', 'agent', 'person', 'branch'] as const
/** Without people. */
export const OWN_GROUPS = ['all', 'model', 'project', 'agent'] as const satisfies readonly StatisticsGroup[]
export type StatisticsGroup = (typeof STATISTICS_GROUPS)[number]
export const TIME_STEPS = ['day', 'week', 'month'] as const
export type TimeStep = (typeof TIME_STEPS)[number]
export const PERIODS = ['week', '7d', '30d', '90d', '365d', 'all'] as const
export type StatisticsPeriod = (typeof PERIODS)[number] | 'custom'

/** People and branches at the server of a team. */
const FILTER_NAMES = ['agent', 'project', 'model', 'tool', 'person', 'branch', 'since', 'until'] as const
export type StatisticsFilter = { readonly [name in (typeof FILTER_NAMES)[number]]?: string }

/** The period that the address selects: this week by default. */
export interface ChosenPeriod {
  readonly period: StatisticsPeriod
  readonly filter: StatisticsFilter
  /** As long a time directly before it, up to the same hour. Undefined without a beginning. */
  readonly previous: StatisticsFilter | undefined
}

export function parseStatisticsFilter(query: UrlQuery, now: Date): ChosenPeriod {
  const {
    since = 'week',
    until,
    ...others
  } = Object.fromEntries(FILTER_NAMES.flatMap((name) => (query[name] ? [[name, query[name]]] : []))) as StatisticsFilter
  const period = until === undefined ? (findName(PERIODS, since) ?? 'custom') : 'custom'
  if (period === 'all') return { period, filter: others, previous: undefined }
  if (period !== 'custom') {
    const days = period === 'week' ? 7 : Number.parseInt(period, 10)
    const first = period === 'week' ? -((now.getDay() + 6) % 7) : 1 - days
    const before = new Date(now.getTime() - days * DAY_MS).toISOString()
    return {
      period,
      filter: { ...others, since: dayAfter(now, first) },
      previous: { ...others, since: dayAfter(now, first - days), until: before },
    }
  }
  const chosen = { ...others, since, ...(until !== undefined && { until }) }
  const length = until === undefined ? Number.NaN : (Date.parse(until) - Date.parse(since)) / DAY_MS + 1
  if (!isDay(since) || !isDay(until ?? '') || !(length > 0)) return { period, filter: chosen, previous: undefined }
  const start = new Date(`${since}T12:00:00`)
  return {
    period,
    filter: chosen,
    previous: { ...others, since: dayAfter(start, -length), until: dayAfter(start, -1) },
  }
}

const DAY_MS = 86_400_000
export const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text)

function dayAfter(date: Date, days: number): string {
  return dayOf(new Date(date.getFullYear(), date.getMonth(), date.getDate() + days, 12).toISOString())
}

/** Every day of the period until today, or until its last day. */
export function daysOfPeriod(
  { since, until }: StatisticsFilter,
  firstKnown: string | undefined,
  now: Date,
): readonly string[] {
  const first = since !== undefined && isDay(since) ? since : firstKnown
  if (first === undefined) return []
  const today = dayOf(now.toISOString())
  const last = until !== undefined && isDay(until) && until < today ? until : today
  const days: string[] = []
  const start = new Date(`${first}T12:00:00`)
  for (let day = first, at = 0; day <= last && at < MAX_DAYS; day = dayAfter(start, ++at)) days.push(day)
  return days
}

/** Fifteen years. A wrong clock may have written any date. */
const MAX_DAYS = 5500

const findName = <Name extends string>(names: readonly Name[], given: string | undefined): Name | undefined =>
  names.find((name) => name === given)

export const parseMeasure = (query: UrlQuery): StatisticsMeasure => findName(MEASURES, query['show']) ?? 'tokens'
export const parseGroup = (query: UrlQuery): StatisticsGroup => findName(STATISTICS_GROUPS, query['by']) ?? 'model'
export const parseStep = (query: UrlQuery): TimeStep | undefined => findName(TIME_STEPS, query['step'])

/** Keeps a chart at about a hundred bars or fewer. */
export function defaultStep({ since }: StatisticsFilter, today: Date): TimeStep {
  const at = since === undefined ? Number.NaN : Date.parse(since)
  const days = since === undefined ? Number.POSITIVE_INFINITY : Number.isNaN(at) ? 0 : (today.getTime() - at) / DAY_MS
  return days <= 100 ? 'day' : days <= 800 ? 'week' : 'month'
}

export const csvHref = (
  table: (typeof TEAM_CSV_TABLES)[number],
  filter: StatisticsFilter,
  more: { by?: StatisticsGroup; step?: TimeStep } = {},
): string =>
  apiPath('/stats/export.csv', { ...filter, ...(more.by !== 'all' && { by: more.by }), step: more.step, table })

export const sessionsHref = (filter: StatisticsFilter, first: string, last: string): string =>
  hrefOf('/', { ...filter, since: first, until: last, children: 'all' })

/** The sessions behind a number, with those first that contribute most. Forks and sub-agents count, so they are listed. */
export const rankedHref = (filter: StatisticsFilter, sort?: SessionSort): string =>
  hrefOf('/', { ...filter, sort: sort && `-${sort}`, children: 'all' })

export function lastDayOf(start: string, step: TimeStep): string {
  const date = new Date(`${start}T00:00:00Z`)
  if (step === 'week') date.setUTCDate(date.getUTCDate() + 6)
  if (step === 'month') date.setUTCMonth(date.getUTCMonth() + 1, 0)
  return date.toISOString().slice(0, 10)
}
