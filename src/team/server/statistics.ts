/** Statistics over what a person may see the numbers of, in the replies of the local API. */
import type { Activity, NamedSum, Series, StatsItem, StatsOverview, ToolStat } from '../../model/api/stats.ts'
import { type Instant, instantFromMs } from '../../model/ids.ts'
import { addCosts, costOfUsage, NO_COST, type PriceList, type Spent } from '../../model/prices.ts'
import { createLocalDay, NO_DAY, toUtcDay } from '../../model/totals.ts'
import { addUsage, cacheShareOf, NO_USAGE, type Usage } from '../../model/usage.ts'
import { buildOverview } from '../../server/view/overview-item.ts'
import { buildActivity, buildSeries, toNamedSums } from '../../server/view/stats-item.ts'
import type { Transaction } from '../postgres/database.ts'
import { teamSessionId } from '../protocol.ts'
import { readCosts, type SessionRow, sessionConditions, type TeamFilter, usageOfRow } from './list-sessions.ts'
import { sumOf } from './sum-of-column.ts'

const QUARTER_MS = 900_000
const NO_QUARTER = -1

export const TEAM_DIMENSIONS = ['person', 'project', 'model', 'branch', 'agent'] as const
export type TeamDimension = (typeof TEAM_DIMENSIONS)[number]

const COLUMNS: { readonly [dimension in TeamDimension]: string } = {
  person: 's.person_id::text',
  project: 'j.name',
  model: 'u.model',
  branch: `coalesce(s.branch, '')`,
  agent: 's.agent',
}

const SUMS = [
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'cache_write_1h_tokens',
  'output_tokens',
  'reasoning_output_tokens',
  'total_tokens',
]
  .map((name) => `${sumOf(`u.${name}`)} AS ${name}`)
  .join(', ')

interface GroupedUsage {
  readonly at: Instant | null
  readonly quarter: number
  readonly name: string
  readonly usage: Usage
  readonly cost: Spent
}

export interface StatisticsContext {
  readonly people: ReadonlyMap<number, string>
  readonly prices: PriceList
}

async function readUsage(
  db: Transaction,
  filter: TeamFilter,
  by: TeamDimension | undefined,
  { people, prices }: StatisticsContext,
): Promise<readonly GroupedUsage[]> {
  const values: unknown[] = []
  const where = sessionConditions(filter, people, values)
  values.push(
    filter.since === undefined ? (filter.until === undefined ? NO_QUARTER : 0) : Math.floor(filter.since / QUARTER_MS),
    filter.until === undefined ? 2_000_000_000 : Math.ceil(filter.until / QUARTER_MS),
  )
  const rows = await db.rows<Parameters<typeof usageOfRow>[0] & { quarter: number; model: string; name: string }>(
    `SELECT u.quarter, u.model, ${by ? COLUMNS[by] : `''`} AS name, ${SUMS}
     FROM session s JOIN project j ON j.id = s.project_id JOIN usage u ON u.session_key = s.session_key
     WHERE ${where} AND u.quarter >= $${values.length - 1} AND u.quarter < $${values.length} GROUP BY 1, 2, 3`,
    values,
  )
  return rows.map(({ quarter, model, name, ...row }) => {
    const usage = usageOfRow(row)
    const at = quarter === NO_QUARTER ? null : (instantFromMs(quarter * QUARTER_MS) ?? null)
    return {
      at,
      quarter,
      name: by === 'person' ? (people.get(Number(name)) ?? name) : name,
      usage,
      cost: costOfUsage(usage, model === 'unknown' ? undefined : model, at, prices),
    }
  })
}

/** Most tokens first. */
function sumByName(rows: readonly GroupedUsage[]): readonly NamedSum[] {
  const usages = new Map<string, Usage>()
  const costs = new Map<string, Spent>()
  for (const { name, usage, cost } of rows) {
    usages.set(name, addUsage(usages.get(name) ?? NO_USAGE, usage))
    costs.set(name, addCosts(costs.get(name) ?? NO_COST, cost))
  }
  return toNamedSums(Object.fromEntries(usages), Object.fromEntries(costs))
}

export const costOf = async (db: Transaction, filter: TeamFilter, context: StatisticsContext): Promise<Spent> =>
  (await readUsage(db, filter, undefined, context)).reduce((sum, { cost }) => addCosts(sum, cost), NO_COST)

/** Tokens and cost by one dimension. */
export const groupTeam = async (
  db: Transaction,
  filter: TeamFilter,
  by: TeamDimension,
  context: StatisticsContext,
): Promise<readonly NamedSum[]> => sumByName(await readUsage(db, filter, by, context))

const MAX_SESSIONS = 50
/** Of these the most expensive are chosen. */
const MAX_PRICED_SESSIONS = 500

export async function teamStats(db: Transaction, filter: TeamFilter, context: StatisticsContext): Promise<StatsItem> {
  const { people, prices } = context
  const values: unknown[] = []
  const where = sessionConditions(filter, people, values)
  const from = `FROM session s JOIN project j ON j.id = s.project_id WHERE ${where}`
  const counts = await db.first<{ sessions: number; messages: number; tools: number }>(
    `SELECT count(*) AS sessions, ${sumOf('s.messages')} AS messages, ${sumOf('s.tools')} AS tools ${from}`,
    values,
  )
  const estimates = await db.rows<{ estimate: string }>(`SELECT s.estimate ${from} AND s.estimate IS NOT NULL`, values)
  const largest = await db.rows<SessionRow>(
    `SELECT lpad(to_hex(s.session_key), 16, '0') AS key, s.title, s.first_prompt, s.input_tokens, s.cached_input_tokens,
       s.cache_write_tokens, s.cache_write_1h_tokens, s.output_tokens, s.reasoning_output_tokens, s.total_tokens
     ${from} AND s.shared <> 'usage' ORDER BY s.total_tokens DESC, s.session_key LIMIT ${MAX_PRICED_SESSIONS}`,
    values,
  )
  const longest = await db.rows<{ key: string; title: string | null; ms: number; messages: number }>(
    `SELECT lpad(to_hex(s.session_key), 16, '0') AS key, coalesce(s.title, s.first_prompt) AS title,
       (extract(epoch FROM s.last_at - s.started_at) * 1000)::bigint AS ms, s.messages
     ${from} AND s.shared <> 'usage' AND s.started_at IS NOT NULL AND s.last_at IS NOT NULL ORDER BY 3 DESC LIMIT 20`,
    values,
  )
  const disk = await db.rows<{ agent: string; sources: number; bytes: number }>(
    `SELECT s.agent, count(*) AS sources, ${sumOf('s.size_bytes')} AS bytes ${from} GROUP BY 1 ORDER BY 3 DESC`,
    values,
  )
  const costs = await readCosts(
    db,
    largest.map(({ key }) => key),
    prices,
  )
  const sessions = largest.map((row) => ({
    name: teamSessionId(row.key),
    title: row.title ?? row.first_prompt,
    usage: usageOfRow(row),
    cost: costs.get(row.key) ?? NO_COST,
  }))
  const byModel = sumByName(await readUsage(db, filter, 'model', context))
  const usage = byModel.reduce((sum, one) => addUsage(sum, one.usage), NO_USAGE)
  const tokens = estimates.map(({ estimate }) => (JSON.parse(estimate) as { total_tokens: number }).total_tokens)
  return {
    sessions: counts?.sessions ?? 0,
    messages: counts?.messages ?? 0,
    tool_calls: counts?.tools ?? 0,
    usage,
    cost: byModel.reduce((sum, one) => addCosts(sum, one.cost), NO_COST),
    cache_share: cacheShareOf(usage),
    estimate: tokens.length > 0 ? { total_tokens: tokens.reduce((a, b) => a + b, 0), sessions: tokens.length } : null,
    by_model: byModel,
    by_project: await groupTeam(db, filter, 'project', context),
    by_agent: await groupTeam(db, filter, 'agent', context),
    by_person: await groupTeam(db, filter, 'person', context),
    by_branch: (await groupTeam(db, filter, 'branch', context)).filter(({ name }) => name !== ''),
    by_session: sessions.slice(0, MAX_SESSIONS),
    by_session_cost: sessions
      .filter(({ cost }) => cost.usd > 0)
      .sort((a, b) => b.cost.usd - a.cost.usd)
      .slice(0, MAX_SESSIONS),
    longest: longest.map(({ key, title, ms, messages }) => ({
      session: teamSessionId(key),
      title,
      duration_ms: ms,
      messages,
    })),
    disk,
    prices: { as_of: prices.as_of, source: prices.source },
    uncounted: 0,
  }
}

export async function teamSeries(
  db: Transaction,
  filter: TeamFilter,
  { by, step, utc }: { readonly by?: TeamDimension | undefined; readonly step: Series['step']; readonly utc: boolean },
  context: StatisticsContext,
): Promise<Series> {
  const dayOf = utc ? toUtcDay : createLocalDay()
  const sums = new Map<string, { day: string; name: string; usage: Usage; cost: Spent }>()
  for (const { at, name, usage, cost } of await readUsage(db, filter, by, context)) {
    if (at === null) continue
    const day = dayOf(at)
    const known = sums.get(`${day} ${name}`) ?? { day, name, usage: NO_USAGE, cost: NO_COST }
    sums.set(`${day} ${name}`, { day, name, usage: addUsage(known.usage, usage), cost: addCosts(known.cost, cost) })
  }
  const inOrder = [...sums.values()].sort((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0))
  return buildSeries(inOrder, by !== undefined, step)
}

export async function teamOverview(
  db: Transaction,
  filter: TeamFilter,
  utc: boolean,
  context: StatisticsContext,
): Promise<StatsOverview> {
  const values: unknown[] = []
  const where = sessionConditions(filter, context.people, values)
  const usage = await readUsage(db, filter, undefined, context)
  const calls = await db.rows<{ last_at: Date | null; calls: number; results: number; errors: number }>(
    `SELECT s.last_at, ${sumOf('t.calls')} AS calls, ${sumOf('t.results')} AS results, ${sumOf('t.errors')} AS errors
     FROM session s JOIN tool_use t ON t.session_key = s.session_key WHERE ${where} GROUP BY s.session_key, s.last_at`,
    values,
  )
  const sessions = await db.first<{ count: number }>(`SELECT count(*) AS count FROM session s WHERE ${where}`, values)
  const active = await readActivityRows(db, filter, context, 'a.session_key::text')
  const numbers = new Map<string, number>()
  const numberOf = (name: string): number => {
    const known = numbers.get(name) ?? numbers.size
    numbers.set(name, known)
    return known
  }
  return buildOverview(
    {
      used: usage
        .filter(({ at }) => at !== null)
        .map((one) => ({ day: one.at ?? NO_DAY, usage: one.usage, cost: one.cost })),
      active: active.map(({ at, name }) => ({ at, session: numberOf(name) })),
      calls: calls.map(({ last_at, ...rest }) => ({ last_at: last_at?.getTime() ?? null, ...rest })),
      sessions: sessions?.count ?? 0,
    },
    utc,
  )
}

async function readActivityRows(
  db: Transaction,
  filter: TeamFilter,
  { people }: StatisticsContext,
  name: string,
): Promise<readonly { readonly at: number; readonly name: string; readonly count: number }[]> {
  const values: unknown[] = []
  const where = sessionConditions(filter, people, values)
  values.push(
    filter.since === undefined ? 0 : Math.floor(filter.since / QUARTER_MS),
    filter.until === undefined ? 2_000_000_000 : Math.ceil(filter.until / QUARTER_MS),
  )
  const rows = await db.rows<{ quarter: number; name: string; count: number }>(
    `SELECT a.quarter, ${name} AS name, ${sumOf('a.count')} AS count FROM session s JOIN activity a ON a.session_key = s.session_key
     WHERE ${where} AND a.quarter >= $${values.length - 1} AND a.quarter < $${values.length} GROUP BY 1, 2`,
    values,
  )
  return rows.map(({ quarter, ...row }) => ({ at: quarter * QUARTER_MS, ...row }))
}

export const teamActivity = async (
  db: Transaction,
  filter: TeamFilter,
  utc: boolean,
  context: StatisticsContext,
): Promise<Activity> => buildActivity(await readActivityRows(db, filter, context, `''`), utc)

export function teamTools(
  db: Transaction,
  filter: TeamFilter,
  { people }: StatisticsContext,
): Promise<readonly ToolStat[]> {
  const values: unknown[] = []
  const where = sessionConditions(filter, people, values)
  return db.rows<ToolStat>(
    `SELECT t.tool, ${sumOf('t.calls')} AS calls, ${sumOf('t.results')} AS results, ${sumOf('t.errors')} AS errors,
       ${sumOf('t.duration_ms')} AS duration_ms, ${sumOf('t.timed')} AS timed
     FROM session s JOIN tool_use t ON t.session_key = s.session_key WHERE ${where} GROUP BY t.tool ORDER BY calls DESC, t.tool`,
    values,
  )
}
