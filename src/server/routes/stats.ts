/** `/api/stats`: sums, series, tools, activity, patterns, and CSV tables. */
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { statisticsOf } from '../../conversation/history/statistics.ts'
import { CSV_TABLES, type Patterns, type Share } from '../../model/api/stats.ts'
import { allUsageFields } from '../../model/usage.ts'
import type { ServerContext } from '../context.ts'
import { addEndpoint, FILTER_PARAMETERS, flagParameter, parseSessionFilter } from '../openapi/endpoint.ts'
import { activityItem, type CsvTable, seriesItem, statsItem, toCsv, toolItems } from '../view/stats-item.ts'

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
  addEndpoint(api, {
    method: 'get',
    path: '/api/stats',
    summary: 'Get totals of sessions',
    query: z.object(STATS_PARAMETERS),
    reply: 'StatsReply',
    errors,
    answer: async ({ query }) => ({
      data: await statsItem(app, parseSessionFilter(query), query.utc === true),
      meta: {},
    }),
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/stats/series',
    summary: 'Get tokens and cost over time',
    query: z.object(SERIES_PARAMETERS),
    reply: 'SeriesReply',
    errors,
    answer: async ({ query }) => ({ data: await seriesItem(app, parseSessionFilter(query), query), meta: {} }),
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/stats/tools',
    summary: 'Get calls, errors and time by tool',
    query: z.object(STATS_PARAMETERS),
    reply: 'ToolsReply',
    errors,
    answer: ({ query }) => ({ data: toolItems(app, parseSessionFilter(query)), meta: {} }),
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/stats/activity',
    summary: 'Get activity by hour, weekday and day',
    query: z.object(STATS_PARAMETERS),
    reply: 'ActivityReply',
    errors,
    answer: ({ query }) => ({ data: activityItem(app, parseSessionFilter(query), query.utc === true), meta: {} }),
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/stats/patterns',
    summary: 'Get tool use patterns of Amazon Q, Kiro and fumibako sessions',
    query: z.object(STATS_PARAMETERS),
    reply: 'PatternsReply',
    errors,
    answer: ({ query }) => {
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
      return { data, meta: {} }
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
          const { starts, lines } = await seriesItem(app, filter, query)
          return lines.flatMap((line) =>
            starts.map((start, at) => ({
              start,
              name: line.name ?? (line.rest ? 'rest' : 'all'),
              total_tokens: line.total_tokens[at] ?? 0,
              input_tokens: line.input_tokens[at] ?? 0,
              cached_input_tokens: line.cached_input_tokens[at] ?? 0,
              cache_write_tokens: line.cache_write_tokens[at] ?? 0,
              output_tokens: line.output_tokens[at] ?? 0,
              usd: line.usd[at] ?? 0,
            })),
          )
        }
        const stats = await statsItem(app, filter, query.utc === true)
        const sums = {
          models: stats.by_model,
          projects: stats.by_project,
          agents: stats.by_agent,
          sessions: stats.by_session,
        }[name]
        return sums.map(({ name: of, usage, cost }) => ({ name: of, ...allUsageFields(usage), ...cost }))
      }
    },
  })
}

const shareOf = (count: number, total: number): Share => ({
  count,
  percent: total === 0 ? 0 : Math.round((100 * count) / total),
})
