/** What a list of sessions adds up to, and how many sessions each value of a filter would leave. */
import type { Db } from '../lib/sqlite/own-database.ts'
import { prepareCached } from '../lib/sqlite/statements.ts'
import { addCosts, costOfUsage, NO_COST, type PriceList, type Spent } from '../model/prices.ts'
import { USAGE_FIELDS, type Usage } from '../model/usage.ts'
import { instantOf, NO_QUARTER, QUARTER_MS, safeSum } from './row-encoding.ts'
import { filterConditions } from './session-filter.ts'
import { childrenCondition, type FilterChoice, MAX_FILTER_CHOICES, type SessionListOptions } from './session-list.ts'

export type SummaryOptions = Omit<SessionListOptions, 'sort' | 'ascending' | 'limit' | 'offset' | 'after'>

export interface SessionSummary {
  readonly totals: SessionSums
  /** Each list follows all filters but its own. */
  readonly agents: readonly FilterChoice[]
  readonly projects: readonly FilterChoice[]
  readonly models: readonly FilterChoice[]
}

export interface SessionSums {
  readonly sessions: number
  readonly turns: number
  readonly tools: number
  readonly errors: number
  readonly total_tokens: number
  readonly cost: Spent
}

export const EMPTY_SUMMARY: SessionSummary = {
  totals: { sessions: 0, turns: 0, tools: 0, errors: 0, total_tokens: 0, cost: NO_COST },
  agents: [],
  projects: [],
  models: [],
}

export function readSessionSummary(db: Db, options: SummaryOptions, prices: PriceList): SessionSummary {
  const { agents: _agents, ...anyAgent } = options
  const { project: _project, ...anyProject } = options
  const { model: _model, ...anyModel } = options
  return {
    totals: readSums(db, options, prices),
    agents: countBy(db, anyAgent, 't.agent', ''),
    projects: countBy(db, anyProject, 't.project', '', 't.project IS NOT NULL'),
    models: countBy(
      db,
      anyModel,
      'w.text',
      'CROSS JOIN model_of m ON m.session_id = t.id JOIN word w ON w.id = m.model_id',
    ),
  }
}

function whereOf(options: SummaryOptions): { readonly where: string; readonly values: readonly (string | number)[] } {
  const { sql, values } = filterConditions(options)
  const children = childrenCondition(options.children ?? 'fold')
  return { where: `${sql} AND ${children.sql}`, values: [...values, ...children.values] }
}

function countBy(db: Db, options: SummaryOptions, value: string, join: string, also = '1'): readonly FilterChoice[] {
  const { where, values } = whereOf(options)
  return prepareCached(
    db,
    `SELECT ${value} AS value, count(*) AS count FROM session t ${join} WHERE ${where} AND ${also}
     GROUP BY value ORDER BY count DESC, value LIMIT ${MAX_FILTER_CHOICES}`,
  ).all(...values) as FilterChoice[]
}

function readSums(db: Db, options: SummaryOptions, prices: PriceList): SessionSums {
  const { where, values } = whereOf(options)
  const one = (sql: string): { readonly [column: string]: number } =>
    prepareCached(db, `${sql} WHERE ${where}`).get(...values) as { [column: string]: number }
  const { sessions = 0, total_tokens = 0 } = one(
    `SELECT count(*) AS sessions, ${safeSum('t.total_tokens')} AS total_tokens FROM session t`,
  )
  const { turns } = one(
    'SELECT coalesce(sum(a.prompts), 0) AS turns FROM session t CROSS JOIN activity a ON a.session_id = t.id',
  )
  const { tools, errors } = one(
    'SELECT coalesce(sum(u.calls), 0) AS tools, coalesce(sum(u.errors), 0) AS errors FROM session t CROSS JOIN tool_use u ON u.session_id = t.id',
  )
  return {
    sessions,
    turns: turns ?? 0,
    tools: tools ?? 0,
    errors: errors ?? 0,
    total_tokens: total_tokens ?? 0,
    cost: prices.plan === 'subscription' ? NO_COST : readCost(db, options, prices),
  }
}

interface UsageRow extends Usage {
  readonly model: string
  readonly quarter: number
}

function readCost(db: Db, options: SummaryOptions, prices: PriceList): Spent {
  const { where, values } = whereOf(options)
  const rows = prepareCached(
    db,
    `SELECT w.text AS model, u.quarter, ${USAGE_FIELDS.map((name) => `${safeSum(`u.${name}`)} AS ${name}`).join(', ')}
     FROM session t CROSS JOIN usage u ON u.source_id = t.source_id JOIN word w ON w.id = u.model_id
     WHERE ${where} GROUP BY u.model_id, u.quarter`,
  ).all(...values) as UsageRow[]
  return rows.reduce((sum, row) => {
    const at = row.quarter === NO_QUARTER ? null : instantOf(row.quarter * QUARTER_MS)
    return addCosts(sum, costOfUsage(row, row.model === 'unknown' ? undefined : row.model, at, prices))
  }, NO_COST)
}
