/**
 * Finds the messages that say most about a question, of which no message needs to contain every word. Made for agents
 * that recall earlier conversations.
 */
import type { IndexReader } from '../index/reader.ts'
import type { IndexedMessage, SessionEntry } from '../index/records.ts'
import type { SessionFilter } from '../index/session-filter.ts'
import { readSessionEntries } from '../index/session-list.ts'
import type { MessageStore } from '../messages/message-store.ts'
import type { SessionId } from '../model/ids.ts'
import { compareTexts } from './compare-texts.ts'
import { bestSnippet, DEFAULT_SNIPPET_LENGTH, hitBaseOf, type MessageHit, searchFieldsOf } from './hit.ts'
import type { ParsedQuery, QueryFilter, QueryNode, QueryProblem, SearchScope } from './query/query.ts'
import { countUnindexed, readCandidates, type Unindexed } from './text-index/find-rows.ts'
import { type RankedTerm, termsOfQuestion } from './text-index/question-terms.ts'
import { type RankedRows, rankAny } from './text-index/rank-any.ts'

/**
 * - `text` is a question, an error message or a few words, in any language; it has no syntax. Forms of English words
 *   count as the same word; scripts without spaces are compared by pairs of characters; words of grammar are left out.
 * - `filters` is a query of filters as in the search box, such as `role:user after:2026-01-01`.
 * - `filter` selects sessions, `exclude` leaves some out; `scopes` selects fields.
 */
export interface RankedSearchOptions {
  readonly text: string
  readonly filters?: string
  readonly filter?: SessionFilter
  readonly exclude?: readonly SessionId[]
  /** Fields to search; default: all except `context`. */
  readonly scopes?: readonly SearchScope[]
  /** Default 20, at most 200. */
  readonly limit?: number
  /** Maximum length of a snippet in UTF-16 units. 0: none. */
  readonly snippet?: number
}

export interface RankedHit extends MessageHit {
  readonly message: IndexedMessage
  /** Comparable within one answer. */
  readonly score: number
  /** The part of the question that the message contains, 0 to 1, weighted by the rarity of its terms. */
  readonly coverage: number
  /** Terms that the message contains, and those that other messages contain. */
  readonly terms: readonly string[]
  readonly missing: readonly string[]
  /** Words that mean nearly the same as those of the question, and of which the message contains some. */
  readonly related: readonly string[]
}

/**
 * - `hits` are the best first. A message whose source is gone has no snippet.
 * - `total` is the number of messages that contain at least half of the question, `hidden` how many more the filters
 *   leave out. Hits may contain less.
 * - `unknown` are terms that no message contains. Without any known term there are no hits.
 */
export type RankedAnswer =
  | QueryProblem
  | {
      readonly kind: 'found'
      readonly hits: readonly RankedHit[]
      readonly total: number
      readonly hidden: number
      readonly unknown: readonly string[]
      readonly sessions: readonly SessionEntry[]
      /** False if some logs are not completely indexed. */
      readonly complete: boolean
      readonly left: Unindexed
    }

const DEFAULT_HITS = 20
const MAX_HITS = 200
/** More messages than asked for are read, to compare how close together their terms are. */
const FURTHER_COMPARED = 10
const NO_ROWS: RankedRows = { rows: [], total: 0, unfiltered: 0, rarities: [] }
const NOTHING_LEFT: Unindexed = { sessions: 0, bytes: 0 }

export async function searchRanked(
  index: IndexReader,
  store: MessageStore,
  filters: (text: string) => ParsedQuery | QueryProblem,
  options: RankedSearchOptions,
): Promise<RankedAnswer> {
  const { text, filter, exclude = [], snippet = DEFAULT_SNIPPET_LENGTH } = options
  const limit = Math.min(options.limit ?? DEFAULT_HITS, MAX_HITS)
  const query = options.filters?.trim() ? filters(options.filters) : undefined
  if (query?.kind === 'problem') return query
  if (query && (query.must || query.mustNot.length + query.patterns.length > 0)) return WORDS_IN_FILTERS
  const conditions: QueryFilter[] = [...(query?.filters ?? [])]
  if (exclude.length > 0) conditions.push({ kind: 'sessions', ids: exclude, not: true })
  const scopes = options.scopes ?? query?.scopes
  const terms = termsOfQuestion(text, { withRelated: true })
  const compared = limit + FURTHER_COMPARED
  const { ranked, candidates, left } = index.read(
    (db) => {
      const best =
        terms.length === 0 ? NO_ROWS : rankAny(db, terms, { filters: conditions, scopes, filter, limit: compared })
      return {
        ranked: best,
        candidates: readCandidates(
          db,
          best.rows.map(({ row }) => row),
        ),
        left: countUnindexed(db, { ...EMPTY_QUERY, filters: conditions }, filter),
      }
    },
    { ranked: NO_ROWS, candidates: [], left: NOTHING_LEFT },
  )
  const known = terms.filter((_, at) => (ranked.rarities[at] ?? 0) > 0)
  const shown = { ...queryOf(known), ...(scopes && { scopes }) }
  const rowsById = new Map(ranked.rows.map((one) => [one.row, one]))
  const loaded = await store.readMessages(candidates, { withoutHashes: true })
  const messages = candidates.flatMap((candidate, at) => {
    const row = rowsById.get(candidate.row)
    const body = loaded[at]
    const fields = body?.kind === 'body' ? searchFieldsOf(body.message, shown) : undefined
    return row ? { candidate, session: candidate.session, row, fields } : []
  })
  const factors = compareTexts(text, messages, shown, terms, ranked.rarities)
  const scored = messages.map((one, at) => ({ ...one, score: one.row.score * (factors[at] ?? 1) }))
  scored.sort((a, b) => b.score - a.score || b.row.row - a.row.row)
  const hits = scored.slice(0, limit).map(({ candidate, row, fields, score }): RankedHit => {
    const best = fields && snippet > 0 ? bestSnippet(shown, fields, snippet) : undefined
    return {
      ...hitBaseOf(candidate),
      message: candidate,
      scope: best?.scope ?? 'prompt',
      ...(best && { snippet: best.snippet }),
      score,
      coverage: Math.round(row.coverage * 1000) / 1000,
      terms: typedTexts(terms, (one) => row.terms.includes(one)),
      missing: typedTexts(terms, (one) => !row.terms.includes(one) && (ranked.rarities[one] ?? 0) > 0),
      related: row.terms.flatMap((one) => terms[one]?.related?.map((word) => word.text) ?? []),
    }
  })
  const ids = [...new Set(hits.map((hit) => hit.session_id))]
  return {
    kind: 'found',
    hits,
    total: ranked.total,
    hidden: ranked.unfiltered - ranked.total,
    unknown: typedTexts(terms, (at) => (ranked.rarities[at] ?? 0) === 0),
    sessions: index.read((db) => readSessionEntries(db, ids), []),
    complete: left.sessions === 0,
    left,
  }
}

const WORDS_IN_FILTERS: QueryProblem = {
  kind: 'problem',
  code: 'filter_value',
  start: 0,
  end: 0,
  what: 'only filters can stand here',
  advice: 'write words and patterns into the question',
}

const EMPTY_QUERY: ParsedQuery = { kind: 'query', mustNot: [], patterns: [], filters: [] }

const typedTexts = (terms: readonly RankedTerm[], isWanted: (at: number) => boolean): readonly string[] =>
  terms.flatMap(({ text, related }, at) => (related === undefined && isWanted(at) ? text : []))

/** A query that finds any of the terms, for snippets. */
function queryOf(terms: readonly RankedTerm[]): ParsedQuery {
  const words = terms.flatMap((term): readonly Pick<RankedTerm, 'text' | 'forms'>[] => term.related ?? [term])
  const of: readonly QueryNode[] = words.map(({ text, forms }) => ({
    kind: 'term',
    text: forms && forms.beginning.length >= 4 ? forms.beginning : text,
    exact: true,
    prefix: forms !== undefined && forms.beginning.length >= 4,
  }))
  return of.length === 0 ? EMPTY_QUERY : { ...EMPTY_QUERY, must: { kind: 'any', of } }
}
