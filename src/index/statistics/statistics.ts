/** What was done in the sessions, and when: tools, hours, the longest ones. Tokens are in `statistics/totals.ts`. */

import type { Db } from '../../lib/sqlite/own-database.ts'
import type { ToolStat } from '../../model/api/stats.ts'
import type { SessionId } from '../../model/ids.ts'
import { filterConditions, type SessionFilter } from '../read/session-filter.ts'
import { safeSum } from '../rows/exact-integers.ts'

export interface StatisticsOptions extends SessionFilter {
  /** The hour and weekday (0: Sunday) on the wall. */
  readonly hourOf: (milliseconds: number) => { readonly hour: number; readonly weekday: number }
  /** How many sessions are named. */
  readonly most?: number
}

export interface IndexStatistics {
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
}

const QUARTER_MS = 900_000
const DEFAULT_LONGEST_SESSIONS = 20

export function readStatistics(db: Db, options: StatisticsOptions): IndexStatistics {
  const { since, until, most: maxLongest = DEFAULT_LONGEST_SESSIONS } = options
  const { sql, values } = filterConditions(options)
  const quarters = [
    since === undefined ? 0 : Math.floor(since / QUARTER_MS),
    until === undefined ? 1e12 : Math.ceil(until / QUARTER_MS),
  ]
  const activity = db
    .prepare(
      `SELECT u.quarter, sum(u.prompts + u.answers + u.calls) AS count FROM session t CROSS JOIN activity u ON u.session_id = t.id
       WHERE ${sql} AND u.quarter >= ? AND u.quarter < ? GROUP BY u.quarter`,
    )
    .all(...values, ...quarters) as { quarter: number; count: number }[]
  return {
    tools: db
      .prepare(
        `SELECT w.text AS tool, sum(u.calls) AS calls, sum(u.results) AS results, sum(u.errors) AS errors,
           ${safeSum('u.duration_ms')} AS duration_ms, sum(u.timed) AS timed
         FROM session t CROSS JOIN tool_use u ON u.session_id = t.id JOIN word w ON w.id = u.tool_id
         WHERE ${sql} GROUP BY u.tool_id ORDER BY calls DESC, tool`,
      )
      .all(...values) as ToolStat[],
    ...sumByClock(activity, options.hourOf),
    longest: db
      .prepare(
        `SELECT t.name AS session, t.last_at - t.started_at AS duration_ms, t.messages FROM session t WHERE ${sql}
         ORDER BY duration_ms DESC LIMIT ?`,
      )
      .all(...values, maxLongest) as IndexStatistics['longest'],
    unread: db
      .prepare(`SELECT count(*) FROM session t WHERE t.indexed = 0 AND ${sql}`)
      .pluck()
      .get(...values) as number,
    disk: db
      .prepare(
        `SELECT agent, count(*) AS sources, coalesce(sum(size), 0) AS bytes FROM source WHERE gone = 0 AND whole IS NULL GROUP BY agent ORDER BY bytes DESC`,
      )
      .all() as IndexStatistics['disk'],
  }
}

/** The counts of each conversation that is told in entries, as JSON. */
export function readHistories(db: Db, filter: SessionFilter): readonly string[] {
  const { sql, values } = filterConditions(filter)
  return db
    .prepare(
      `SELECT s.history FROM session t JOIN source s ON s.id = t.source_id WHERE ${sql} AND s.history IS NOT NULL`,
    )
    .pluck()
    .all(...values) as string[]
}

function sumByClock(activity: readonly { quarter: number; count: number }[], hourOf: StatisticsOptions['hourOf']) {
  const by_hour = Array.from({ length: 24 }, () => 0)
  const by_weekday = Array.from({ length: 7 }, () => 0)
  for (const { quarter, count } of activity) {
    const { hour, weekday } = hourOf(quarter * QUARTER_MS)
    by_hour[hour] = (by_hour[hour] ?? 0) + count
    by_weekday[weekday] = (by_weekday[weekday] ?? 0) + count
  }
  return { by_hour, by_weekday }
}
