/** The filters that lists, searches and statistics of a team have in common, as parameters of requests. */
import { FILTER_PARAMETERS, parseSessionFilter, textParameter } from '../../server/openapi/endpoint.ts'
import type { TeamFilter } from './list-sessions.ts'

export const TEAM_FILTERS = {
  ...FILTER_PARAMETERS,
  person: textParameter('Only sessions of this person.'),
  branch: textParameter('Only sessions of this Git branch.'),
}

type FilterValues = { readonly [name in keyof typeof TEAM_FILTERS]?: string | undefined }

export function toTeamFilter(values: FilterValues): TeamFilter {
  const { agents, project, model, tool, since, until } = parseSessionFilter(values)
  return {
    ...(agents && { agents }),
    ...(project !== undefined && { project }),
    ...(model !== undefined && { model }),
    ...(tool !== undefined && { tool }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    ...(values.person !== undefined && { person: values.person }),
    ...(values.branch !== undefined && { branch: values.branch }),
  }
}
