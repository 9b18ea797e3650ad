/** `/api/stats`: sums, series, tools, activity, patterns, and the same as tables for a spreadsheet. */
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { statisticsOf } from '../../conversation/history/statistics.ts'
import type { Patterns } from '../../model/api/stats.ts'
import type { HouseView } from '../house-view.ts'
import { serve } from '../openapi/endpoint.ts'
import { FILTERS, filterOf, flag } from '../openapi/parameters.ts'
import { csvOf, type Table } from '../view/csv.ts'
import { activityItem, seriesItem, statsItem, toolItems } from '../view/stats-item.ts'

const STATS = { ...FILTERS, utc: flag('Days and hours in UTC instead of those on the wall.') }
const SERIES = {
  ...STATS,
  by: z.enum(['agent', 'model', 'project']).optional().openapi({
    description: 'One line each of the eight largest, and one of the rest; one line if not given.',
  }),
  step: z.enum(['day', 'week', 'month']).default('day'),
}
const TABLES = ['series', 'models', 'projects', 'agents', 'sessions', 'tools', 'activity'] as const

export function statsRoutes(app: OpenAPIHono, { house }: HouseView): void {
  const errors = ['invalid_period'] as const
  serve(
    app,
    {
      method: 'get',
      path: '/api/stats',
      summary: 'What the sessions add up to',
      query: z.object(STATS),
      reply: 'StatsReply',
      errors,
    },
    async ({ query }) => ({ data: await statsItem(house, filterOf(query), query.utc === true), meta: {} }),
  )
  serve(
    app,
    {
      method: 'get',
      path: '/api/stats/series',
      summary: 'Tokens and cost over time',
      query: z.object(SERIES),
      reply: 'SeriesReply',
      errors,
    },
    async ({ query }) => ({ data: await seriesItem(house, filterOf(query), query), meta: {} }),
  )
  serve(
    app,
    {
      method: 'get',
      path: '/api/stats/tools',
      summary: 'Tools: calls, errors and time',
      query: z.object(STATS),
      reply: 'ToolsReply',
      errors,
    },
    ({ query }) => ({ data: toolItems(house, filterOf(query)), meta: {} }),
  )
  serve(
    app,
    {
      method: 'get',
      path: '/api/stats/activity',
      summary: 'When it was worked',
      query: z.object(STATS),
      reply: 'ActivityReply',
      errors,
    },
    ({ query }) => ({ data: activityItem(house, filterOf(query), query.utc === true), meta: {} }),
  )
  serve(
    app,
    {
      method: 'get',
      path: '/api/stats/patterns',
      summary: 'Patterns of conversations that are told in entries',
      query: z.object(STATS),
      reply: 'PatternsReply',
      errors,
    },
    ({ query }) => {
      const { toolUses, turns, ...counts } = statisticsOf(house.histories(filterOf(query)))
      const data: Patterns = {
        ...counts,
        turns: { total: turns.total, patterns: turns.patterns },
        tool_uses: { total: toolUses.total, max: toolUses.max, per_turn: toolUses.perTurn, by_name: toolUses.byName },
      }
      return { data, meta: {} }
    },
  )
  serve(
    app,
    {
      method: 'get',
      path: '/api/stats/export.csv',
      summary: 'One of the tables for a spreadsheet',
      query: z.object({ ...SERIES, table: z.enum(TABLES) }),
      reply: 'text/csv',
      errors,
    },
    async ({ query }) => {
      const filter = filterOf(query)
      const table = await tableOf(query.table)
      return new Response(csvOf(table), {
        headers: {
          'content-type': 'text/csv; charset=utf-8',
          'content-disposition': `attachment; filename="fumibako-${query.table}.csv"`,
        },
      })

      async function tableOf(name: (typeof TABLES)[number]): Promise<Table> {
        if (name === 'tools') return toolItems(house, filter)
        if (name === 'activity') return activityItem(house, filter, query.utc === true).by_day
        if (name === 'series') {
          const { starts, lines } = await seriesItem(house, filter, query)
          return lines.flatMap((line) =>
            starts.map((start, at) => ({
              start,
              name: line.name ?? (line.rest ? 'rest' : 'all'),
              total_tokens: line.total_tokens[at] ?? 0,
              input_tokens: line.input_tokens[at] ?? 0,
              cached_input_tokens: line.cached_input_tokens[at] ?? 0,
              output_tokens: line.output_tokens[at] ?? 0,
              usd: line.usd[at] ?? 0,
            })),
          )
        }
        const stats = await statsItem(house, filter, query.utc === true)
        const sums = {
          models: stats.by_model,
          projects: stats.by_project,
          agents: stats.by_agent,
          sessions: stats.by_session,
        }[name]
        return sums.map(({ name: of, usage, cost }) => ({ name: of, ...usage, ...cost }))
      }
    },
  )
}
