/** What the sessions of the index add up to, in the same form as a count straight from the logs. */
import { type Instant, instantOf } from '../../model/ids.ts'
import { addEstimates } from '../../model/tokens/estimate.ts'
import { type PriceList, spentOn } from '../../model/tokens/prices.ts'
import { type DayOf, noTotals, type Totals } from '../../model/totals.ts'
import type { Usage } from '../../model/usage.ts'
import { conditionsOf, type SessionFilter } from '../get/filter.ts'
import type { Db } from '../open.ts'
import { safeSum } from '../rows/exact.ts'
import { Tallies, Tally } from './tally.ts'

export interface Measures {
  readonly dayOf: DayOf
  readonly prices: PriceList
}

interface Counted {
  readonly id: number
  readonly name: string
  readonly agent: string
  readonly project: string | null
  readonly lines: number
  readonly messages: number
  readonly tools: string | null
}

interface Used extends Usage {
  readonly session: number
  readonly quarter: number
  readonly model: string
}

const QUARTER = 900_000
const EPOCH = '1970-01-01T00:00:00.000Z' as Instant

/** Tokens are those of the time that is asked for; all else is of the sessions in which something was said then. */
export function totalsOf(db: Db, filter: SessionFilter, { dayOf, prices }: Measures): Totals {
  const sum = noTotals()
  const sessions = new Map<number, { readonly one: Counted; readonly tally: Tally }>()
  for (const one of countedIn(db, filter)) {
    sessions.set(one.id, { one, tally: new Tally() })
    sum.sessions++
    sum.lines += one.lines
    sum.messages += one.messages
    for (const [name, calls] of Object.entries(JSON.parse(one.tools ?? '{}') as Record<string, number>))
      sum.tools[name] = (sum.tools[name] ?? 0) + calls
  }
  const [models, days, projects, agents] = [new Tallies(), new Tallies(), new Tallies(), new Tallies()]
  const all = new Tally()
  for (const used of usedIn(db, filter)) {
    const tally = sessions.get(used.session)?.tally
    if (!tally) continue
    const at = instantOf(used.quarter * QUARTER) ?? EPOCH
    const spent = spentOn(used, used.model === 'unknown' ? undefined : used.model, at, prices)
    tally.add(used, spent)
    all.add(used, spent)
    models.of(used.model).add(used, spent)
    days.of(dayOf(at)).add(used, spent)
  }
  for (const { one, tally } of sessions.values()) {
    const usage = tally.usage()
    const spent = tally.spent()
    sum.by_session[one.name] = usage
    sum.cost.by_session[one.name] = spent
    projects.of(one.project ?? 'unknown').add(usage, spent)
    agents.of(one.agent).add(usage, spent)
  }
  sum.usage = all.usage()
  sum.cost.all = all.spent()
  models.into(sum.by_model, sum.cost.by_model)
  days.into(sum.by_day, sum.cost.by_day)
  projects.into(sum.by_project, sum.cost.by_project)
  agents.into(sum.by_agent, sum.cost.by_agent)
  for (const { session, user_bytes, assistant_bytes } of guessedIn(db, filter)) {
    if (!sessions.has(session)) continue
    sum.estimate = addEstimates(sum.estimate, { kind: 'estimate', user_bytes, assistant_bytes })
    sum.estimated_sessions++
  }
  return sum
}

function countedIn(db: Db, filter: SessionFilter): readonly Counted[] {
  const { sql, values } = conditionsOf(filter)
  return db
    .prepare(
      `SELECT t.id, t.name, t.agent, t.project, t.lines, t.messages, s.tools
       FROM session t LEFT JOIN source s ON s.id = t.source_id WHERE ${sql}`,
    )
    .all(...values) as Counted[]
}

interface Guessed {
  readonly session: number
  readonly user_bytes: number
  readonly assistant_bytes: number
}

function guessedIn(db: Db, filter: SessionFilter): readonly Guessed[] {
  const { sql, values } = conditionsOf(filter)
  return db
    .prepare(
      `SELECT t.id AS session, sum(e.user_bytes) AS user_bytes, sum(e.assistant_bytes) AS assistant_bytes
       FROM session t CROSS JOIN estimate e ON e.source_id = t.source_id
       WHERE ${sql} AND e.quarter >= ? AND e.quarter < ? GROUP BY t.id`,
    )
    .all(...values, ...quartersOf(filter)) as Guessed[]
}

/** From the first, before the second. */
const quartersOf = ({ since, until }: SessionFilter): readonly [number, number] => [
  since === undefined ? 0 : Math.floor(since / QUARTER),
  until === undefined ? 1e12 : Math.ceil(until / QUARTER),
]

function usedIn(db: Db, filter: SessionFilter): readonly Used[] {
  const { sql, values } = conditionsOf(filter)
  return db
    .prepare(
      `SELECT t.id AS session, u.quarter, w.text AS model, ${safeSum('u.input_tokens')} AS input_tokens,
         ${safeSum('u.cached_input_tokens')} AS cached_input_tokens, ${safeSum('u.output_tokens')} AS output_tokens,
         ${safeSum('u.reasoning_output_tokens')} AS reasoning_output_tokens, ${safeSum('u.total_tokens')} AS total_tokens
       FROM session t CROSS JOIN usage u ON u.source_id = t.source_id JOIN word w ON w.id = u.model_id
       WHERE ${sql} AND u.quarter >= ? AND u.quarter < ? GROUP BY t.id, u.quarter, u.model_id`,
    )
    .all(...values, ...quartersOf(filter)) as Used[]
}
