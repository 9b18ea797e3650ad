/** `/api/stats` and `/api/team/stats`: sums over what a person may see the numbers of. */
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { TEAM_CSV_TABLES } from '../../model/api/stats.ts'
import { addEndpoint, flagParameter } from '../../server/openapi/endpoint.ts'
import { type CsvTable, seriesRows, sumRows, toCsv } from '../../server/view/stats-item.ts'
import type { Transaction } from '../postgres/database.ts'
import { TEAM_API } from '../protocol.ts'
import { callerOf } from './access.ts'
import type { TeamContext } from './context.ts'
import {
  groupTeam,
  type StatisticsContext,
  TEAM_DIMENSIONS,
  type TeamDimension,
  teamActivity,
  teamOverview,
  teamSeries,
  teamStats,
  teamTools,
} from './statistics.ts'
import { TEAM_FILTERS, toTeamFilter } from './team-filter.ts'

const STATS_PARAMETERS = { ...TEAM_FILTERS, utc: flagParameter('Counts days and hours in UTC instead of local time.') }

export function statisticsRoutes(api: OpenAPIHono, context: TeamContext): void {
  const asked = async (c: Context) => ({
    people: await context.names(),
    prices: await context.prices(),
    person: callerOf(c).person,
  })
  const run = async <T>(
    c: Context,
    work: (db: Parameters<typeof teamStats>[0], of: Awaited<ReturnType<typeof asked>>) => Promise<T>,
  ) => {
    const of = await asked(c)
    return {
      data: (await context.database.asPerson(of.person.id, (db) => work(db, of))) as object,
      meta: { warnings: [] },
    }
  }
  const errors = ['invalid_period'] as const
  const query = z.object(STATS_PARAMETERS)
  addEndpoint(api, {
    method: 'get',
    path: '/api/stats',
    summary: 'Get totals of sessions',
    query,
    reply: 'StatsReply',
    errors,
    answer: ({ c, query: given }) => run(c, (db, of) => teamStats(db, toTeamFilter(given), of)),
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/stats/overview',
    summary: 'Get headline numbers by day, month and block of five hours',
    query,
    reply: 'OverviewReply',
    errors,
    answer: ({ c, query: given }) => run(c, (db, of) => teamOverview(db, toTeamFilter(given), given.utc === true, of)),
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/stats/series',
    summary: 'Get tokens and cost over time',
    query: z.object({
      ...STATS_PARAMETERS,
      by: z.enum(TEAM_DIMENSIONS).optional().openapi({ description: 'Groups lines.' }),
      step: z.enum(['day', 'week', 'month']).default('day').openapi({ description: 'Interval.' }),
    }),
    reply: 'SeriesReply',
    errors,
    answer: ({ c, query: given }) =>
      run(c, (db, of) =>
        teamSeries(db, toTeamFilter(given), { by: given.by, step: given.step, utc: given.utc === true }, of),
      ),
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/stats/tools',
    summary: 'Get calls, errors and time by tool',
    query,
    reply: 'ToolsReply',
    errors,
    answer: ({ c, query: given }) => run(c, (db, of) => teamTools(db, toTeamFilter(given), of)),
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/stats/activity',
    summary: 'Get activity by hour, weekday and day',
    query,
    reply: 'ActivityReply',
    errors,
    answer: ({ c, query: given }) => run(c, (db, of) => teamActivity(db, toTeamFilter(given), given.utc === true, of)),
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/stats/export.csv',
    summary: 'Download a table as CSV',
    query: z.object({
      ...STATS_PARAMETERS,
      by: z.enum(TEAM_DIMENSIONS).optional().openapi({ description: 'Groups lines.' }),
      step: z.enum(['day', 'week', 'month']).default('day').openapi({ description: 'Interval.' }),
      table: z.enum(TEAM_CSV_TABLES).openapi({ description: 'Table to download.' }),
    }),
    reply: 'text/csv',
    errors,
    answer: async ({ c, query: given }) => {
      const of = await asked(c)
      const table = await context.database.asPerson(of.person.id, (db) => tableOf(db, given, of))
      return new Response(toCsv(table), {
        headers: {
          'content-type': 'text/csv; charset=utf-8',
          'content-disposition': `attachment; filename="fumibako-${given.table}.csv"`,
        },
      })
    },
  })
  addEndpoint(api, {
    method: 'get',
    path: `${TEAM_API}/stats`,
    summary: 'Get tokens and cost by person, project, model, branch or agent',
    query: z.object({
      ...STATS_PARAMETERS,
      by: z.enum(TEAM_DIMENSIONS).default('person').openapi({ description: 'Dimension.' }),
    }),
    reply: 'NamedSum',
    errors,
    answer: ({ c, query: given }) => run(c, (db, of) => groupTeam(db, toTeamFilter(given), given.by, of)),
  })
}

type FilterValues = Parameters<typeof toTeamFilter>[0]

async function tableOf(
  db: Transaction,
  given: FilterValues & {
    readonly table: (typeof TEAM_CSV_TABLES)[number]
    readonly by?: TeamDimension | undefined
    readonly step: 'day' | 'week' | 'month'
    readonly utc?: boolean | undefined
  },
  of: StatisticsContext,
): Promise<CsvTable> {
  const filter = toTeamFilter(given)
  const utc = given.utc === true
  if (given.table === 'tools') return (await teamTools(db, filter, of)).map((one) => ({ ...one }))
  if (given.table === 'activity') return (await teamActivity(db, filter, utc, of)).by_day.map((one) => ({ ...one }))
  if (given.table === 'series')
    return seriesRows(await teamSeries(db, filter, { by: given.by, step: given.step, utc }, of))
  const stats = await teamStats(db, filter, of)
  const sums = {
    models: stats.by_model,
    projects: stats.by_project,
    agents: stats.by_agent,
    sessions: stats.by_session,
    people: stats.by_person ?? [],
    branches: stats.by_branch ?? [],
  }[given.table]
  return sumRows(sums)
}
