/** `/api/sessions`: the list, one session, its annotation. */

import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { type App, currentInstant, type SessionListOptions, type SessionOrder } from '../../app.ts'
import { SESSION_SORTS, type SessionSort, type SessionsMeta, type SummaryChoice } from '../../model/api/session.ts'
import type { SessionId } from '../../model/ids.ts'
import type { Role } from '../../model/normalized.ts'
import { phrase } from '../../model/phrase.ts'
import { ApiProblem, toQueryProblem } from '../api-problem.ts'
import type { ServerContext } from '../context.ts'
import {
  addEndpoint,
  checkNames,
  FILTER_PARAMETERS,
  filterText,
  flagParameter,
  type Given,
  numberParameter,
  parseSessionFilter,
  textParameter,
} from '../openapi/endpoint.ts'
import { readSessionDetail, toMarkItem, toSessionItems } from '../view/session-item.ts'

/** Costs are not in the index: they follow from the prices of today. */
const SORTS: { readonly [sort in Exclude<SessionSort, 'cost'>]: SessionOrder } = {
  last_at: 'last',
  created_at: 'started',
  duration_seconds: 'duration',
  turn_count: 'turns',
  message_count: 'messages',
  tool_count: 'tools',
  error_count: 'errors',
  total_tokens: 'tokens',
  filesize_bytes: 'size',
  title: 'title',
}
const ROLES: readonly Role[] = ['user', 'assistant', 'tool', 'system', 'meta']

export const DEFAULT_PER_PAGE = 25
/** Parameters of a list: which part of it, in which order. */
export const LIST_PAGE = {
  page: numberParameter('Number of the page, from 1.', 1, 1_000_000),
  per_page: numberParameter(`Entries per page, ${DEFAULT_PER_PAGE} by default.`, 1, 100),
  cursor: textParameter('next_cursor of the previous reply. Replaces page.'),
  sort: z
    .enum(SESSION_SORTS.flatMap((name) => [name, `-${name}` as const]))
    .default('-last_at')
    .openapi({ description: 'Sort order. A leading - sorts in descending order.' }),
}
const LIST_FILTERS = {
  ...FILTER_PARAMETERS,
  role: textParameter('Comma-separated roles that must all occur in the session: user, assistant, tool, system, meta.'),
  q: textParameter('Search query. Matches title, name, tags, note and messages.'),
  scope: textParameter(
    'With q: searches only this part: prompts, answers, arguments, output, reasoning, files or titles.',
  ),
  starred: flagParameter('1: only sessions with a star. 0: only sessions without one.'),
  tag: textParameter('Only sessions with this tag.'),
  children: z.enum(['fold', 'all']).default('fold').openapi({
    description: 'fold lists forks and sub-agents under their parents; all lists them like other sessions.',
  }),
  parent: textParameter('Only forks and sub-agents of this session.'),
  kind: z
    .enum(['conversation', 'prompts', 'any'])
    .default('conversation')
    .openapi({ description: 'Kind of session; prompts are prompt histories.' }),
}
const SUMMARY_QUERY = z.object(LIST_FILTERS)
const LIST_QUERY = z.object({ ...LIST_PAGE, ...LIST_FILTERS })

export function sessionRoutes(api: OpenAPIHono, context: ServerContext): void {
  const { app } = context
  addEndpoint(api, {
    method: 'get',
    path: '/api/sessions',
    summary: 'List sessions',
    description:
      'Newest first by default. Forks and sub-agents are listed under their parents unless children or parent is given.',
    query: LIST_QUERY,
    reply: 'SessionsReply',
    errors: ['invalid_period', 'invalid_query'],
    answer: async ({ query }) => {
      const warnings = await checkNames(app, query, query.q)
      const options = await toListOptions(app, query)
      const perPage = query.per_page ?? DEFAULT_PER_PAGE
      const page = query.page ?? 1
      const window = { ...options, limit: perPage, offset: query.cursor ? 0 : (page - 1) * perPage }
      const { total, sessions } = isSortedByCost(query) ? await app.listByCost(window) : app.list(window)
      const isLast = query.cursor ? sessions.length < perPage : page * perPage >= total
      const last = sessions.at(-1)
      const meta: SessionsMeta = {
        pagination: {
          page,
          per_page: perPage,
          total_count: total,
          total_pages: Math.ceil(total / perPage),
          next_cursor: isLast || !last ? null : Buffer.from(last.id).toString('base64url'),
        },
        sort: query.sort,
        filters: usedFilters(query),
        index: context.index(),
        warnings,
      }
      return { data: await toSessionItems(app, sessions), meta }
    },
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/sessions/summary',
    summary: 'Sum up a list of sessions',
    description:
      'Totals of all sessions that the same filters list, and the number of sessions for each value of a filter.',
    query: SUMMARY_QUERY,
    reply: 'SummaryReply',
    errors: ['invalid_period', 'invalid_query'],
    answer: async ({ query }) => {
      const warnings = await checkNames(app, query, query.q)
      const options = await toSelection(app, query)
      const data = app.index.summary(options, (await app.prices()).list)
      return { data: { ...data, tags: await countTags(app, query) }, meta: { warnings } }
    },
  })
  addEndpoint(api, {
    method: 'post',
    path: '/api/sessions/marks',
    summary: 'Change star and tags of several sessions',
    body: z.strictObject({
      ids: z.array(z.string().min(1)).min(1).max(MAX_MARKED),
      starred: z.boolean().optional(),
      tag: z.array(z.string().min(1).max(60)).max(50).optional(),
      untag: z.array(z.string().min(1).max(60)).max(50).optional(),
    }),
    reply: 'MarksReply',
    errors: ['session_not_found'],
    answer: ({ body: { ids, ...change } }) => {
      // All ids are checked before the first change.
      const sessions = [...new Set(ids)].map((id) => context.session(id).id)
      for (const id of sessions) app.annotations.change(id, change, currentInstant())
      app.events.publish(sessions.map((session) => ({ kind: 'mark', session })))
      return { data: { changed: sessions.length }, meta: {} }
    },
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/sessions/{id}',
    summary: 'Get a session',
    description: 'With variant, the reply contains the first 1,000 messages as NormalizedMessages.',
    query: z.object({
      variant: z
        .enum(['original', 'sanitized'])
        .optional()
        .openapi({ description: 'Adds messages: with their original text, or as sanitized HTML.' }),
    }),
    reply: 'SessionReply',
    errors: ['session_not_found'],
    answer: async ({ param, query }) => ({
      data: await readSessionDetail(context, context.session(param('id')), query.variant),
      meta: {},
    }),
  })
  addEndpoint(api, {
    method: 'put',
    path: '/api/sessions/{id}/mark',
    summary: 'Change name, star, tags and note of a session',
    description: 'Absent fields stay as they are. An empty text removes a name or note.',
    body: z.strictObject({
      name: z.string().max(200).optional(),
      starred: z.boolean().optional(),
      note: z.string().max(20_000).optional(),
      tags: z.array(z.string().min(1).max(60)).max(50).optional(),
    }),
    reply: 'MarkReply',
    errors: ['session_not_found'],
    answer: ({ param, body: { tags, ...changes } }) => {
      const { id } = context.session(param('id'))
      const before = app.annotations.get(id)?.tags ?? []
      const mark = app.annotations.change(
        id,
        {
          ...changes,
          ...(tags && { tag: tags, untag: before.filter((tag) => !tags.includes(tag)) }),
        },
        currentInstant(),
      )
      context.app.events.publish([{ kind: 'mark', session: id }])
      return { data: toMarkItem(mark), meta: {} }
    },
  })
}

type Query = Given<z.output<typeof LIST_QUERY>>
type Filters = Given<z.output<typeof SUMMARY_QUERY>>

/** Tags of the sessions that the other filters select, most used first. */
async function countTags(app: App, { tag: _, ...filters }: Filters): Promise<readonly SummaryChoice[]> {
  const tagged = app.annotations.list().filter(({ tags }) => tags.length > 0)
  if (tagged.length === 0) return []
  const selection = await toSelection(app, filters)
  const wanted = new Set(selection.ids ?? tagged.map(({ session }) => session))
  const ids = tagged.map(({ session }) => session).filter((id) => wanted.has(id))
  const selected = new Set(app.list({ ...selection, ids, limit: ids.length }).sessions.map(({ id }) => id))
  const counts = new Map<string, number>()
  for (const { session, tags } of tagged)
    if (selected.has(session)) for (const one of tags) counts.set(one, (counts.get(one) ?? 0) + 1)
  return Array.from(counts, ([value, count]) => ({ value, count })).sort(
    (a, b) => b.count - a.count || (a.value < b.value ? -1 : 1),
  )
}

/** More than a page shows at once. */
const MAX_MARKED = 1000

async function toListOptions(app: App, query: Query): Promise<SessionListOptions> {
  const name = query.sort.replace(/^-/, '') as SessionSort
  return {
    ...(await toSelection(app, query)),
    ...(name !== 'cost' && { sort: SORTS[name] }),
    ascending: !query.sort.startsWith('-'),
    ...(query.cursor !== undefined && { after: Buffer.from(query.cursor, 'base64url').toString() as SessionId }),
  }
}

/** Which sessions the filters select. */
async function toSelection(app: App, query: Filters): Promise<SessionListOptions> {
  const filter = { ...parseSessionFilter(query), kind: query.kind }
  const ids = await findIds(app, query, filter)
  return {
    ...filter,
    ...(query.role !== undefined && { roles: parseRoles(query.role) }),
    ...(ids && { ids }),
    children: query.parent !== undefined ? { of: query.parent } : ids ? 'all' : query.children,
  }
}

const isSortedByCost = ({ sort }: Query): boolean => sort === 'cost' || sort === '-cost'

/** The sessions that match star, tag and words; undefined without such filters. */
async function findIds(
  app: App,
  query: Filters,
  filter: SessionListOptions,
): Promise<readonly SessionId[] | undefined> {
  const { starred, tag, q, scope } = query
  const marked =
    starred === undefined && tag === undefined
      ? undefined
      : app.annotations
          .list({ ...(starred !== undefined && { starred }), ...(tag !== undefined && { tag }) })
          .map(({ session }) => session)
  if (q === undefined) return marked
  const words = scope === undefined ? q : `${q} ${filterText('in', scope)}`
  const matching = await (await app.searchService()).findSessions(words, marked ? { ...filter, ids: marked } : filter)
  if (matching.kind === 'problem') throw toQueryProblem(matching)
  return matching.sessions
}

function parseRoles(given: string): readonly Role[] {
  return given.split(',').map((role) => {
    const known = ROLES.find((one) => one === role)
    if (!known)
      throw new ApiProblem(
        'invalid_parameters',
        phrase(
          `role: unknown role "${role}". Use user, assistant, tool, system or meta.`,
          `role に ${role} は指定できません。user、assistant、tool、system、meta のどれかを指定してください。`,
        ),
        {
          invalid_fields: [{ field: 'role', message: 'user, assistant, tool, system or meta' }],
        },
      )
    return known
  })
}

function usedFilters(query: Query): SessionsMeta['filters'] {
  const { page: _, per_page: __, cursor: ___, sort: ____, ...filters } = query
  return Object.fromEntries(
    Object.entries(filters).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  )
}
