/** `/api/search` and `/api/files`: finds messages, and the tool calls that touched a file. */

import { type OpenAPIHono, z } from '@hono/zod-openapi'
import {
  type App,
  explainQuery,
  type MessageHit,
  type SearchAnswer,
  type SearchOptions,
  type SessionFilter,
} from '../../app.ts'
import { warn } from '../../lib/logger.ts'
import type { FilterWarning } from '../../model/api/envelope.ts'
import type { SearchHit, SearchLine, SearchMeta } from '../../model/api/search.ts'
import { instantFromMs } from '../../model/ids.ts'
import { phrase } from '../../model/phrase.ts'
import { ApiProblem, SEE_LOG, toQueryProblem } from '../api-problem.ts'
import type { ServerContext } from '../context.ts'
import {
  addEndpoint,
  checkNames,
  FILTER_PARAMETERS,
  filterText,
  flagParameter,
  numberParameter,
  parseSessionFilter,
  textParameter,
} from '../openapi/endpoint.ts'
import { toByteStream } from '../send-stream.ts'
import { readSessionTitles, toSessionItems } from '../view/session-item.ts'

const DEFAULT_LIMIT = 20
const MAX_PATH_WORDS = 8
const SEARCH_QUERY = z.object({
  q: textParameter('Search query: words, "a phrase", prefix*, -exclude, a OR b, /regex/, agent:codex …'),
  keyword: textParameter('Alias of q.'),
  scope: textParameter('Searches only this part: prompts, answers, arguments, output, reasoning, files or titles.'),
  role: textParameter('Searches only messages of this role: user, assistant or tool.'),
  ...FILTER_PARAMETERS,
  starred: flagParameter('1: only sessions with a star. 0: only sessions without one.'),
  tag: textParameter('Only sessions with this tag.'),
  limit: numberParameter(
    `Maximum number of hits: ${DEFAULT_LIMIT} by default, at most 200. A stream has no limit by default.`,
    1,
    10_000,
  ),
  after: numberParameter('next of the previous reply.', 0, Number.MAX_SAFE_INTEGER),
  sort: z.enum(['newest', 'relevance']).default('newest').openapi({ description: 'Sort order.' }),
  stream: flagParameter('Replies with application/x-ndjson: one SearchLine per line, as hits are found.'),
})
type Query = z.output<typeof SEARCH_QUERY>

export function searchRoutes(api: OpenAPIHono, context: ServerContext): void {
  const { app } = context
  addEndpoint(api, {
    method: 'get',
    path: '/api/search',
    summary: 'Search all sessions',
    description:
      'Newest first by default; in a reply, matches in names of arguments come last. With stream=1 the reply is application/x-ndjson with one SearchLine per line. A complete stream ends with a line of kind end.',
    query: SEARCH_QUERY,
    reply: 'SearchReply',
    errors: ['invalid_query', 'invalid_period'],
    answer: async ({ query, signal }) => {
      const words = toQueryText(query)
      // The tag is a filter of the words.
      const warnings = await checkNames(app, { ...query, tag: undefined }, words)
      if (query.stream) {
        // A stream cannot turn into an error response later.
        const first = await app.search(words, firstPageOptions(query))
        if (first.kind === 'problem') throw toQueryProblem(first)
        const lines = searchLines(app, words, query, first, warnings, signal)
        return new Response(toByteStream(encodeJsonLines(lines), signal), {
          headers: { 'content-type': 'application/x-ndjson; charset=utf-8' },
        })
      }
      return searchPage(app, words, query, warnings)
    },
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/files/list',
    summary: 'List files that tool calls touched',
    description: 'Files of the latest sessions; with q, files whose paths contain all of its words.',
    query: z.object({
      q: textParameter('Words of the path, in any order.'),
      limit: numberParameter('Maximum number of files, 50 by default.', 1, 500),
    }),
    reply: 'FileListReply',
    answer: ({ query: { q = '', limit = 50 } }) => {
      const words = q
        .split(/\s+/)
        .filter((word) => word !== '')
        .slice(0, MAX_PATH_WORDS)
      const data = app.index.files({ words, limit }).map(({ last_at, ...file }) => ({
        ...file,
        last_at: last_at === null ? null : (instantFromMs(last_at) ?? null),
      }))
      return { data, meta: {} }
    },
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/files',
    summary: 'List tool calls that touched a file',
    description: 'Newest first. Searches the index and opens no file.',
    query: z.object({
      path: z.string().min(1).max(1024).openapi({ description: 'Complete path, or the end of one.' }),
      limit: numberParameter('Maximum number of calls, 200 by default.', 1, 1000),
    }),
    reply: 'FilesReply',
    answer: ({ query }) => {
      const { total, touched } = app.fileTouches(query.path, query.limit)
      const titles = readSessionTitles(app, new Set(touched.map(({ session_id }) => session_id)))
      const data = touched.map((one) => ({
        ...one,
        tool: one.tool ?? null,
        session_title: titles.get(one.session_id) ?? null,
      }))
      return { data, meta: { total } }
    },
  })
}

async function searchPage(app: App, words: string, query: Query, warnings: readonly FilterWarning[]): Promise<object> {
  const start = performance.now()
  const { limit = DEFAULT_LIMIT, after, sort } = query
  if (limit > 200)
    throw new ApiProblem(
      'invalid_parameters',
      phrase(
        'limit must be at most 200. Add stream=1 to get more.',
        'limit は 200 までです。stream=1 を付けると、それより多く取得できます。',
      ),
      {
        invalid_fields: [{ field: 'limit', message: 'must be at most 200' }],
      },
    )
  const answer = await app.search(words, {
    limit,
    order: sort,
    filter: parseSessionFilter(query),
    ...(after !== undefined && { after }),
  })
  if (answer.kind === 'problem') throw toQueryProblem(answer)
  const meta: SearchMeta = {
    total: answer.total,
    total_is: answer.total_is,
    complete: answer.complete,
    left: answer.left,
    titles: answer.titles.map(({ id }) => id),
    sessions: await toSessionItems(app, answer.sessions),
    query: explainQuery(query.q ?? query.keyword ?? ''),
    next: answer.next ?? null,
    duration_ms: Math.round(performance.now() - start),
    warnings,
  }
  return { data: putKeysLast(answer.hits).map(toHitItem), meta }
}

type FoundHits = Extract<SearchAnswer, { kind: 'found' }>

/** The first page of a stream also has its titles, and says whether the index is complete. */
function firstPageOptions(query: Query): SearchOptions {
  const filter = parseSessionFilter(query)
  if (query.sort === 'relevance') return { limit: rankedLimit(query), order: 'relevance', filter }
  return { limit: DEFAULT_LIMIT, filter }
}

/** Ranked results have one page. */
const rankedLimit = ({ limit = MAX_RANKED }: Query): number => Math.min(limit, MAX_RANKED)
const MAX_RANKED = 200

async function* searchLines(
  app: App,
  words: string,
  query: Query,
  first: FoundHits,
  warnings: readonly FilterWarning[],
  signal: AbortSignal,
): AsyncGenerator<SearchLine> {
  const start = performance.now()
  const introducedIds = new Set<string>()
  const filter = parseSessionFilter(query)
  const limitOfHits = query.limit ?? Number.POSITIVE_INFINITY
  let total = 0
  const isRanked = query.sort === 'relevance'
  let isComplete = !isRanked || (first.total_is === 'exact' && first.hits.length < rankedLimit(query))
  const introduce = async function* (id: string): AsyncGenerator<SearchLine> {
    if (introducedIds.has(id)) return
    introducedIds.add(id)
    const entry = app.session(id as MessageHit['session_id'])
    const [session] = entry ? await toSessionItems(app, [entry]) : []
    if (session) yield { kind: 'session', session }
  }
  yield { kind: 'query', parts: explainQuery(query.q ?? query.keyword ?? '') }
  for (const { id } of first.titles) {
    yield* introduce(id)
    yield { kind: 'title', session_id: id }
  }
  const keysOnly: MessageHit[] = []
  for await (const hit of searchPages(app, words, filter, first)) {
    if (signal.aborted) break
    if (total >= limitOfHits || total + keysOnly.length >= limitOfHits + MAX_HELD_HITS) {
      isComplete = false
      break
    }
    if (hit.keys_only && keysOnly.length < MAX_HELD_HITS) {
      keysOnly.push(hit)
      continue
    }
    total++
    yield* introduce(hit.session_id)
    yield { kind: 'hit', hit: toHitItem(hit) }
  }
  for (const hit of keysOnly) {
    if (signal.aborted) break
    if (total >= limitOfHits) {
      isComplete = false
      break
    }
    total++
    yield* introduce(hit.session_id)
    yield { kind: 'hit', hit: toHitItem(hit) }
  }
  yield {
    kind: 'end',
    total: isRanked && !isComplete ? Math.max(total, first.total) : total,
    total_is: (isComplete || (isRanked && first.total_is === 'exact')) && !signal.aborted ? 'exact' : 'at_least',
    complete: isComplete && first.complete,
    duration_ms: Math.round(performance.now() - start),
    warnings,
  }
}

/** Matches in names of arguments wait for better ones, but not for more than this. */
const MAX_HELD_HITS = 1000
const PAGE_SIZE = 100

async function* searchPages(
  app: App,
  words: string,
  filter: SessionFilter,
  first: FoundHits,
): AsyncGenerator<MessageHit> {
  for (let page = first; ; ) {
    yield* page.hits
    if (page.next === undefined) return
    const answer = await app.search(words, { limit: PAGE_SIZE, filter, after: page.next })
    if (answer.kind === 'problem') return
    page = answer
  }
}

/** Parameters become filters of the query language. */
function toQueryText({ q, keyword, scope, role, starred, tag }: Query): string {
  const words = q ?? keyword
  if (words === undefined)
    throw new ApiProblem(
      'invalid_parameters',
      phrase('q is missing. Give the words to search for.', '検索する語を指定してください（q）。'),
      {
        invalid_fields: [{ field: 'q', message: 'is required' }],
      },
    )
  const star = starred === undefined ? '' : starred ? 'is:starred' : '-is:starred'
  const parts = [words, filterText('in', scope), filterText('role', role), filterText('tag', tag), star]
  return parts.filter((part) => part !== '').join(' ')
}

/** What was said, and values, are more often meant than names of arguments (`timeout_ms`). */
const putKeysLast = (hits: readonly MessageHit[]): readonly MessageHit[] => [
  ...hits.filter((hit) => !hit.keys_only),
  ...hits.filter((hit) => hit.keys_only),
]

export const toHitItem = ({ snippet, tool, keys_only, unverified, ...hit }: MessageHit): SearchHit => ({
  id: `${hit.session_id}:${hit.message_id}`,
  ...hit,
  keys_only: keys_only === true,
  unverified: unverified === true,
  tool: tool ?? null,
  snippet: snippet?.text ?? null,
  highlights: snippet?.highlights.map(([start, end]) => ({ start, end })) ?? [],
  cut_before: snippet?.cutBefore ?? false,
  cut_after: snippet?.cutAfter ?? false,
})

/** Values as lines of JSON, as the client reads them. A stream that fails ends with an error line. */
async function* encodeJsonLines(lines: AsyncGenerator<SearchLine>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  try {
    for await (const line of lines) yield encoder.encode(`${JSON.stringify(line)}\n`)
  } catch (error) {
    warn(String(error))
    const failed: SearchLine = { kind: 'error', detail: SEE_LOG.en, detail_ja: SEE_LOG.ja }
    yield encoder.encode(`${JSON.stringify(failed)}\n`)
  }
}
