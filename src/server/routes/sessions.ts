/** `/api/sessions`: the list, one of them, the user's marks. */

import { type OpenAPIHono, z } from '@hono/zod-openapi'
import type { House, ListOptions, Sort } from '../../app.ts'
import { rightNow } from '../../app.ts'
import { SESSION_SORTS, type SessionSort, type SessionsMeta } from '../../model/api/session.ts'
import type { SessionId } from '../../model/ids.ts'
import type { Role } from '../../model/normalized.ts'
import { phrase } from '../../model/phrase.ts'
import type { HouseView } from '../house-view.ts'
import { serve } from '../openapi/endpoint.ts'
import { FILTERS, filterOf, flag, number, text } from '../openapi/parameters.ts'
import { ApiProblem } from '../problem.ts'
import { misunderstood } from '../view/misunderstood.ts'
import { sessionDetail } from '../view/session/session-detail.ts'
import { markItem, sessionItems } from '../view/session/session-item.ts'

const SORTS: { readonly [sort in SessionSort]: Sort } = {
  last_at: 'last',
  created_at: 'started',
  message_count: 'messages',
  total_tokens: 'tokens',
  filesize_bytes: 'size',
  title: 'title',
}
const SORT_NAMES = SESSION_SORTS.flatMap((name) => [name, `-${name}` as const])
const ROLES: readonly Role[] = ['user', 'assistant', 'tool', 'system', 'meta']
const PER_PAGE = 25

const LIST = z.object({
  page: number('From 1.', 1, 1_000_000),
  per_page: number(`${PER_PAGE} if not given.`, 1, 100),
  cursor: text('next_cursor of the reply before, instead of a page.'),
  sort: z.enum(SORT_NAMES).default('-last_at').openapi({ description: 'With - before it, the greatest first.' }),
  ...FILTERS,
  role: text('Who spoke in it, with commas between them: user, assistant, tool, system. All of them must have.'),
  q: text('Words of the title, of the name, tags and note that the user gave it, or of what was said.'),
  starred: flag('Only those with a star.'),
  tag: text('Only those with this tag.'),
  children: z
    .enum(['fold', 'all'])
    .default('fold')
    .openapi({ description: 'all: children stand beside their parents.' }),
  parent: text('Only the children of this session.'),
  kind: z.enum(['conversation', 'prompts', 'any']).default('conversation'),
})

export function sessionRoutes(app: OpenAPIHono, view: HouseView): void {
  const { house } = view
  serve(
    app,
    {
      method: 'get',
      path: '/api/sessions',
      summary: 'Sessions, newest first',
      description: 'Forks and sub-agents stand under their parents unless children or parent is given.',
      query: LIST,
      reply: 'SessionsReply',
      errors: ['invalid_period', 'invalid_query'],
    },
    async ({ query }) => {
      const options = await optionsOf(house, query)
      const perPage = query.per_page ?? PER_PAGE
      const page = query.page ?? 1
      const { total, sessions } = house.list({
        ...options,
        limit: perPage,
        offset: query.cursor ? 0 : (page - 1) * perPage,
      })
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
        filters: filtersOf(query),
        index: view.index(),
      }
      return { data: await sessionItems(house, sessions), meta }
    },
  )
  serve(
    app,
    {
      method: 'get',
      path: '/api/sessions/{id}',
      summary: 'One session',
      description: 'With variant, its first thousand messages as the NormalizedMessage specification has them.',
      query: z.object({ variant: z.enum(['original', 'sanitized']).optional() }),
      reply: 'SessionReply',
      errors: ['session_not_found'],
    },
    async ({ param, query }) => ({
      data: await sessionDetail(view, view.session(param('id')), query.variant),
      meta: {},
    }),
  )
  serve(
    app,
    {
      method: 'put',
      path: '/api/sessions/{id}/mark',
      summary: 'Name, star, tags and note of a session',
      description: 'What is not named stays as it is; an empty text takes a name or a note away.',
      body: z.strictObject({
        name: z.string().max(200).optional(),
        starred: z.boolean().optional(),
        note: z.string().max(20_000).optional(),
        tags: z.array(z.string().min(1).max(60)).max(50).optional(),
      }),
      reply: 'MarkReply',
      errors: ['session_not_found'],
    },
    ({ param, body: { tags, name, starred, note } }) => {
      const { id } = view.session(param('id'))
      const before = house.marks.get(id)?.tags ?? []
      const mark = house.marks.change(
        id,
        {
          ...(name !== undefined && { name }),
          ...(starred !== undefined && { starred }),
          ...(note !== undefined && { note }),
          ...(tags && { tag: tags, untag: before.filter((tag) => !tags.includes(tag)) }),
        },
        rightNow(),
      )
      view.hub.publish([{ kind: 'mark', session: id }])
      return { data: markItem(mark), meta: {} }
    },
  )
}

type Query = z.output<typeof LIST>

async function optionsOf(house: House, query: Query): Promise<ListOptions> {
  const name = query.sort.replace(/^-/, '') as SessionSort
  const filter = { ...filterOf(query), kind: query.kind }
  const ids = await idsOf(house, query, filter)
  return {
    ...filter,
    ...(query.role !== undefined && { roles: rolesOf(query.role) }),
    ...(ids && { ids }),
    sort: SORTS[name],
    ascending: !query.sort.startsWith('-'),
    children: query.parent !== undefined ? { of: query.parent } : ids ? 'all' : query.children,
    ...(query.cursor !== undefined && { after: Buffer.from(query.cursor, 'base64url').toString() as SessionId }),
  }
}

/** Those that marks and words leave; nothing where neither was asked for. */
async function idsOf(house: House, query: Query, filter: ListOptions): Promise<readonly SessionId[] | undefined> {
  const { starred, tag, q } = query
  const marked =
    starred === undefined && tag === undefined
      ? undefined
      : house.marks
          .list({ ...(starred !== undefined && { starred }), ...(tag !== undefined && { tag }) })
          .map(({ session }) => session)
  if (q === undefined) return marked
  const saying = await (await house.reading()).sessionsSaying(q, marked ? { ...filter, ids: marked } : filter)
  if (saying.kind === 'problem') throw misunderstood(saying)
  return saying.sessions
}

function rolesOf(given: string): readonly Role[] {
  return given.split(',').map((role) => {
    const known = ROLES.find((one) => one === role)
    if (!known)
      throw new ApiProblem(
        'invalid_parameters',
        phrase(`role: there is no role ${role}.`, `role に ${role} は指定できません。`),
        {
          invalid_fields: [{ field: 'role', message: 'user, assistant, tool, system or meta' }],
        },
      )
    return known
  })
}

function filtersOf(query: Query): SessionsMeta['filters'] {
  const { page: _, per_page: __, cursor: ___, sort: ____, ...filters } = query
  return Object.fromEntries(
    Object.entries(filters).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  )
}
