/** What the address of the statistics says, as the server is asked for it. */
import type { CsvQuery } from '../../model/api/stats.ts'
import { pathOf } from '../api/client.ts'
import { hrefOf, type Query } from '../frame/address.ts'

export const MEASURES = ['tokens', 'cost', 'cache'] as const
export type Measure = (typeof MEASURES)[number]
export const GROUPS = ['all', 'model', 'project', 'agent'] as const
export type Group = (typeof GROUPS)[number]
export const STEPS = ['day', 'week', 'month'] as const
export type Step = (typeof STEPS)[number]
export const PERIODS = ['7d', '30d', '90d', '365d'] as const

const FILTERS = ['agent', 'project', 'model', 'tool', 'since', 'until'] as const
export type Filter = { readonly [name in (typeof FILTERS)[number]]?: string }

/** The names that lists and reports share; everything else in the address is left out. */
export function filterIn(query: Query): Filter {
  return Object.fromEntries(FILTERS.flatMap((name) => (query[name] ? [[name, query[name]]] : [])))
}

const oneOf = <Name extends string>(names: readonly Name[], given: string | undefined): Name | undefined =>
  names.find((name) => name === given)

export const measureIn = (query: Query): Measure => oneOf(MEASURES, query['show']) ?? 'tokens'
export const groupIn = (query: Query): Group => oneOf(GROUPS, query['by']) ?? 'model'
export const stepIn = (query: Query): Step | undefined => oneOf(STEPS, query['step'])

/** Where none is chosen: so that a chart has between a few and a hundred bars. */
export function stepFor({ since }: Filter, today: Date): Step {
  const days = since === undefined ? Number.POSITIVE_INFINITY : daysSince(since, today)
  return days <= 100 ? 'day' : days <= 800 ? 'week' : 'month'
}

function daysSince(since: string, today: Date): number {
  const [, count] = /^(\d+)d$/.exec(since) ?? []
  if (count !== undefined) return Number(count)
  const at = Date.parse(since)
  return Number.isNaN(at) ? 0 : (today.getTime() - at) / 86_400_000
}

export const csvHref = (table: CsvQuery['table'], filter: Filter, more: { by?: Group; step?: Step } = {}): string =>
  pathOf('/stats/export.csv', { ...filter, ...(more.by !== 'all' && { by: more.by }), step: more.step, table })

/** The list of the sessions of one step. */
export const sessionsHref = (filter: Filter, first: string, last: string): string =>
  hrefOf('/', { ...filter, since: first, until: last })

/** The last day of a step that begins on this day. */
export function lastDayOf(start: string, step: Step): string {
  const date = new Date(`${start}T00:00:00Z`)
  if (step === 'week') date.setUTCDate(date.getUTCDate() + 6)
  if (step === 'month') date.setUTCMonth(date.getUTCMonth() + 1, 0)
  return date.toISOString().slice(0, 10)
}
