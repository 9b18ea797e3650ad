/** Statistics as the API returns them: sums, series, tools, activity, and any of them as CSV. */
import type { App, SessionFilter } from '../../app.ts'
import type { Activity, NamedSum, Series, SeriesLine, StatsItem, ToolStat } from '../../model/api/stats.ts'
import { addSafely } from '../../model/checked-numbers.ts'
import { instantFromMs, type SessionId } from '../../model/ids.ts'
import { NO_COST, type Spent } from '../../model/prices.ts'
import { toEstimatedTokens } from '../../model/token-estimate.ts'
import { createLocalDay, localHourOf, toUtcDay, utcHourOf } from '../../model/totals.ts'
import { allUsageFields, cacheShareOf, NO_USAGE, type Usage } from '../../model/usage.ts'

const MAX_SESSIONS = 50
const MAX_SERIES_LINES = 8

export async function statsItem(app: App, filter: SessionFilter, utc: boolean): Promise<StatsItem> {
  const { list } = await app.prices()
  const stats = app.stats({ ...filter, most: MAX_SESSIONS, ...(utc && { utc }) })
  const totals = await app.totals(filter, utc ? toUtcDay : createLocalDay())
  const titles = new Map<string, string | null>()
  const titleFor = (id: string): string | null => titles.get(id) ?? null
  const allSessions = toNamedSums(totals?.by_session, totals?.cost.by_session)
  const bySession = allSessions.slice(0, MAX_SESSIONS)
  const byCost = allSessions
    .filter(({ cost }) => cost.usd > 0)
    .sort((a, b) => b.cost.usd - a.cost.usd)
    .slice(0, MAX_SESSIONS)
  const named = [
    ...[...bySession, ...byCost].map(({ name }) => name as SessionId),
    ...(stats?.longest ?? []).map(({ session }) => session),
  ]
  for (const { id, title } of app.list({ ids: named, kind: 'any', children: 'all', limit: named.length }).sessions)
    titles.set(id, app.annotations.get(id)?.name ?? title ?? null)
  const usage = totals?.usage ?? NO_USAGE
  return {
    sessions: totals?.sessions ?? 0,
    messages: totals?.messages ?? 0,
    tool_calls: Object.values(totals?.tools ?? {}).reduce((sum, calls) => sum + calls, 0),
    usage,
    cost: totals?.cost.all ?? NO_COST,
    cache_share: cacheShareOf(usage),
    estimate:
      totals && totals.estimated_sessions > 0
        ? { total_tokens: toEstimatedTokens(totals.estimate).total_tokens, sessions: totals.estimated_sessions }
        : null,
    by_model: toNamedSums(totals?.by_model, totals?.cost.by_model),
    by_project: toNamedSums(totals?.by_project, totals?.cost.by_project),
    by_agent: toNamedSums(totals?.by_agent, totals?.cost.by_agent),
    by_session: bySession.map((sum) => ({ ...sum, title: titleFor(sum.name) })),
    by_session_cost: byCost.map((sum) => ({ ...sum, title: titleFor(sum.name) })),
    longest: (stats?.longest ?? []).map((one) => ({ ...one, title: titleFor(one.session) })),
    disk: stats?.disk ?? [],
    prices: { as_of: list.as_of, source: list.source },
    uncounted: stats?.unread ?? 0,
  }
}

/** Most tokens first. */
export function toNamedSums(usages: Readonly<Record<string, Usage>> = {}, costs: Readonly<Record<string, Spent>> = {}) {
  const sums: NamedSum[] = Object.entries(usages).map(([name, usage]) => ({
    name,
    usage,
    cost: costs[name] ?? NO_COST,
  }))
  return sums.sort((a, b) => b.usage.total_tokens - a.usage.total_tokens || (a.name < b.name ? -1 : 1))
}

export const toolItems = (app: App, filter: SessionFilter): readonly ToolStat[] & CsvTable => [
  ...(app.stats(filter)?.tools.map((tool) => ({ ...tool })) ?? []),
]

interface SeriesItemOptions {
  readonly by?: 'agent' | 'model' | 'project' | undefined
  readonly step: 'day' | 'week' | 'month'
  readonly utc?: boolean | undefined
}

export async function seriesItem(app: App, filter: SessionFilter, options: SeriesItemOptions): Promise<Series> {
  const { by, step, utc } = options
  const { list: prices } = await app.prices()
  const sums = app.index.series({ ...filter, dayOf: utc ? toUtcDay : createLocalDay(), prices, ...(by && { by }) })
  return buildSeries(sums, by !== undefined, step)
}

/** @param sums one for each day and name, in order of days */
export function buildSeries(
  sums: readonly { readonly day: string; readonly name: string; readonly usage: Usage; readonly cost: Spent }[],
  isGrouped: boolean,
  step: Series['step'],
): Series {
  const starts = stepStarts(
    sums.map(({ day }) => day),
    step,
  )
  const places = new Map(starts.map((start, at) => [start, at]))
  const weights = new Map<string, number>()
  for (const { name, usage } of sums) weights.set(name, (weights.get(name) ?? 0) + usage.total_tokens)
  const largest = [...weights]
    .sort((a, b) => b[1] - a[1])
    .slice(0, MAX_SERIES_LINES)
    .map(([name]) => name)
  const lines = new Map<string | null, Writable<SeriesLine>>()
  for (const { day, name, usage, cost } of sums) {
    const key = isGrouped && largest.includes(name) ? name : null
    const line = lines.get(key) ?? emptyLine(key, isGrouped && key === null, starts.length)
    lines.set(key, line)
    const at = places.get(stepStart(day, step)) ?? 0
    for (const token of SERIES_TOKENS) line[token][at] = addSafely(line[token][at] ?? 0, usage[token] ?? 0)
    line.usd[at] = (line.usd[at] ?? 0) + cost.usd
  }
  const order = [...largest, null]
  return { step, starts, lines: order.flatMap((name) => lines.get(name) ?? []) }
}

const SERIES_TOKENS = [
  'total_tokens',
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
] as const

type Writable<T> = { [K in keyof T]: T[K] extends readonly number[] ? number[] : T[K] }

function emptyLine(name: string | null, rest: boolean, length: number): Writable<SeriesLine> {
  const zeros = (): number[] => Array.from({ length }, () => 0)
  return {
    name,
    rest,
    total_tokens: zeros(),
    input_tokens: zeros(),
    cached_input_tokens: zeros(),
    cache_write_tokens: zeros(),
    output_tokens: zeros(),
    usd: zeros(),
  }
}

const DAY_MS = 86_400_000

/** Weeks begin on Monday. */
function stepStart(day: string, step: Series['step']): string {
  if (step === 'month') return `${day.slice(0, 8)}01`
  if (step === 'day') return day
  const at = Date.parse(`${day}T00:00:00Z`)
  return new Date(at - ((new Date(at).getUTCDay() + 6) % 7) * DAY_MS).toISOString().slice(0, 10)
}

/** Twenty years. Logs may contain any time: over a longer period only days with data become steps. */
const MAX_GAPLESS_MS = 20 * 366 * DAY_MS

/** @param days in order */
function stepStarts(days: readonly string[], step: Series['step']): readonly string[] {
  const [first, last] = [days[0], days.at(-1)].map((day) => Date.parse(`${day}T00:00:00Z`))
  if (first === undefined || last === undefined || days.length === 0) return []
  if (last - first > MAX_GAPLESS_MS) return [...new Set(days.map((day) => stepStart(day, step)))]
  const starts = new Set<string>()
  for (let at = first; at <= last; at += DAY_MS) starts.add(stepStart(new Date(at).toISOString().slice(0, 10), step))
  return [...starts]
}

export const activityItem = (app: App, filter: SessionFilter, utc: boolean): Activity =>
  buildActivity(app.index.activity(filter), utc)

/** @param quarters number of prompts, answers and calls by time in milliseconds */
export function buildActivity(
  quarters: readonly { readonly at: number; readonly count: number }[],
  utc: boolean,
): Activity {
  const hourOf = utc ? utcHourOf : localHourOf
  const dayOf = utc ? toUtcDay : createLocalDay()
  const by_week = Array.from({ length: 7 }, () => Array.from({ length: 24 }, () => 0))
  const days = new Map<string, number>()
  for (const { at, count } of quarters) {
    const { hour, weekday } = hourOf(at)
    const row = by_week[weekday]
    if (row) row[hour] = (row[hour] ?? 0) + count
    const instant = instantFromMs(at)
    if (instant) days.set(dayOf(instant), (days.get(dayOf(instant)) ?? 0) + count)
  }
  const sum = (row: readonly number[]): number => row.reduce((all, one) => all + one, 0)
  return {
    by_hour: Array.from({ length: 24 }, (_, hour) => sum(by_week.map((row) => row[hour] ?? 0))),
    by_weekday: by_week.map(sum),
    by_week,
    by_day: Array.from(days, ([day, count]) => ({ day, count })),
  }
}

export type CsvTable = readonly { readonly [column: string]: string | number | null }[]

export const seriesRows = ({ starts, lines }: Series): CsvTable =>
  lines.flatMap((line) =>
    starts.map((start, at) => ({
      start,
      name: line.name ?? (line.rest ? 'rest' : 'all'),
      total_tokens: line.total_tokens[at] ?? 0,
      input_tokens: line.input_tokens[at] ?? 0,
      cached_input_tokens: line.cached_input_tokens[at] ?? 0,
      cache_write_tokens: line.cache_write_tokens[at] ?? 0,
      output_tokens: line.output_tokens[at] ?? 0,
      usd: line.usd[at] ?? 0,
    })),
  )

export const sumRows = (sums: readonly NamedSum[]): CsvTable =>
  sums.map(({ name, usage, cost }) => ({ name, ...allUsageFields(usage), ...cost }))

/** RFC 4180. */
export function toCsv(table: CsvTable): string {
  const [first] = table
  if (!first) return ''
  const columns = Object.keys(first)
  const rows = table.map((row) => columns.map((column) => formatCell(row[column] ?? '')))
  return [columns, ...rows].map((row) => `${row.join(',')}\r\n`).join('')
}

/**
 * Text that a spreadsheet may read as a formula, also in fullwidth forms and after spaces, control characters, quotes or zero-width
 * characters. Names come from logs, which are not trusted: such cells get a leading apostrophe.
 */
const FORMULA =
  /^[\s\p{Cc}\p{Cf}\p{Zs}"'\u2018\u2019\u201c\u201d\uff02\uff07]*[=+\-@\uff1d\uff0b\uff0d\uff20\u2212\ufe62\ufe63\ufe66\ufe6b]|^[\t\r\n]/u

function formatCell(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const text = FORMULA.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text
}
