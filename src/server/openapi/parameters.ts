/** Parameters that several endpoints take, and what they mean to the app. */

import { z } from '@hono/zod-openapi'
import { parsePeriod, type SessionFilter } from '../../app.ts'
import { phrase } from '../../model/phrase.ts'
import { ApiProblem } from '../api-problem.ts'

export const flagParameter = (what: string) =>
  z
    .enum(['1', 'true', '0', 'false'])
    .transform((text) => text === '1' || text === 'true')
    .optional()
    .openapi({ description: what })

export const numberParameter = (what: string, min: number, max: number) =>
  z.coerce.number().int().min(min).max(max).optional().openapi({ description: what })

export const textParameter = (what: string) => z.string().min(1).max(2000).optional().openapi({ description: what })

export const FILTER_PARAMETERS = {
  agent: textParameter('Ids of agents, with commas between them.'),
  project: textParameter('A directory and those below it; without a slash, one of that name anywhere.'),
  model: textParameter('A model; * stands for anything.'),
  tool: textParameter('Only with calls of this tool.'),
  since: textParameter('From this day on: 2026-11-15, today, 7d, or a moment.'),
  until: textParameter('Up to the end of this day.'),
  start_date: textParameter('Another name for since.'),
  end_date: textParameter('Another name for until.'),
}

export interface FilterValues {
  readonly agent?: string | undefined
  readonly project?: string | undefined
  readonly model?: string | undefined
  readonly tool?: string | undefined
  readonly since?: string | undefined
  readonly until?: string | undefined
  readonly start_date?: string | undefined
  readonly end_date?: string | undefined
}

export function parseSessionFilter(values: FilterValues): SessionFilter {
  const { agent, project, model, tool } = values
  const from = parseMoment('since', values.since ?? values.start_date, 'from')
  const until = parseMoment('until', values.until ?? values.end_date, 'until')
  if (from !== undefined && until !== undefined && from >= until)
    throw new ApiProblem(
      'invalid_period',
      phrase('The period ends before it begins.', '期間の終わりが始まりより前です。'),
    )
  return {
    ...(agent !== undefined && { agents: agent.split(',') }),
    ...(project !== undefined && { project }),
    ...(model !== undefined && { model }),
    ...(tool !== undefined && { tool }),
    ...(from !== undefined && { since: from }),
    ...(until !== undefined && { until }),
  }
}

function parseMoment(name: string, given: string | undefined, end: 'from' | 'until'): number | undefined {
  if (given === undefined) return undefined
  const period = parsePeriod(given, new Date())
  if (!period)
    throw new ApiProblem(
      'invalid_period',
      phrase(
        `${name} takes a day or a moment: 2026-11-15, today, 7d, 12h.`,
        `${name} には日付か日時を指定してください：2026-11-15、today、7d、12h など。`,
      ),
      { invalid_fields: [{ field: name, message: 'no day and no moment' }] },
    )
  return Date.parse(period[end])
}
