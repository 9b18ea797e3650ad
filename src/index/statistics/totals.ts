/** What the sessions of the index add up to, in the same form as a count straight from the logs. */

import type { Db } from '../../lib/sqlite/own-database.ts'
import { addSafely } from '../../model/checked-numbers.ts'
import { type Instant, instantFromMs } from '../../model/ids.ts'
import { costOfUsage, type PriceList, type Spent } from '../../model/tokens/prices.ts'
import { addEstimates } from '../../model/tokens/token-estimate.ts'
import { type DayFormatter, emptyTotals, type Totals } from '../../model/totals.ts'
import type { Usage } from '../../model/usage.ts'
import { filterConditions, type SessionFilter } from '../read/session-filter.ts'
import { safeSum } from '../rows/exact-integers.ts'

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

interface UsageRow extends Usage {
  readonly session: number
  readonly quarter: number
  readonly model: string
}

const QUARTER_MS = 900_000
const EPOCH = '1970-01-01T00:00:00.000Z' as Instant

/** Tokens are those of the time that is asked for; all else is of the sessions in which something was said then. */
export function readTotals(db: Db, filter: SessionFilter, { dayOf, prices }: IndexTotalsOptions): Totals {
  const totals = emptyTotals()
  const sessions = new Map<number, { readonly one: CountsRow; readonly tally: UsageSum }>()
  for (const one of readCounts(db, filter)) {
    sessions.set(one.id, { one, tally: new UsageSum() })
    totals.sessions++
    totals.lines += one.lines
    totals.messages += one.messages
    for (const [name, calls] of Object.entries(JSON.parse(one.tools ?? '{}') as Record<string, number>))
      totals.tools[name] = (totals.tools[name] ?? 0) + calls
  }
  const [models, days, projects, agents] = [new UsageSums(), new UsageSums(), new UsageSums(), new UsageSums()]
  const all = new UsageSum()
  for (const row of readUsageRows(db, filter)) {
    const usageSum = sessions.get(row.session)?.tally
    if (!usageSum) continue
    const at = instantFromMs(row.quarter * QUARTER_MS) ?? EPOCH
    const spent = costOfUsage(row, row.model === 'unknown' ? undefined : row.model, at, prices)
    usageSum.add(row, spent)
    all.add(row, spent)
    models.of(row.model).add(row, spent)
    days.of(dayOf(at)).add(row, spent)
  }
  for (const { one, tally: usageSum } of sessions.values()) {
    const usage = usageSum.usage()
    const spent = usageSum.spent()
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
  for (const { session, user_bytes, assistant_bytes } of readEstimates(db, filter)) {
    if (!sessions.has(session)) continue
    totals.estimate = addEstimates(totals.estimate, { kind: 'estimate', user_bytes, assistant_bytes })
    totals.estimated_sessions++
  }
  return totals
}

function readCounts(db: Db, filter: SessionFilter): readonly CountsRow[] {
  const { sql, values } = filterConditions(filter)
  return db
    .prepare(
      `SELECT t.id, t.name, t.agent, t.project, t.lines, t.messages, s.tools
       FROM session t LEFT JOIN source s ON s.id = t.source_id WHERE ${sql}`,
    )
    .all(...values) as CountsRow[]
}

interface EstimateRow {
  readonly session: number
  readonly user_bytes: number
  readonly assistant_bytes: number
}

function readEstimates(db: Db, filter: SessionFilter): readonly EstimateRow[] {
  const { sql, values } = filterConditions(filter)
  return db
    .prepare(
      `SELECT t.id AS session, sum(e.user_bytes) AS user_bytes, sum(e.assistant_bytes) AS assistant_bytes
       FROM session t CROSS JOIN estimate e ON e.source_id = t.source_id
       WHERE ${sql} AND e.quarter >= ? AND e.quarter < ? GROUP BY t.id`,
    )
    .all(...values, ...quarterRange(filter)) as EstimateRow[]
}

/** From the first, before the second. */
const quarterRange = ({ since, until }: SessionFilter): readonly [number, number] => [
  since === undefined ? 0 : Math.floor(since / QUARTER_MS),
  until === undefined ? 1e12 : Math.ceil(until / QUARTER_MS),
]

function readUsageRows(db: Db, filter: SessionFilter): readonly UsageRow[] {
  const { sql, values } = filterConditions(filter)
  return db
    .prepare(
      `SELECT t.id AS session, u.quarter, w.text AS model, ${safeSum('u.input_tokens')} AS input_tokens,
         ${safeSum('u.cached_input_tokens')} AS cached_input_tokens, ${safeSum('u.output_tokens')} AS output_tokens,
         ${safeSum('u.reasoning_output_tokens')} AS reasoning_output_tokens, ${safeSum('u.total_tokens')} AS total_tokens
       FROM session t CROSS JOIN usage u ON u.source_id = t.source_id JOIN word w ON w.id = u.model_id
       WHERE ${sql} AND u.quarter >= ? AND u.quarter < ? GROUP BY t.id, u.quarter, u.model_id`,
    )
    .all(...values, ...quarterRange(filter)) as UsageRow[]
}

/** Sums that grow in place: a report adds up tens of thousands, and an object for each would take longer than the adding. */
class UsageSum {
  #input = 0
  #cached = 0
  #output = 0
  #reasoning = 0
  #total = 0
  #usd = 0
  #unpriced = 0

  add(usage: Usage, spent: Spent): void {
    this.#input += usage.input_tokens
    this.#cached += usage.cached_input_tokens
    this.#output += usage.output_tokens
    this.#reasoning += usage.reasoning_output_tokens
    this.#total += usage.total_tokens
    this.#usd += spent.usd
    this.#unpriced += spent.unpriced_tokens
  }

  usage(): Usage {
    return {
      input_tokens: addSafely(this.#input, 0),
      cached_input_tokens: addSafely(this.#cached, 0),
      output_tokens: addSafely(this.#output, 0),
      reasoning_output_tokens: addSafely(this.#reasoning, 0),
      total_tokens: addSafely(this.#total, 0),
    }
  }

  spent(): Spent {
    return { usd: this.#usd, unpriced_tokens: addSafely(this.#unpriced, 0) }
  }
}

/** One for each name, in the order in which they were met. */
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
