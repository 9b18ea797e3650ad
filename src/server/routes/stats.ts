/** `/api/stats`: sums, series, tools, activity, patterns, and CSV tables. */
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { statisticsOf } from '../../conversation/history/statistics.ts'
import type { FilterMeta } from '../../model/api/envelope.ts'
import { CSV_TABLES, type Patterns, type Share } from '../../model/api/stats.ts'
import type { ServerContext } from '../context.ts'
import { addEndpoint, checkNames, FILTER_PARAMETERS, flagParameter, parseSessionFilter } from '../openapi/endpoint.ts'
import { overviewItem } from '../view/overview-item.ts'
import {
  activityItem,
  type CsvTable,
  seriesItem,
  seriesRows,
  statsItem,
  sumRows,
  toCsv,
  toolItems,
} from '../view/stats-item.ts'

const STATS_PARAMETERS = {
  ...FILTER_PARAMETERS,
  utc: flagParameter('Counts days and hours in UTC instead of local time.'),
}
const SERIES_PARAMETERS = {
  ...STATS_PARAMETERS,
  by: z.enum(['agent', 'model', 'project']).optional().openapi({
    description: 'Groups lines: the eight largest, and one for the rest. By default there is one line for all.',
  }),
  step: z.enum(['day', 'week', 'month']).default('day').openapi({ description: 'Interval.' }),
}

export function statsRoutes(api: OpenAPIHono, { app }: ServerContext): void {
  const errors = ['invalid_period'] as const
  const filterMeta = async (query: Parameters<typeof checkNames>[1]): Promise<FilterMeta> => ({
    warnings: await checkNames(app, query),
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/stats',
    summary: 'Get totals of sessions',
    query: z.object(STATS_PARAMETERS),
    reply: 'StatsReply',
    errors,
    answer: async ({ query }) => ({
      data: await statsItem(app, parseSessionFilter(query), query.utc === true),
      meta: await filterMeta(query),
    }),
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/stats/overview',
    summary: 'Get headline numbers by day, month and block of five hours',
    query: z.object(STATS_PARAMETERS),
    reply: 'OverviewReply',
    errors,
    answer: async ({ query }) => ({
      data: await overviewItem(app, parseSessionFilter(query), query.utc === true),
      meta: await filterMeta(query),
    }),
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/stats/series',
    summary: 'Get tokens and cost over time',
    query: z.object(SERIES_PARAMETERS),
    reply: 'SeriesReply',
    errors,
    answer: async ({ query }) => ({
      data: await seriesItem(app, parseSessionFilter(query), query),
      meta: await filterMeta(query),
    }),
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/stats/tools',
    summary: 'Get calls, errors and time by tool',
    query: z.object(STATS_PARAMETERS),
    reply: 'ToolsReply',
    errors,
    answer: async ({ query }) => ({ data: toolItems(app, parseSessionFilter(query)), meta: await filterMeta(query) }),
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/stats/activity',
    summary: 'Get activity by hour, weekday and day',
    query: z.object(STATS_PARAMETERS),
    reply: 'ActivityReply',
    errors,
    answer: async ({ query }) => ({
      data: activityItem(app, parseSessionFilter(query), query.utc === true),
      meta: await filterMeta(query),
    }),
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/stats/patterns',
    summary: 'Get tool use patterns of Amazon Q, Kiro and fumibako sessions',
    query: z.object(STATS_PARAMETERS),
    reply: 'PatternsReply',
    errors,
    answer: async ({ query }) => {
      const { toolUses, turns, ...counts } = statisticsOf(app.histories(parseSessionFilter(query)))
      const data: Patterns = {
        ...counts,
        turns: {
          total: turns.total,
          patterns: turns.patterns,
          incomplete: shareOf(turns.incomplete, turns.total),
          cancelled: shareOf(turns.cancelled, turns.total),
        },
        tool_uses: { total: toolUses.total, max: toolUses.max, per_turn: toolUses.perTurn, by_name: toolUses.byName },
      }
      return { data, meta: await filterMeta(query) }
    },
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/stats/export.csv',
    summary: 'Download a table as CSV',
    query: z.object({ ...SERIES_PARAMETERS, table: z.enum(CSV_TABLES).openapi({ description: 'Table to download.' }) }),
    reply: 'text/csv',
    errors,
    answer: async ({ query }) => {
      const filter = parseSessionFilter(query)
      await checkNames(app, query)
      const table = await tableOf(query.table)
      return new Response(toCsv(table), {
        headers: {
          'content-type': 'text/csv; charset=utf-8',
          'content-disposition': `attachment; filename="fumibako-${query.table}.csv"`,
        },
      })

      async function tableOf(name: (typeof CSV_TABLES)[number]): Promise<CsvTable> {
        if (name === 'tools') return toolItems(app, filter)
        if (name === 'activity') return activityItem(app, filter, query.utc === true).by_day
        if (name === 'series') {
          return seriesRows(await seriesItem(app, filter, query))
        }
        const stats = await statsItem(app, filter, query.utc === true)
        const sums = {
          models: stats.by_model,
          projects: stats.by_project,
          agents: stats.by_agent,
          sessions: stats.by_session,
        }[name]
        return sumRows(sums)
      }
    },
  })
}

const shareOf = (count: number, total: number): Share => ({
  count,
  percent: total === 0 ? 0 : Math.round((100 * count) / total),
})
