/** Searches: candidates from the index, checked and shown by their bodies. */
import type { SessionFilter } from '../../archive/get/filter.ts'
import type { IndexReader } from '../../archive/get.ts'
import type { Entry } from '../../archive/record.ts'
import { type Candidate, candidatesOf, countOf, type Left, leftOut, titlesOf } from '../../archive/search.ts'
import { matches } from '../../archive/text/matches.ts'
import { parseQuery } from '../../archive/text/parse-query.ts'
import type { Fields, Query, QueryProblem, Scope } from '../../archive/text/query.ts'
import { type Snippet, snippet } from '../../archive/text/snippet.ts'
import { filesTouched } from '../../model/files/touched.ts'
import type { SessionId } from '../../model/ids.ts'
import type { NormalizedMessage, Role, SourceType } from '../../model/normalized.ts'
import { spokenIn } from '../../model/spoken.ts'
import type { Bodies } from './bodies.ts'

export interface SearchOptions {
  readonly filter?: SessionFilter
  /** `relevance` orders the newest few hundred. */
  readonly order?: 'newest' | 'relevance'
  readonly limit?: number
  /** Goes on after an earlier answer: its `next`. */
  readonly after?: number
  /** Letters of a snippet. */
  readonly snippet?: number
}

export interface Hit {
  readonly session_id: SessionId
  readonly message_id: string
  readonly timestamp: string
  readonly role: Role
  readonly source_type: SourceType
  readonly tool?: string
  /** Where in the message it was found. */
  readonly scope: Scope
  /** Absent when the source is gone. */
  readonly snippet?: Snippet
}

export type SearchAnswer =
  | QueryProblem
  | {
      readonly kind: 'found'
      readonly total: number
      readonly total_is: 'exact' | 'at_least'
      readonly hits: readonly Hit[]
      /** Sessions whose title says it. */
      readonly titles: readonly Entry[]
      /** The sessions of the hits and titles. */
      readonly sessions: readonly Entry[]
      /** False: there is more in the logs than in the index. */
      readonly complete: boolean
      readonly left: Left
      /** There are more hits after this. */
      readonly next?: number
    }

const PAGE = 20
const MOST_COUNTED = 1000
/** How many of the newest are put in order of relevance, and how many bodies are checked for one answer. */
const MOST_RANKED = 200
const MOST_CHECKED = 2000
const SNIPPET = 240

export class Finder {
  readonly #reader: IndexReader
  readonly #bodies: Bodies

  constructor(reader: IndexReader, bodies: Bodies) {
    this.#reader = reader
    this.#bodies = bodies
  }

  async search(text: string, options: SearchOptions = {}): Promise<SearchAnswer> {
    const query = parseQuery(text)
    if (query.kind === 'problem') return query
    const { limit = PAGE, order = 'newest' } = options
    const wanted = order === 'relevance' ? MOST_RANKED : limit
    const { hits, checked } = await this.#collect(query, options, wanted)
    const best =
      order === 'relevance' ? hits.toSorted((a, b) => b.score - a.score).slice(0, limit) : hits.slice(0, limit)
    const total = this.#total(query, options, checked, hits.length)
    const titles = this.#reader.read((db) => titlesOf(db, query, PAGE), [])
    const left = this.#reader.read((db) => leftOut(db, query, options.filter), { sessions: 0, bytes: 0 })
    const ids = new Set([...best.map(({ hit }) => hit.session_id), ...titles])
    const sessions = this.#reader.list({ ids: [...ids], kind: 'any', children: 'all', limit: ids.size }).sessions
    const last = best.at(-1)
    return {
      kind: 'found',
      ...total,
      hits: best.map(({ hit }) => hit),
      titles: titles.flatMap((id) => sessions.find((one) => one.id === id) ?? []),
      sessions,
      complete: left.sessions === 0,
      left,
      ...(order === 'newest' && last && hits.length > limit && { next: last.row }),
    }
  }

  /** One more than wanted, so that it is known whether there are more. */
  async #collect(query: Query, options: SearchOptions, wanted: number) {
    const hits: { readonly hit: Hit; readonly row: number; readonly score: number }[] = []
    const needsBody = query.patterns.length > 0
    let checked = 0
    let before = options.after
    while (hits.length <= wanted && checked < MOST_CHECKED) {
      const page = this.#candidates(query, options, needsBody ? MOST_RANKED : wanted + 1, before)
      for (const candidate of page) {
        checked++
        const found = await this.look(
          query,
          candidate,
          options.snippet === undefined ? {} : { length: options.snippet },
        )
        if (found) hits.push({ ...found, row: candidate.row })
        if (hits.length > wanted) break
      }
      before = page.at(-1)?.row
      if (page.length === 0 || before === undefined) return { hits, checked: undefined }
    }
    return { hits, checked }
  }

  #candidates(query: Query, { filter }: SearchOptions, limit: number, before: number | undefined) {
    const options = { limit, ...(filter && { filter }), ...(before !== undefined && { before }) }
    return this.#reader.read((db) => candidatesOf(db, query, options), [])
  }

  #total(query: Query, options: SearchOptions, checked: number | undefined, found: number) {
    if (query.patterns.length > 0)
      return { total: found, total_is: checked === undefined ? ('exact' as const) : ('at_least' as const) }
    const limits = { limit: MOST_COUNTED + 1, ...(options.filter && { filter: options.filter }) }
    const counted = this.#reader.read((db) => countOf(db, query, limits), 0)
    return counted > MOST_COUNTED
      ? { total: MOST_COUNTED, total_is: 'at_least' as const }
      : { total: counted, total_is: 'exact' as const }
  }

  /** Is it really meant? Nothing when its body says no. */
  async look(
    query: Query,
    candidate: Candidate,
    { length = SNIPPET, isDoubtful = false }: LookOptions = {},
  ): Promise<{ hit: Hit; score: number } | undefined> {
    const { session, id, timestamp, role, source_type, tool } = candidate
    const base = {
      session_id: session,
      message_id: id,
      timestamp,
      role,
      source_type,
      ...(tool !== undefined && { tool }),
    }
    const body = await this.#bodies.of(candidate)
    if (body.kind === 'gone')
      return query.patterns.length > 0 ? undefined : { hit: { ...base, scope: 'prompt' }, score: 0 }
    const fields = fieldsOf(body.message, query)
    const mustCheck = isDoubtful || query.patterns.length > 0 || (candidate.cut && query.mustNot.length > 0)
    if (mustCheck && !matches(query, fields)) return undefined
    const shown = shownIn(query, fields, length)
    return { hit: { ...base, scope: shown.scope, snippet: shown.snippet }, score: shown.score }
  }
}

export interface LookOptions {
  /** Of the snippet. */
  readonly length?: number
  /** The index did not say that this is meant. */
  readonly isDoubtful?: boolean
}

/** A message that was found without the index. */
export function hitOf(query: Query, message: NormalizedMessage, session: SessionId, fields: Fields): Hit {
  const { id, timestamp, role, source_type, tool_call } = message
  const { scope, snippet: shown } = shownIn(query, fields, SNIPPET)
  const tool = tool_call?.name
  return {
    session_id: session,
    message_id: id,
    timestamp,
    role,
    source_type,
    ...(typeof tool === 'string' && { tool }),
    scope,
    snippet: shown,
  }
}

export function fieldsOf(message: NormalizedMessage, query: Query): Fields {
  const { context, ...spoken } = spokenIn(message)
  const files = filesTouched(message)
  return {
    ...spoken,
    ...(files.length > 0 && { file: files.map(({ path }) => path).join('\n') }),
    ...(context !== undefined && query.scopes?.includes('context') && { context }),
  }
}

const WEIGHT: { readonly [scope in Scope]?: number } = {
  prompt: 3,
  answer: 2,
  title: 3,
  reasoning: 1,
  arguments: 1,
  output: 0.5,
}

/** The field that shows best why it was found. */
function shownIn(query: Query, fields: Fields, length: number) {
  let best: { scope: Scope; snippet: Snippet; score: number } | undefined
  for (const [scope, text] of Object.entries(fields) as [Scope, string][]) {
    if (query.scopes && !query.scopes.includes(scope)) continue
    const shown = snippet(query, text, length)
    const score = (Math.min(shown.highlights.length, 8) * (WEIGHT[scope] ?? 1)) / Math.log2(16 + text.length)
    if (!best || score > best.score) best = { scope, snippet: shown, score }
  }
  return best ?? { scope: 'prompt' as const, snippet: NOTHING, score: 0 }
}

const NOTHING: Snippet = { text: '', highlights: [], cutBefore: false, cutAfter: false }
