/**
 * Statistics of sessions: tools, hours, tokens and cost over time, and the totals that counting the logs would give.
 */
import type { Db } from '../lib/sqlite/own-database.ts'
import { prepareCached, prepareFirstColumn } from '../lib/sqlite/statements.ts'
import type { ToolStat } from '../model/api/stats.ts'
import { addSafely } from '../model/checked-numbers.ts'
import type { Instant, SessionId } from '../model/ids.ts'
import { costOfUsage, type PriceList, type Spent } from '../model/prices.ts'
import { addEstimates } from '../model/token-estimate.ts'
import { type DayFormatter, emptyTotals, type Totals } from '../model/totals.ts'
import { addUsage, NO_USAGE, USAGE_FIELDS, type Usage } from '../model/usage.ts'
import type { UsageRecord } from '../model/usage-groups.ts'
import { instantOf, NO_QUARTER, QUARTER_MS, safeSum } from './row-encoding.ts'
import { filterConditions, type SessionFilter } from './session-filter.ts'

export interface StatisticsOptions extends SessionFilter {
  /** Local hour and weekday (0: Sunday). */
  readonly hourOf: (milliseconds: number) => { readonly hour: number; readonly weekday: number }
  /** Maximum number of sessions listed. */
  readonly most?: number
}

export interface IndexStatistics {
  /** Most calls first. */
  readonly tools: readonly ToolStat[]
  /** Number of prompts, answers and calls by hour. */
  readonly by_hour: readonly number[]
  readonly by_weekday: readonly number[]
  /** By the time between first and last message. */
  readonly longest: readonly { readonly session: SessionId; readonly duration_ms: number; readonly messages: number }[]
  readonly disk: readonly { readonly agent: string; readonly sources: number; readonly bytes: number }[]
  /** Sessions whose tools and activity are not counted yet. */
  readonly unread: number
}

const DEFAULT_LONGEST_SESSIONS = 20

export function readStatistics(db: Db, options: StatisticsOptions): IndexStatistics {
  const { sql, values } = filterConditions(options)
  const all = (query: string, ...more: readonly number[]) =>
    prepareCached(db, query).all(...values, ...more) as readonly { readonly [column: string]: unknown }[]
  return {
    tools: all(
      `SELECT w.text AS tool, sum(u.calls) AS calls, sum(u.results) AS results, sum(u.errors) AS errors,
         ${safeSum('u.duration_ms')} AS duration_ms, sum(u.timed) AS timed
       FROM session t CROSS JOIN tool_use u ON u.session_id = t.id JOIN word w ON w.id = u.tool_id
       WHERE ${sql} GROUP BY u.tool_id ORDER BY calls DESC, tool`,
    ) as unknown as ToolStat[],
    ...sumByClock(readActivity(db, options), options.hourOf),
    longest: all(
      `SELECT t.name AS session, t.last_at - t.started_at AS duration_ms, t.messages FROM session t
       WHERE ${sql} AND t.started_at >= 0
       ORDER BY duration_ms DESC LIMIT ?`,
      options.most ?? DEFAULT_LONGEST_SESSIONS,
    ) as unknown as IndexStatistics['longest'],
    unread: Number(all(`SELECT sum(t.indexed = 0) AS unread FROM session t WHERE ${sql}`)[0]?.['unread'] ?? 0),
    disk: db
      .prepare(
        `SELECT agent, count(*) AS sources, coalesce(sum(size), 0) AS bytes FROM source WHERE gone = 0 AND whole IS NULL GROUP BY agent ORDER BY bytes DESC`,
      )
      .all() as IndexStatistics['disk'],
  }
}

function sumByClock(activity: readonly ActivityQuarter[], hourOf: StatisticsOptions['hourOf']) {
  const by_hour = Array.from({ length: 24 }, () => 0)
  const by_weekday = Array.from({ length: 7 }, () => 0)
  for (const { at, count } of activity) {
    const { hour, weekday } = hourOf(at)
    by_hour[hour] = (by_hour[hour] ?? 0) + count
    by_weekday[weekday] = (by_weekday[weekday] ?? 0) + count
  }
  return { by_hour, by_weekday }
}

/** The stored summary of each session whose log is a history of entries. */
export function readHistories(db: Db, filter: SessionFilter): readonly unknown[] {
  const { sql, values } = filterConditions(filter)
  const found = prepareFirstColumn(
    db,
    `SELECT s.history FROM session t JOIN source s ON s.id = t.source_id WHERE ${sql} AND s.history IS NOT NULL`,
  ).all(...values) as string[]
  return found.map((text) => JSON.parse(text) as unknown)
}

/** Prompts, answers and calls in a quarter of an hour. Those without a date are left out. */
export interface ActivityQuarter {
  readonly at: number
  readonly count: number
}

export function readActivity(db: Db, filter: SessionFilter): readonly ActivityQuarter[] {
  const { sql, values } = filterConditions(filter)
  return prepareCached(
    db,
    `SELECT u.quarter * ${QUARTER_MS} AS at, sum(u.prompts + u.answers + u.calls) AS count
     FROM session t CROSS JOIN activity u ON u.session_id = t.id
     WHERE ${sql} AND u.quarter > ${NO_QUARTER} AND u.quarter >= ? AND u.quarter < ? GROUP BY u.quarter`,
  ).all(...values, ...quarterRange(filter)) as ActivityQuarter[]
}

/** Sessions by the quarters of an hour in which they have prompts, answers or calls. */
export function readActiveSessions(
  db: Db,
  filter: SessionFilter,
): readonly { readonly at: number; readonly session: number }[] {
  const { sql, values } = filterConditions(filter)
  return prepareCached(
    db,
    `SELECT DISTINCT u.quarter * ${QUARTER_MS} AS at, u.session_id AS session
     FROM session t CROSS JOIN activity u ON u.session_id = t.id
     WHERE ${sql} AND u.quarter > ${NO_QUARTER} AND u.quarter >= ? AND u.quarter < ?`,
  ).all(...values, ...quarterRange(filter)) as { at: number; session: number }[]
}

/** Calls of each session, with its last time; null without a date. */
export function readSessionCalls(
  db: Db,
  filter: SessionFilter,
): readonly {
  readonly last_at: number | null
  readonly calls: number
  readonly results: number
  readonly errors: number
}[] {
  const { sql, values } = filterConditions(filter)
  return prepareCached(
    db,
    `SELECT iif(t.last_at < 0, NULL, t.last_at) AS last_at, sum(u.calls) AS calls, sum(u.results) AS results, sum(u.errors) AS errors
     FROM session t CROSS JOIN tool_use u ON u.session_id = t.id WHERE ${sql} GROUP BY t.id`,
  ).all(...values) as { last_at: number | null; calls: number; results: number; errors: number }[]
}

/** Inclusive start, exclusive end. What has no date is in no period. */
const quarterRange = ({ since, until }: SessionFilter): readonly [number, number] => [
  since === undefined ? (until === undefined ? NO_QUARTER : 0) : Math.floor(since / QUARTER_MS),
  until === undefined ? 1e12 : Math.ceil(until / QUARTER_MS),
]

interface UsageRow extends Usage {
  readonly session: number
  readonly quarter: number
  readonly model: string
  readonly name: string
}

const TOKEN_SUMS = USAGE_FIELDS.map((token) => `${safeSum(`u.${token}`)} AS ${token}`)

/**
 * @param name SQL expression for `name` in the rows @param by a further column to group by, besides quarter and model
 */
function readUsageRows(db: Db, filter: SessionFilter, name: string, by: string): readonly UsageRow[] {
  const { sql, values } = filterConditions(filter)
  return prepareCached(
    db,
    `SELECT t.id AS session, u.quarter, w.text AS model, ${name} AS name, ${TOKEN_SUMS.join(', ')}
     FROM session t CROSS JOIN usage u ON u.source_id = t.source_id JOIN word w ON w.id = u.model_id
     WHERE ${sql} AND u.quarter >= ? AND u.quarter < ? GROUP BY ${by}, u.quarter, u.model_id`,
  ).all(...values, ...quarterRange(filter)) as UsageRow[]
}

/** Null for what has no date. */
const instantOfQuarter = (quarter: number): Instant | null =>
  quarter === NO_QUARTER ? null : instantOf(quarter * QUARTER_MS)

/** Sessions share quarters, and formatting a time takes longer than adding up its row. */
function quarterCache(dayOf: DayFormatter): (quarter: number) => { readonly at: Instant | null; readonly day: string } {
  const known = new Map<number, { readonly at: Instant | null; readonly day: string }>()
  return (quarter) => {
    let found = known.get(quarter)
    if (!found) {
      const at = instantOfQuarter(quarter)
      found = { at, day: dayOf(at) }
      known.set(quarter, found)
    }
    return found
  }
}

/** For grouping by any dimension. */
export function readUsageRecords(db: Db, filter: SessionFilter): readonly UsageRecord[] {
  const { sql, values } = filterConditions(filter)
  const sessions = prepareCached(db, `SELECT t.id, t.name, t.agent, t.project FROM session t WHERE ${sql}`).all(
    ...values,
  ) as { id: number; name: string; agent: string; project: string | null }[]
  const byId = new Map(sessions.map((one) => [one.id, one]))
  return readUsageRows(db, filter, "''", 't.id').flatMap(({ session: id, quarter, model, name: _, ...usage }) => {
    const session = byId.get(id)
    if (!session) return []
    const { name, agent, project } = session
    return {
      at: instantOfQuarter(quarter),
      model,
      agent,
      project: project ?? 'unknown',
      session: name,
      usage: addUsage(usage, NO_USAGE),
    }
  })
}

const costOfRow = (row: UsageRow, at: Instant | null, prices: PriceList): Spent =>
  costOfUsage(row, row.model === 'unknown' ? undefined : row.model, at, prices)

export interface UsageSeriesOptions extends SessionFilter {
  readonly by?: 'agent' | 'model' | 'project'
  readonly dayOf: DayFormatter
  readonly prices: PriceList
}

/** Usage of one name on one day. The name is empty if the series has no grouping. */
export interface DayUsage {
  readonly day: string
  readonly name: string
  readonly usage: Usage
  readonly cost: Spent
}

const GROUP_COLUMNS = { agent: 't.agent', model: 'w.text', project: "coalesce(t.project, 'unknown')", none: "''" }

/** In chronological order. Tokens without a date are left out. */
export function readUsageSeries(db: Db, { by, dayOf, prices, ...filter }: UsageSeriesOptions): readonly DayUsage[] {
  const found = new Map<string, { readonly day: string; readonly name: string; readonly sum: UsageSum }>()
  const quarters = quarterCache(dayOf)
  for (const row of readUsageRows(db, filter, GROUP_COLUMNS[by ?? 'none'], 'name')) {
    if (row.quarter === NO_QUARTER) continue
    const { at, day } = quarters(row.quarter)
    const key = `${day} ${row.name}`
    const one = found.get(key) ?? { day, name: row.name, sum: new UsageSum() }
    one.sum.add(row, costOfRow(row, at, prices))
    found.set(key, one)
  }
  return [...found.values()]
    .map(({ day, name, sum }) => ({ day, name, usage: sum.usage(), cost: sum.spent() }))
    .sort((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0))
}

export interface IndexTotalsOptions {
  readonly dayOf: DayFormatter
  readonly prices: PriceList
}

interface CountsRow {
  readonly id: number
  readonly name: string
  readonly agent: string
  readonly project: string | null
  readonly lines: number
  readonly messages: number
  readonly tools: string | null
}

/** Tokens are those of the requested period; everything else counts complete sessions with messages in that period. */
export function readTotals(db: Db, filter: SessionFilter, { dayOf, prices }: IndexTotalsOptions): Totals {
  const totals = emptyTotals()
  const { sql, values } = filterConditions(filter)
  const counts = prepareCached(
    db,
    `SELECT t.id, t.name, t.agent, t.project, t.lines, t.messages, s.tools
     FROM session t LEFT JOIN source s ON s.id = t.source_id WHERE ${sql}`,
  ).all(...values) as CountsRow[]
  const sessions = new Map(counts.map((one) => [one.id, { one, sum: new UsageSum() }]))
  for (const { lines, messages, tools } of counts) {
    totals.sessions++
    totals.lines += lines
    totals.messages += messages
    for (const [name, calls] of Object.entries(JSON.parse(tools ?? '{}') as Record<string, number>))
      totals.tools[name] = (totals.tools[name] ?? 0) + calls
  }
  const [models, days, projects, agents] = [new UsageSums(), new UsageSums(), new UsageSums(), new UsageSums()]
  const all = new UsageSum()
  const quarters = quarterCache(dayOf)
  for (const row of readUsageRows(db, filter, "''", 't.id')) {
    const { at, day } = quarters(row.quarter)
    const spent = costOfRow(row, at, prices)
    for (const sum of [sessions.get(row.session)?.sum, all, models.of(row.model), days.of(day)]) sum?.add(row, spent)
  }
  for (const { one, sum } of sessions.values()) {
    const [usage, spent] = [sum.usage(), sum.spent()]
    totals.by_session[one.name] = usage
    totals.cost.by_session[one.name] = spent
    projects.of(one.project ?? 'unknown').add(usage, spent)
    agents.of(one.agent).add(usage, spent)
  }
  totals.usage = all.usage()
  totals.cost.all = all.spent()
  models.into(totals.by_model, totals.cost.by_model)
  days.into(totals.by_day, totals.cost.by_day)
  projects.into(totals.by_project, totals.cost.by_project)
  agents.into(totals.by_agent, totals.cost.by_agent)
  const estimates = prepareCached(
    db,
    `SELECT sum(e.user_bytes) AS user_bytes, sum(e.assistant_bytes) AS assistant_bytes
     FROM session t CROSS JOIN estimate e ON e.source_id = t.source_id
     WHERE ${sql} AND e.quarter >= ? AND e.quarter < ? GROUP BY t.id`,
  ).all(...values, ...quarterRange(filter)) as { user_bytes: number; assistant_bytes: number }[]
  for (const estimate of estimates) {
    totals.estimate = addEstimates(totals.estimate, { kind: 'estimate', ...estimate })
    totals.estimated_sessions++
  }
  return totals
}

/** Mutable, because a report adds tens of thousands of rows and an object for each would cost more than the sum. */
class UsageSum {
  readonly #usage = { ...NO_USAGE, cache_write_tokens: 0, cache_write_1h_tokens: 0 }
  #usd = 0
  #unpriced = 0

  add(usage: Usage, spent: Spent): void {
    for (const token of USAGE_FIELDS) this.#usage[token] += usage[token] ?? 0
    this.#usd += spent.usd
    this.#unpriced += spent.unpriced_tokens
  }

  usage(): Usage {
    return addUsage(this.#usage, NO_USAGE)
  }

  spent(): Spent {
    return { usd: this.#usd, unpriced_tokens: addSafely(this.#unpriced, 0) }
  }
}

/** One sum per name, in the order in which names first appear. */
class UsageSums {
  readonly #tallies = new Map<string, UsageSum>()

  of(name: string): UsageSum {
    const known = this.#tallies.get(name)
    if (known) return known
    const sum = new UsageSum()
    this.#tallies.set(name, sum)
    return sum
  }

  into(usages: Record<string, Usage>, costs: Record<string, Spent>): void {
    for (const [name, sum] of this.#tallies) {
      usages[name] = sum.usage()
      costs[name] = sum.spent()
    }
  }
}
