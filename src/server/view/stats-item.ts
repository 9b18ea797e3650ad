/** Statistics as the API returns them: sums, series, tools, activity, and any of them as CSV. */
import type { App, SessionFilter } from '../../app.ts'
import type { Activity, NamedSum, Series, SeriesLine, StatsItem, ToolStat } from '../../model/api/stats.ts'
import { addSafely } from '../../model/checked-numbers.ts'
import { instantFromMs, type SessionId } from '../../model/ids.ts'
import { NO_COST, type Spent } from '../../model/prices.ts'
import { toEstimatedTokens } from '../../model/token-estimate.ts'
import { createLocalDay, localHourOf, toUtcDay, utcHourOf } from '../../model/totals.ts'
import { cacheShareOf, NO_USAGE, type Usage } from '../../model/usage.ts'

const MAX_SESSIONS = 50
const MAX_SERIES_LINES = 8

export async function statsItem(app: App, filter: SessionFilter, utc: boolean): Promise<StatsItem> {
  const { list } = await app.prices()
  const stats = app.stats({ ...filter, most: MAX_SESSIONS, ...(utc && { utc }) })
  const totals = await app.totals(filter, utc ? toUtcDay : createLocalDay())
  const titles = new Map<string, string | null>()
  const titleFor = (id: string): string | null => titles.get(id) ?? null
  const bySession = toNamedSums(totals?.by_session, totals?.cost.by_session).slice(0, MAX_SESSIONS)
  const named = [
    ...bySession.map(({ name }) => name as SessionId),
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
    longest: (stats?.longest ?? []).map((one) => ({ ...one, title: titleFor(one.session) })),
    disk: stats?.disk ?? [],
    prices: { as_of: list.as_of, source: list.source },
    uncounted: stats?.unread ?? 0,
  }
}

/** Most tokens first. */
function toNamedSums(usages: Readonly<Record<string, Usage>> = {}, costs: Readonly<Record<string, Spent>> = {}) {
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

export async function seriesItem(
  app: App,
  filter: SessionFilter,
  { by, step, utc }: SeriesItemOptions,
): Promise<Series> {
  const { list: prices } = await app.prices()
  const sums = app.index.series({ ...filter, dayOf: utc ? toUtcDay : createLocalDay(), prices, ...(by && { by }) })
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
    const key = by && largest.includes(name) ? name : null
    const line = lines.get(key) ?? emptyLine(key, by !== undefined && key === null, starts.length)
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

export function activityItem(app: App, filter: SessionFilter, utc: boolean): Activity {
  const hourOf = utc ? utcHourOf : localHourOf
  const dayOf = utc ? toUtcDay : createLocalDay()
  const by_week = Array.from({ length: 7 }, () => Array.from({ length: 24 }, () => 0))
  const days = new Map<string, number>()
  for (const { at, count } of app.index.activity(filter)) {
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
