/** Tokens, cost and activity over time. */
import { type Instant, instantOf } from '../../model/ids.ts'
import { addSpent, NOTHING_SPENT, type PriceList, type Spent, spentOn } from '../../model/tokens/prices.ts'
import type { DayOf } from '../../model/totals.ts'
import { addUsage, NO_USAGE, type Usage } from '../../model/usage.ts'
import { conditionsOf, type SessionFilter } from '../get/filter.ts'
import { prepared } from '../get/statements.ts'
import type { Db } from '../open.ts'
import { safeSum } from '../rows/exact.ts'

export type SeriesKey = 'agent' | 'model' | 'project'

export interface SeriesOptions extends SessionFilter {
  readonly by?: SeriesKey
  readonly dayOf: DayOf
  readonly prices: PriceList
}

/** What one name used on one day; the name is empty where none was asked for. */
export interface DaySum {
  readonly day: string
  readonly name: string
  readonly usage: Usage
  readonly cost: Spent
}

interface Used extends Usage {
  readonly quarter: number
  readonly model: string
  readonly name: string
}

const QUARTER = 900_000
const EPOCH = '1970-01-01T00:00:00.000Z' as Instant
const TOKENS = [
  'input_tokens',
  'cached_input_tokens',
  'output_tokens',
  'reasoning_output_tokens',
  'total_tokens',
] as const
const NAMES = { agent: 't.agent', model: 'w.text', project: "coalesce(t.project, 'unknown')", none: "''" }

/** In the order of days. */
export function seriesOf(db: Db, { by, dayOf, prices, ...filter }: SeriesOptions): readonly DaySum[] {
  const found = new Map<string, DaySum>()
  for (const { quarter, model, name, ...usage } of usedIn(db, filter, NAMES[by ?? 'none'])) {
    const at = instantOf(quarter * QUARTER) ?? EPOCH
    const day = dayOf(at)
    const spent = spentOn(usage, model === 'unknown' ? undefined : model, at, prices)
    const before = found.get(`${day} ${name}`) ?? { usage: NO_USAGE, cost: NOTHING_SPENT }
    found.set(`${day} ${name}`, {
      day,
      name,
      usage: addUsage(before.usage, usage),
      cost: addSpent(before.cost, spent),
    })
  }
  return [...found.values()].sort((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0))
}

function usedIn(db: Db, filter: SessionFilter, name: string): readonly Used[] {
  const { sql, values } = conditionsOf(filter)
  const sums = TOKENS.map((token) => `${safeSum(`u.${token}`)} AS ${token}`).join(', ')
  return prepared(
    db,
    `SELECT u.quarter, w.text AS model, ${name} AS name, ${sums}
     FROM session t CROSS JOIN usage u ON u.source_id = t.source_id JOIN word w ON w.id = u.model_id
     WHERE ${sql} AND u.quarter >= ? AND u.quarter < ? GROUP BY u.quarter, u.model_id, name`,
  ).all(...values, ...quartersOf(filter)) as Used[]
}

/** Prompts, answers and calls of a quarter of an hour. */
export interface Moment {
  readonly at: number
  readonly count: number
}

export function activityOf(db: Db, filter: SessionFilter): readonly Moment[] {
  const { sql, values } = conditionsOf(filter)
  return prepared(
    db,
    `SELECT u.quarter * ${QUARTER} AS at, sum(u.prompts + u.answers + u.calls) AS count
     FROM session t CROSS JOIN activity u ON u.session_id = t.id
     WHERE ${sql} AND u.quarter >= ? AND u.quarter < ? GROUP BY u.quarter`,
  ).all(...values, ...quartersOf(filter)) as Moment[]
}

/** From the first, before the second. */
const quartersOf = ({ since, until }: SessionFilter): readonly [number, number] => [
  since === undefined ? 0 : Math.floor(since / QUARTER),
  until === undefined ? 1e12 : Math.ceil(until / QUARTER),
]
