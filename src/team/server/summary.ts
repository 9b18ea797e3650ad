/** What the sessions of a list add up to, and how many each value of a filter would leave. */
import type { SummaryChoice, SummaryItem } from '../../model/api/session.ts'
import type { Transaction } from '../postgres/database.ts'
import { sessionConditions, type TeamFilter } from './list-sessions.ts'
import { costOf, type StatisticsContext } from './statistics.ts'
import { sumOf } from './sum-of-column.ts'

const FROM = 'FROM session s JOIN project j ON j.id = s.project_id'
const MAX_CHOICES = 200

export async function summarize(db: Transaction, filter: TeamFilter, context: StatisticsContext): Promise<SummaryItem> {
  const readable = { ...filter, isReadable: true }
  const values: unknown[] = []
  const where = sessionConditions(readable, context.people, values)
  const totals = await db.first<Omit<SummaryItem['totals'], 'cost'>>(
    `SELECT count(*) AS sessions, ${sumOf('s.turns')} AS turns, ${sumOf('s.tools')} AS tools,
       ${sumOf('s.errors')} AS errors, ${sumOf('s.total_tokens')} AS total_tokens ${FROM} WHERE ${where}`,
    values,
  )
  const none = { sessions: 0, turns: 0, tools: 0, errors: 0, total_tokens: 0 }
  const { agents: _a, ...withoutAgents } = readable
  const { project: _p, ...withoutProject } = readable
  const { model: _m, ...withoutModel } = readable
  const { person: _n, ...withoutPerson } = readable
  const people = await count(db, 's.person_id::text', '', withoutPerson, context)
  return {
    totals: { ...none, ...totals, cost: await costOf(db, readable, context) },
    agents: await count(db, 's.agent', '', withoutAgents, context),
    projects: await count(db, 'j.name', '', withoutProject, context),
    models: await count(db, 'm', 'CROSS JOIN LATERAL unnest(s.models) m', withoutModel, context),
    tags: [],
    people: people.map(({ value, count: sessions }) => ({
      value: context.people.get(Number(value)) ?? value,
      count: sessions,
    })),
  }
}

function count(
  db: Transaction,
  value: string,
  join: string,
  filter: TeamFilter,
  { people }: StatisticsContext,
): Promise<readonly SummaryChoice[]> {
  const values: unknown[] = []
  const where = sessionConditions(filter, people, values)
  return db.rows<SummaryChoice>(
    `SELECT ${value} AS value, count(*) AS count ${FROM} ${join} WHERE ${where} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${MAX_CHOICES}`,
    values,
  )
}
