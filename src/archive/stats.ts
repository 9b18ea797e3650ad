/** What the sessions add up to: tokens, tools, activity. All from sums that were made while reading. */
import type { ToolStat } from '../model/api/stats.ts'
import { type Instant, instantOf, type SessionId } from '../model/ids.ts'
import type { DayOf } from '../model/totals.ts'
import { addUsage, NO_USAGE, type Usage } from '../model/usage.ts'
import { conditionsOf, type SessionFilter } from './get/filter.ts'
import type { Db } from './open.ts'
import { type EstimateStats, estimatesOf } from './stats/estimates.ts'

export interface StatsOptions extends SessionFilter {
  /** The calendar's day of a moment, and the hour and weekday (0: Sunday) on the wall. */
  readonly dayOf: DayOf
  readonly hourOf: (milliseconds: number) => { readonly hour: number; readonly weekday: number }
  /** How many sessions are named. */
  readonly most?: number
}

export interface Stats {
  readonly sessions: number
  readonly lines: number
  readonly messages: number
  readonly usage: Usage
  readonly by_day: Readonly<Record<string, Usage>>
  readonly by_model: Readonly<Record<string, Usage>>
  readonly by_project: Readonly<Record<string, Usage>>
  readonly by_agent: Readonly<Record<string, Usage>>
  /** Most tokens first. */
  readonly by_session: readonly { readonly session: SessionId; readonly usage: Usage }[]
  /** Most calls first. */
  readonly tools: readonly ToolStat[]
  /** Prompts, answers and calls. */
  readonly by_hour: readonly number[]
  readonly by_weekday: readonly number[]
  /** By their time from the first word to the last. */
  readonly longest: readonly { readonly session: SessionId; readonly duration_ms: number; readonly messages: number }[]
  readonly disk: readonly { readonly agent: string; readonly sources: number; readonly bytes: number }[]
  /** Sessions whose tools and activity are not counted yet. */
  readonly unread: number
  /** Of the sessions whose logs count no tokens, where there are any. None of it is in the totals above. */
  readonly estimate?: EstimateStats
}

const QUARTER = 900_000
const MOST = 20
const TOKENS = ['input_tokens', 'cached_input_tokens', 'output_tokens', 'reasoning_output_tokens', 'total_tokens']
const SUMS = TOKENS.map((name) => `coalesce(sum(u.${name}), 0) AS ${name}`).join(', ')

interface SessionSum extends Usage {
  readonly session: SessionId
  readonly agent: string
  readonly project: string | null
}

interface TimeSum extends Usage {
  readonly quarter: number
  readonly model: string
}

export function statsOf(db: Db, options: StatsOptions): Stats {
  const { since, until, most = MOST } = options
  const { sql, values } = conditionsOf(options)
  const during = `u.quarter >= ? AND u.quarter < ?`
  const quarters = [
    since === undefined ? 0 : Math.floor(since / QUARTER),
    until === undefined ? 1e12 : Math.ceil(until / QUARTER),
  ]
  const isAll = since === undefined && until === undefined
  const bySession = isAll ? sessionSums(db, sql, values) : sessionSumsDuring(db, sql, [...values, ...quarters])
  const byTime = db
    .prepare(
      `SELECT u.quarter, (SELECT text FROM word WHERE id = u.model_id) AS model, ${SUMS}
       FROM session t CROSS JOIN usage u ON u.source_id = t.source_id WHERE ${sql} AND ${during} GROUP BY u.quarter, u.model_id`,
    )
    .all(...values, ...quarters) as TimeSum[]
  const activity = db
    .prepare(
      `SELECT u.quarter, sum(u.prompts + u.answers + u.calls) AS count FROM session t CROSS JOIN activity u ON u.session_id = t.id
       WHERE ${sql} AND ${during} GROUP BY u.quarter`,
    )
    .all(...values, ...quarters) as { quarter: number; count: number }[]
  const whole = db
    .prepare(
      `SELECT count(*) AS sessions, coalesce(sum(t.lines), 0) AS lines, coalesce(sum(t.messages), 0) AS messages,
         coalesce(sum(t.indexed = 0), 0) AS unread FROM session t WHERE ${sql}`,
    )
    .get(...values) as { sessions: number; lines: number; messages: number; unread: number }
  return {
    ...whole,
    usage: byTime.reduce(addUsage, NO_USAGE),
    by_day: table(byTime, ({ quarter }) => options.dayOf(instantOf(quarter * QUARTER) ?? EPOCH)),
    by_model: table(byTime, ({ model }) => model),
    by_project: table(bySession, ({ project }) => project ?? 'unknown'),
    by_agent: table(bySession, ({ agent }) => agent),
    by_session: bySession
      .toSorted((a, b) => b.total_tokens - a.total_tokens)
      .slice(0, most)
      .map((one) => ({ session: one.session, usage: usageOf(one) })),
    tools: db
      .prepare(
        `SELECT w.text AS tool, sum(u.calls) AS calls, sum(u.results) AS results, sum(u.errors) AS errors,
           sum(u.duration_ms) AS duration_ms, sum(u.timed) AS timed
         FROM session t CROSS JOIN tool_use u ON u.session_id = t.id JOIN word w ON w.id = u.tool_id
         WHERE ${sql} GROUP BY u.tool_id ORDER BY calls DESC, tool`,
      )
      .all(...values) as ToolStat[],
    ...clock(activity, options.hourOf),
    longest: db
      .prepare(
        `SELECT t.name AS session, t.last_at - t.started_at AS duration_ms, t.messages FROM session t WHERE ${sql}
         ORDER BY duration_ms DESC LIMIT ?`,
      )
      .all(...values, most) as Stats['longest'],
    ...estimatesOf(db, options),
    disk: db
      .prepare(
        `SELECT agent, count(*) AS sources, coalesce(sum(size), 0) AS bytes FROM source WHERE gone = 0 AND whole IS NULL GROUP BY agent ORDER BY bytes DESC`,
      )
      .all() as Stats['disk'],
  }
}

/** The counts of each conversation that is told in entries, as JSON. */
export function historiesOf(db: Db, filter: SessionFilter): readonly string[] {
  const { sql, values } = conditionsOf(filter)
  return db
    .prepare(
      `SELECT s.history FROM session t JOIN source s ON s.id = t.source_id WHERE ${sql} AND s.history IS NOT NULL`,
    )
    .pluck()
    .all(...values) as string[]
}

function usageOf(group: Usage): Usage {
  const { input_tokens, cached_input_tokens, output_tokens, reasoning_output_tokens, total_tokens } = group
  return { input_tokens, cached_input_tokens, output_tokens, reasoning_output_tokens, total_tokens }
}

/** Names come from logs: none of them may mean something to an object. */
const empty = (): Record<string, Usage> => Object.create(null) as Record<string, Usage>

function table<Row extends Usage>(rows: readonly Row[], nameOf: (row: Row) => string): Record<string, Usage> {
  const found = empty()
  for (const row of rows) {
    const name = nameOf(row)
    const before = found[name]
    found[name] = before ? addUsage(before, row) : usageOf(row)
  }
  return found
}

/** Sessions know their own sums. Those that count no tokens are not among them. */
const sessionSums = (db: Db, sql: string, values: readonly (string | number)[]): readonly SessionSum[] =>
  db
    .prepare(
      `SELECT t.name AS session, t.agent, t.project, ${TOKENS.map((name) => `t.${name}`).join(', ')} FROM session t
       WHERE ${sql} AND (t.total_tokens > 0 OR t.input_tokens > 0 OR t.output_tokens > 0)`,
    )
    .all(...values) as SessionSum[]

const sessionSumsDuring = (db: Db, sql: string, values: readonly (string | number)[]): readonly SessionSum[] =>
  db
    .prepare(
      `SELECT t.name AS session, t.agent, t.project, ${SUMS} FROM session t CROSS JOIN usage u ON u.source_id = t.source_id
       WHERE ${sql} AND u.quarter >= ? AND u.quarter < ? GROUP BY t.id`,
    )
    .all(...values) as SessionSum[]

const EPOCH = '1970-01-01T00:00:00.000Z' as Instant

function clock(activity: readonly { quarter: number; count: number }[], hourOf: StatsOptions['hourOf']) {
  const by_hour = Array.from({ length: 24 }, () => 0)
  const by_weekday = Array.from({ length: 7 }, () => 0)
  for (const { quarter, count } of activity) {
    const { hour, weekday } = hourOf(quarter * QUARTER)
    by_hour[hour] = (by_hour[hour] ?? 0) + count
    by_weekday[weekday] = (by_weekday[weekday] ?? 0) + count
  }
  return { by_hour, by_weekday }
}
