/** Tokens, cost and activity over time. */

import type { Db } from '../../lib/sqlite/own-database.ts'
import { type Instant, instantFromMs } from '../../model/ids.ts'
import { addCosts, costOfUsage, NO_COST, type PriceList, type Spent } from '../../model/tokens/prices.ts'
import type { DayFormatter } from '../../model/totals.ts'
import { addUsage, NO_USAGE, type Usage } from '../../model/usage.ts'
import { filterConditions, type SessionFilter } from '../read/session-filter.ts'
import { prepareCached } from '../read/statements.ts'
import { safeSum } from '../rows/exact-integers.ts'

export type SeriesGrouping = 'agent' | 'model' | 'project'

export interface UsageSeriesOptions extends SessionFilter {
  readonly by?: SeriesGrouping
  readonly dayOf: DayFormatter
  readonly prices: PriceList
}

/** What one name used on one day; the name is empty where none was asked for. */
export interface DayUsage {
  readonly day: string
  readonly name: string
  readonly usage: Usage
  readonly cost: Spent
}

interface UsageRow extends Usage {
  readonly quarter: number
  readonly model: string
  readonly name: string
}

const QUARTER_MS = 900_000
const EPOCH = '1970-01-01T00:00:00.000Z' as Instant
const TOKEN_COLUMNS = [
  'input_tokens',
  'cached_input_tokens',
  'output_tokens',
  'reasoning_output_tokens',
  'total_tokens',
] as const
const GROUP_COLUMNS = { agent: 't.agent', model: 'w.text', project: "coalesce(t.project, 'unknown')", none: "''" }

/** In the order of days. */
export function readUsageSeries(db: Db, { by, dayOf, prices, ...filter }: UsageSeriesOptions): readonly DayUsage[] {
  const found = new Map<string, DayUsage>()
  for (const { quarter, model, name, ...usage } of readUsageRows(db, filter, GROUP_COLUMNS[by ?? 'none'])) {
    const at = instantFromMs(quarter * QUARTER_MS) ?? EPOCH
    const day = dayOf(at)
    const spent = costOfUsage(usage, model === 'unknown' ? undefined : model, at, prices)
    const before = found.get(`${day} ${name}`) ?? { usage: NO_USAGE, cost: NO_COST }
    found.set(`${day} ${name}`, {
      day,
      name,
      usage: addUsage(before.usage, usage),
      cost: addCosts(before.cost, spent),
    })
  }
  return [...found.values()].sort((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0))
}

function readUsageRows(db: Db, filter: SessionFilter, name: string): readonly UsageRow[] {
  const { sql, values } = filterConditions(filter)
  const sums = TOKEN_COLUMNS.map((token) => `${safeSum(`u.${token}`)} AS ${token}`).join(', ')
  return prepareCached(
    db,
    `SELECT u.quarter, w.text AS model, ${name} AS name, ${sums}
     FROM session t CROSS JOIN usage u ON u.source_id = t.source_id JOIN word w ON w.id = u.model_id
     WHERE ${sql} AND u.quarter >= ? AND u.quarter < ? GROUP BY u.quarter, u.model_id, name`,
  ).all(...values, ...quarterRange(filter)) as UsageRow[]
}

/** Prompts, answers and calls of a quarter of an hour. */
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
     WHERE ${sql} AND u.quarter >= ? AND u.quarter < ? GROUP BY u.quarter`,
  ).all(...values, ...quarterRange(filter)) as ActivityQuarter[]
}

/** From the first, before the second. */
const quarterRange = ({ since, until }: SessionFilter): readonly [number, number] => [
  since === undefined ? 0 : Math.floor(since / QUARTER_MS),
  until === undefined ? 1e12 : Math.ceil(until / QUARTER_MS),
]
