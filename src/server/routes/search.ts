/** `/api/search` and `/api/files`: what was said, and which files were touched. */

import { type OpenAPIHono, z } from '@hono/zod-openapi'
import type { Hit, House, SearchAnswer, SearchOptions, SessionFilter } from '../../app.ts'
import type { SearchHit, SearchLine, SearchMeta } from '../../model/api/search.ts'
import { phrase } from '../../model/phrase.ts'
import type { HouseView } from '../house-view.ts'
import { serve } from '../openapi/endpoint.ts'
import { FILTERS, filterOf, flag, number, text } from '../openapi/parameters.ts'
import { ApiProblem } from '../problem.ts'
import { linesResponse } from '../view/lines.ts'
import { misunderstood } from '../view/misunderstood.ts'
import { sessionItems, titlesOf } from '../view/session/session-item.ts'

const LIMIT = 20
const QUERY = z.object({
  q: text('Words, "a phrase", begin*, -not, a OR b, /pattern/, agent:codex …'),
  keyword: text('Another name for q.'),
  scope: text('Only in: prompts, answers, arguments, output, reasoning, files, titles.'),
  role: text('Only what they said: user, assistant, tool.'),
  ...FILTERS,
  limit: number(`${LIMIT} if not given, 200 at most; of a stream all if not given.`, 1, 10_000),
  after: number('next of the reply before.', 0, Number.MAX_SAFE_INTEGER),
  sort: z.enum(['newest', 'relevance']).default('newest'),
  deep: flag('Looks also through what the index leaves out. Only as a stream.'),
  stream: flag('The reply is application/x-ndjson: one SearchLine each, as they are found.'),
})
type Query = z.output<typeof QUERY>

export function searchRoutes(app: OpenAPIHono, view: HouseView): void {
  const { house } = view
  serve(
    app,
    {
      method: 'get',
      path: '/api/search',
      summary: 'Find what was said, in every conversation of every agent',
      description:
        'Newest first. With stream=1 or deep=1 the reply is application/x-ndjson, one SearchLine each; its last line is of the kind end.',
      query: QUERY,
      reply: 'SearchReply',
      errors: ['invalid_query', 'invalid_period'],
    },
    async ({ query, signal }) => {
      const words = wordsOf(query)
      if (query.stream || query.deep) {
        // A stream that began cannot be an error any more.
        const first = await house.search(words, firstOf(query))
        if (first.kind === 'problem') throw misunderstood(first)
        return linesResponse(lines(house, words, query, first, signal), signal)
      }
      return pageOf(house, words, query)
    },
  )
  serve(
    app,
    {
      method: 'get',
      path: '/api/files',
      summary: 'Every tool call that spoke of a file, newest first',
      description: 'The path is looked for in the index alone: no file is opened.',
      query: z.object({
        path: z.string().min(1).max(1024).openapi({ description: 'Whole, or its end.' }),
        limit: number('200 if not given.', 1, 1000),
      }),
      reply: 'FilesReply',
    },
    ({ query }) => {
      const { total, touched } = house.touches(query.path, query.limit)
      const titles = titlesOf(house, new Set(touched.map(({ session_id }) => session_id)))
      const data = touched.map((one) => ({
        ...one,
        tool: one.tool ?? null,
        session_title: titles.get(one.session_id) ?? null,
      }))
      return { data, meta: { total } }
    },
  )
}

async function pageOf(house: House, words: string, query: Query): Promise<object> {
  const start = performance.now()
  const { limit = LIMIT, after, sort } = query
  if (limit > 200)
    throw new ApiProblem(
      'invalid_parameters',
      phrase(
        'limit: 200 at most; with stream=1 it may be more.',
        'limit は 200 までです。stream=1 を付けるともっと増やせます。',
      ),
      {
        invalid_fields: [{ field: 'limit', message: '200 at most' }],
      },
    )
  const answer = await house.search(words, {
    limit,
    order: sort,
    filter: filterOf(query),
    ...(after !== undefined && { after }),
  })
  if (answer.kind === 'problem') throw misunderstood(answer)
  const meta: SearchMeta = {
    total: answer.total,
    total_is: answer.total_is,
    complete: answer.complete,
    left: answer.left,
    titles: answer.titles.map(({ id }) => id),
    sessions: await sessionItems(house, answer.sessions),
    next: answer.next ?? null,
    duration_ms: Math.round(performance.now() - start),
  }
  return { data: answer.hits.map(hitItem), meta }
}

type Found = Extract<SearchAnswer, { kind: 'found' }>

/** The first page of a stream: its hits, titles for all of it, and whether the index knows all. */
function firstOf(query: Query): SearchOptions {
  const filter = filterOf(query)
  // A deep search begins with the index by itself.
  if (query.deep) return { limit: 1, filter }
  if (query.sort === 'relevance') return { limit: mostRanked(query), order: 'relevance', filter }
  return { limit: LIMIT, filter }
}

/** There is no second page of them. */
const mostRanked = ({ limit = RANKED }: Query): number => Math.min(limit, RANKED)
const RANKED = 200

async function* lines(
  house: House,
  words: string,
  query: Query,
  first: Found,
  signal: AbortSignal,
): AsyncGenerator<SearchLine> {
  const start = performance.now()
  const told = new Set<string>()
  const filter = filterOf(query)
  const most = query.limit ?? Number.POSITIVE_INFINITY
  let total = 0
  let unread = 0
  const isRanked = !query.deep && query.sort === 'relevance'
  let isWhole = !isRanked || (first.total_is === 'exact' && first.hits.length < mostRanked(query))
  const introduced = async function* (id: string): AsyncGenerator<SearchLine> {
    if (told.has(id)) return
    told.add(id)
    const entry = house.session(id as Hit['session_id'])
    const [session] = entry ? await sessionItems(house, [entry]) : []
    if (session) yield { kind: 'session', session }
  }
  for (const { id } of first.titles) {
    yield* introduced(id)
    yield { kind: 'title', session_id: id }
  }
  for await (const event of query.deep
    ? house.deepSearch(words, { filter, signal })
    : quickly(house, words, filter, first)) {
    if (event.kind === 'problem') return
    if (event.kind === 'progress') yield event
    if (event.kind === 'end') unread = event.unread
    if (event.kind !== 'hit') continue
    if (total >= most) {
      isWhole = false
      break
    }
    total++
    yield* introduced(event.hit.session_id)
    yield { kind: 'hit', hit: hitItem(event.hit) }
  }
  isWhole &&= unread === 0
  yield {
    kind: 'end',
    total: isRanked && !isWhole ? Math.max(total, first.total) : total,
    total_is: (isWhole || (isRanked && first.total_is === 'exact')) && !signal.aborted ? 'exact' : 'at_least',
    complete: isWhole && (query.deep === true || first.complete),
    unread,
    duration_ms: Math.round(performance.now() - start),
  }
}

const PAGE = 100

async function* quickly(
  house: House,
  words: string,
  filter: SessionFilter,
  first: Found,
): AsyncGenerator<{ kind: 'hit'; hit: Hit }> {
  for (let page = first; ; ) {
    for (const hit of page.hits) yield { kind: 'hit', hit }
    if (page.next === undefined) return
    const answer = await house.search(words, { limit: PAGE, filter, after: page.next })
    if (answer.kind === 'problem') return
    page = answer
  }
}

/** What can be asked by a parameter can be typed as well. */
function wordsOf({ q, keyword, scope, role }: Query): string {
  const words = q ?? keyword
  if (words === undefined)
    throw new ApiProblem(
      'invalid_parameters',
      phrase('q: say what to look for.', '検索する語を指定してください（q）。'),
      {
        invalid_fields: [{ field: 'q', message: 'is needed' }],
      },
    )
  const parts = [words, filter('in', scope), filter('role', role)]
  return parts.filter((part) => part !== '').join(' ')
}

function filter(name: string, value: string | undefined): string {
  if (value === undefined) return ''
  if (value.includes('"'))
    throw new ApiProblem(
      'invalid_parameters',
      phrase(`${name} takes no quotation marks.`, `${name} に引用符は使えません。`),
    )
  return `${name}:"${value}"`
}

const hitItem = ({ snippet, tool, ...hit }: Hit): SearchHit => ({
  id: `${hit.session_id}:${hit.message_id}`,
  ...hit,
  tool: tool ?? null,
  snippet: snippet?.text ?? null,
  highlights: snippet?.highlights.map(([start, end]) => ({ start, end })) ?? [],
  cut_before: snippet?.cutBefore ?? false,
  cut_after: snippet?.cutAfter ?? false,
})
