/** Fetches the hits of a search in the order in which a command shows them. */
import type { App, LoadedMessage, MessageHit, SearchAnswer } from '../../app.ts'

type FoundAnswer = Extract<SearchAnswer, { kind: 'found' }>

/** Messages around a hit, in order. */
export interface HitContext {
  readonly before: readonly LoadedMessage[]
  readonly after: readonly LoadedMessage[]
}

/** Hits per query when all hits are wanted, or when many match only by names of arguments. */
const PAGE_SIZE = 500
/** Queries that look for better hits than names of arguments. */
const MAX_PAGES_OF_KEYS = 4

/**
 * Matches in names of arguments (`timeout_ms`) come last: what was said, and values, are more often meant.
 *
 * @param limit 0 for all
 */
export async function fetchAnswer(
  app: App,
  query: string,
  order: 'newest' | 'relevance',
  limit: number,
): Promise<SearchAnswer> {
  const ask = (count: number, after?: number): Promise<SearchAnswer> =>
    app.search(query, { order, limit: count, ...(after !== undefined && { after }) })
  const isRanked = order === 'relevance' && limit > 0
  const first = await ask(isRanked ? Math.max(limit, MAX_RANKED_HITS) : limit || PAGE_SIZE)
  if (first.kind === 'problem') return first
  const hits = [...first.hits]
  const sessions = new Map(first.sessions.map((one) => [one.id, one]))
  const marks = new Map(first.marks.map((one) => [one.session, one]))
  const isMissingBetterHits = (): boolean => hits.filter((hit) => !hit.keys_only).length < limit
  let last: FoundAnswer = first
  for (let page = 0; last.next !== undefined; page++) {
    if (limit > 0 && (page === MAX_PAGES_OF_KEYS || !isMissingBetterHits())) break
    const next = await ask(PAGE_SIZE, last.next)
    if (next.kind === 'problem') return next
    last = next
    hits.push(...last.hits)
    for (const one of last.sessions) sessions.set(one.id, one)
    for (const one of last.marks) marks.set(one.session, one)
  }
  const ordered = [...hits.filter((hit) => !hit.keys_only), ...hits.filter((hit) => hit.keys_only)]
  const shown = limit === 0 ? ordered : ordered.slice(0, limit)
  const shownSessions = new Set([...shown.map((hit) => hit.session_id), ...first.titles.map(({ id }) => id)])
  return {
    ...first,
    hits: shown,
    sessions: [...sessions.values()].filter(({ id }) => shownSessions.has(id)),
    marks: [...marks.values()].filter(({ session }) => shownSessions.has(session)),
    ...(limit === 0 && { total: hits.length, total_is: 'exact' }),
  }
}

/** The search itself ranks no more. */
const MAX_RANKED_HITS = 200

/** @param count messages on each side; undefined for none */
export async function readContexts(
  app: App,
  hits: readonly MessageHit[],
  count: number | undefined,
): Promise<ReadonlyMap<MessageHit, HitContext>> {
  const contexts = new Map<MessageHit, HitContext>()
  if (count === undefined || count === 0) return contexts
  for (const hit of hits) {
    const { session_id: session, message_id: id } = hit
    const before = await app.messages(session, { before: id, limit: count * RECORDS_PER_MESSAGE })
    const after = await app.messages(session, { after: id, limit: count * RECORDS_PER_MESSAGE })
    contexts.set(hit, {
      before: before.filter(isSaid).slice(-count),
      after: after.filter(isSaid).slice(0, count),
    })
  }
  return contexts
}

/** Events, context and repeated records lie between the messages of a conversation. */
const RECORDS_PER_MESSAGE = 5

const isSaid = ({ known: { role, duplicate, replayed, injected } }: LoadedMessage): boolean =>
  role !== 'meta' && role !== 'system' && !duplicate && !replayed && !injected
