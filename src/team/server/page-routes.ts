/** The API that the page uses, over the sessions of a team. Requests about one session go to the program that shows logs. */
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { agentIdsOf } from '../../agents/agent-roots.ts'
import { allAgents } from '../../agents/load-agents.ts'
import { explainQuery } from '../../app.ts'
import type { SearchMeta } from '../../model/api/search.ts'
import type { SessionSort, SessionsMeta } from '../../model/api/session.ts'
import { phrase } from '../../model/phrase.ts'
import { ApiProblem, toQueryProblem } from '../../server/api-problem.ts'
import {
  addEndpoint,
  filterText,
  flagParameter,
  numberParameter,
  textParameter,
} from '../../server/openapi/endpoint.ts'
import { toHitItem } from '../../server/routes/search.ts'
import { DEFAULT_PER_PAGE, LIST_PAGE } from '../../server/routes/sessions.ts'
import { teamSessionId } from '../protocol.ts'
import { callerOf } from './access.ts'
import type { TeamContext } from './context.ts'
import {
  type ListOptions,
  listSessions,
  readChoices,
  readSessions,
  type TeamFilter,
  toTeamItems,
} from './list-sessions.ts'
import { streamChanges } from './live-changes.ts'
import type { Person } from './people.ts'
import { searchTeam } from './search-messages.ts'
import { sessionRoutes } from './show-session.ts'
import { statisticsRoutes } from './statistics-routes.ts'
import { sumOf } from './sum-of-column.ts'
import { summarize } from './summary.ts'
import { TEAM_FILTERS, toTeamFilter } from './team-filter.ts'

const LIST_QUERY = z.object({
  ...LIST_PAGE,
  ...TEAM_FILTERS,
  role: textParameter('Not used by a team.'),
  q: textParameter('Search query. Matches title and messages.'),
  scope: textParameter('With q: searches only this part.'),
  starred: flagParameter('Not used by a team.'),
  tag: textParameter('Not used by a team.'),
  children: z
    .enum(['fold', 'all'])
    .default('fold')
    .openapi({ description: 'fold lists forks and sub-agents under their parents.' }),
  parent: textParameter('Only forks and sub-agents of this session.'),
  kind: z.enum(['conversation', 'prompts', 'any']).default('conversation').openapi({ description: 'Kind of session.' }),
})
const SUMMARY_QUERY = LIST_QUERY.omit({ page: true, per_page: true, cursor: true, sort: true })
const SEARCH_QUERY = z.object({
  q: textParameter('Search query.'),
  keyword: textParameter('Alias of q.'),
  scope: textParameter('Searches only this part.'),
  role: textParameter('Searches only messages of this role.'),
  ...TEAM_FILTERS,
  starred: flagParameter('Not used by a team.'),
  tag: textParameter('Not used by a team.'),
  limit: numberParameter('Maximum number of hits, 20 by default.', 1, 10_000),
  after: numberParameter('next of the previous reply.', 0, Number.MAX_SAFE_INTEGER),
  sort: z.enum(['newest', 'relevance']).default('newest').openapi({ description: 'Newest first in both cases.' }),
  stream: flagParameter('Replies with application/x-ndjson: one SearchLine per line.'),
})
/** Hits of a list that is filtered by words. */
const MAX_MATCHING = 500

export function pageRoutes(api: OpenAPIHono, context: TeamContext): void {
  listRoutes(api, context)
  summaryRoute(api, context)
  searchRoute(api, context)
  statisticsRoutes(api, context)
  machineRoutes(api, context)
  sessionRoutes(api, context)
}

function listRoutes(api: OpenAPIHono, context: TeamContext): void {
  addEndpoint(api, {
    method: 'get',
    path: '/api/sessions',
    summary: 'List sessions',
    query: LIST_QUERY,
    reply: 'SessionsReply',
    errors: ['invalid_period', 'invalid_query'],
    answer: async ({ c, query }) => {
      const { person } = callerOf(c)
      const perPage = query.per_page ?? DEFAULT_PER_PAGE
      const page = query.page ?? 1
      const people = await context.names()
      const parent = query.parent === undefined ? undefined : (await context.session(person, query.parent)).key
      const options: ListOptions = {
        sort: query.sort.replace(/^-/, '') as SessionSort,
        isAscending: !query.sort.startsWith('-'),
        limit: perPage,
        offset: query.cursor ? 0 : (page - 1) * perPage,
        children: parent === undefined ? query.children : { of: parent },
        ...(query.cursor && { after: Buffer.from(query.cursor, 'base64url').toString() }),
        ...(query.q !== undefined && {
          matching: await findMatching(context, person, query.q, query.scope, toTeamFilter(query)),
        }),
      }
      const prices = await context.prices()
      const { total, data, last } = await context.database.asPerson(person.id, async (db) => {
        const listed = await listSessions(db, { ...toTeamFilter(query), kind: query.kind }, options, people)
        return {
          total: listed.total,
          data: await toTeamItems(db, listed.rows, people, prices),
          last: listed.rows.at(-1)?.key,
        }
      })
      const isLast = query.cursor ? data.length < perPage : page * perPage >= total
      const meta: SessionsMeta = {
        pagination: {
          page,
          per_page: perPage,
          total_count: total,
          total_pages: Math.ceil(total / perPage),
          next_cursor: isLast || last === undefined ? null : Buffer.from(last).toString('base64url'),
        },
        sort: query.sort,
        filters: usedFilters(query),
        index: await context.index(person),
        warnings: [],
      }
      return { data, meta }
    },
  })
}

function summaryRoute(api: OpenAPIHono, context: TeamContext): void {
  addEndpoint(api, {
    method: 'get',
    path: '/api/sessions/summary',
    summary: 'Sum up a list of sessions',
    query: SUMMARY_QUERY,
    reply: 'SummaryReply',
    errors: ['invalid_period', 'invalid_query'],
    answer: async ({ c, query }) => {
      const { person } = callerOf(c)
      const filter = { ...toTeamFilter(query), kind: query.kind }
      const keys = query.q === undefined ? undefined : await findMatching(context, person, query.q, query.scope, filter)
      const [people, prices] = [await context.names(), await context.prices()]
      const data = await context.database.asPerson(person.id, (db) =>
        summarize(db, { ...filter, ...(keys && { keys }) }, { people, prices }),
      )
      return { data, meta: { warnings: [] } }
    },
  })
}

const usedFilters = (query: object): { readonly [name: string]: string } =>
  Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) =>
      [...Object.keys(TEAM_FILTERS), 'q', 'scope', 'parent'].includes(name) && typeof value === 'string'
        ? [[name, value]]
        : [],
    ),
  )

/** Keys of sessions with a matching message or title. */
async function findMatching(
  context: TeamContext,
  person: Person,
  q: string,
  scope: string | undefined,
  filter: TeamFilter,
): Promise<readonly string[]> {
  const text = [q, filterText('in', scope)].filter((part) => part !== '').join(' ')
  const answer = await searchTeam([context.database], person.id, text, {
    filter,
    limit: MAX_MATCHING,
    people: await context.names(),
  })
  if (answer.kind === 'problem') throw toQueryProblem(answer)
  return [...new Set([...answer.titles, ...answer.hits.map(({ session_id }) => session_id.slice('team:'.length))])]
}

function searchRoute(api: OpenAPIHono, context: TeamContext): void {
  addEndpoint(api, {
    method: 'get',
    path: '/api/search',
    summary: 'Search all sessions',
    query: SEARCH_QUERY,
    reply: 'SearchReply',
    errors: ['invalid_query', 'invalid_period'],
    answer: async ({ c, query }) => {
      const start = performance.now()
      const { person } = callerOf(c)
      const words = query.q ?? query.keyword
      if (words === undefined)
        throw new ApiProblem(
          'invalid_parameters',
          phrase('q is missing. Give the words to search for.', '検索する語を指定してください（q）。'),
        )
      const text = [words, filterText('in', query.scope), filterText('role', query.role)]
        .filter((part) => part !== '')
        .join(' ')
      const people = await context.names()
      const answer = await searchTeam([context.database], person.id, text, {
        filter: toTeamFilter(query),
        limit: Math.min(query.limit ?? (query.stream ? MAX_MATCHING : 20), MAX_MATCHING),
        after: query.after,
        people,
      })
      if (answer.kind === 'problem') throw toQueryProblem(answer)
      const keys = [...answer.titles, ...answer.hits.map(({ session_id }) => session_id.slice('team:'.length))]
      const prices = await context.prices()
      const sessions = await context.database.asPerson(person.id, async (db) =>
        toTeamItems(db, await readSessions(db, keys), people, prices),
      )
      const hits = answer.hits.map(toHitItem)
      const warnings = answer.isComplete ? [] : [INCOMPLETE]
      const isAll = answer.next === undefined && answer.isComplete
      const titles = answer.titles.map(teamSessionId)
      const duration_ms = Math.round(performance.now() - start)
      const total_is = isAll && query.after === undefined ? 'exact' : 'at_least'
      const parts = explainQuery(words)
      if (query.stream) {
        const lines = [
          { kind: 'query', parts },
          ...sessions.map((session) => ({ kind: 'session', session })),
          ...titles.map((session_id) => ({ kind: 'title', session_id })),
          ...hits.map((hit) => ({ kind: 'hit', hit })),
          { kind: 'end', total: hits.length, total_is, complete: answer.isComplete, duration_ms, warnings },
        ]
        return new Response(lines.map((line) => `${JSON.stringify(line)}\n`).join(''), {
          headers: { 'content-type': 'application/x-ndjson; charset=utf-8' },
        })
      }
      const meta: SearchMeta = {
        total: hits.length,
        total_is,
        complete: answer.isComplete,
        left: { sessions: 0, bytes: 0 },
        titles,
        sessions,
        query: parts,
        next: answer.next ?? null,
        duration_ms,
        warnings,
      }
      return { data: hits, meta }
    },
  })
}

const INCOMPLETE = {
  filter: 'q',
  name: 'time',
  nearest: null,
  detail: 'The search stopped after its time limit. There may be more hits; add a word, a project or a period.',
  detail_ja:
    '制限時間に達したため、検索を打ち切りました。ほかにも見つかる可能性があります。語・プロジェクト・期間を加えてください。',
} as unknown as SearchMeta['warnings'][number]

function machineRoutes(api: OpenAPIHono, context: TeamContext): void {
  api.get('/api/health', async (c) => {
    if (c.get('stranger' as never) === true) return c.json({ data: { status: 'ok' }, meta: {} })
    const { person } = callerOf(c)
    const { name } = await context.team()
    const index = await context.index(person)
    const live_clients = context.changes.subscribers
    return c.json({
      data: {
        status: 'ok',
        version: context.version,
        index,
        watching: 'here',
        live_clients,
        problem: null,
        problem_ja: null,
        team: { name, person: person.name, is_admin: person.is_admin },
      },
      meta: {},
    })
  })
  api.get('/api/choices', async (c) => {
    const people = await context.names()
    return c.json({
      data: await context.database.asPerson(callerOf(c).person.id, (db) => readChoices(db, people)),
      meta: {},
    })
  })
  api.get('/api/agents', async (c) => {
    const counts = await context.database.asPerson(callerOf(c).person.id, (db) =>
      db.rows<{ agent: string; sessions: number; bytes: number }>(
        `SELECT agent, count(*) AS sessions, ${sumOf('size_bytes')} AS bytes FROM session WHERE shared <> 'usage' GROUP BY 1`,
      ),
    )
    const data = (await allAgents()).map((agent) => {
      const own = counts.filter((one) => agentIdsOf(agent).includes(one.agent))
      return {
        id: agent.id,
        label: agent.label,
        roots: [],
        sessions: own.reduce((sum, one) => sum + one.sessions, 0),
        bytes: own.reduce((sum, one) => sum + one.bytes, 0),
        volatile: false,
        can_resume: false,
        writes: [],
      }
    })
    return c.json({ data, meta: {} })
  })
  api.get('/api/live', (c) => streamChanges(context, c))
}
