/** The public interface of the search. Candidates come from the text index and are checked against their messages. */
import type { SessionAnnotation } from '../annotations/annotations.ts'
import type { IndexReader } from '../index/reader.ts'
import type { SessionEntry } from '../index/records.ts'
import type { SessionFilter } from '../index/session-filter.ts'
import { readOffsets } from '../index/session-layout.ts'
import { readSessionEntries } from '../index/session-list.ts'
import type { Db } from '../lib/sqlite/own-database.ts'
import { prepareCached, prepareFirstColumn } from '../lib/sqlite/statements.ts'
import type { MessageStore } from '../messages/message-store.ts'
import type { SessionId } from '../model/ids.ts'
import { type CandidateCheckOptions, type CheckedHit, checkCandidates } from './check-candidates.ts'
import { type DeepSearchEvent, type DeepSearchOptions, deepSearch } from './deep-search.ts'
import { highlightedWords, type MessageHit } from './hit.ts'
import { findSessionsByAnnotation, PatternTimeLimit, resolveAnnotationFilters } from './matching.ts'
import { parseQuery } from './query/parse-query.ts'
import type { ParsedQuery, QueryProblem } from './query/query.ts'
import { countUnindexed, findSessionsByTitle, readCandidates, type Unindexed } from './text-index/candidates.ts'
import { findNewestRows, findRows, hasShortPrefix, replaceShortPrefixes } from './text-index/find-rows.ts'

export interface SearchOptions {
  readonly filter?: SessionFilter
  /** `relevance` sorts only the newest few hundred. */
  readonly order?: 'newest' | 'relevance'
  readonly limit?: number
  /** `next` of the previous answer. */
  readonly after?: number
  /** Maximum length of a snippet in UTF-16 units. */
  readonly snippet?: number
}

export type SearchAnswer =
  | QueryProblem
  | {
      readonly kind: 'found'
      readonly total: number
      readonly total_is: 'exact' | 'at_least'
      readonly hits: readonly MessageHit[]
      /** Sessions that match by title, or by the user's name, tags or note. */
      readonly titles: readonly SessionEntry[]
      /** The sessions of hits and titles. */
      readonly sessions: readonly SessionEntry[]
      /** Annotations of these sessions. */
      readonly marks: readonly SessionAnnotation[]
      /** False if some logs are not completely indexed, or a pattern took too long. */
      readonly complete: boolean
      readonly left: Unindexed
      /** Pass it as `after` to get more hits. */
      readonly next?: number
    }

/** A match, with the number of messages of its session before it. */
export interface MessageMatch {
  readonly message_id: string
  readonly offset: number
}

export type MessageMatchesAnswer =
  | QueryProblem
  | { readonly kind: 'found'; readonly spots: readonly MessageMatch[]; readonly complete: boolean }

export type SessionCountsAnswer =
  | QueryProblem
  | {
      readonly kind: 'found'
      /** Number of messages. */
      readonly total: number
      readonly complete: boolean
      readonly sessions: readonly { readonly session: SessionEntry; readonly messages: number }[]
    }

export type MatchingSessionsAnswer = QueryProblem | { readonly kind: 'found'; readonly sessions: readonly SessionId[] }

const DEFAULT_HITS = 20
const MAX_COUNTED_ROWS = 1000
/** Limit of hits sorted by relevance, and of messages checked for one answer. */
const MAX_RANKED_ROWS = 200
const MAX_CHECKED_MESSAGES = 2000
/** Messages checked together, so that they share one timer for patterns. */
const MESSAGES_PER_CHECK = 50
const MAX_MATCHES = 10_000
const MAX_MATCHING_ROWS = 20_000
const MAX_COUNTED_MATCHES = 10_000_000
/** The same for searches that return all matches at once. */
const MATCHES_PER_CHECK = 200

export class Search {
  readonly #index: IndexReader
  readonly #messages: MessageStore
  readonly #annotations: () => readonly SessionAnnotation[]

  constructor(index: IndexReader, messages: MessageStore, annotations: () => readonly SessionAnnotation[]) {
    this.#index = index
    this.#messages = messages
    this.#annotations = annotations
  }

  async search(text: string, options: SearchOptions = {}): Promise<SearchAnswer> {
    const query = this.#parse(text)
    if (query.kind === 'problem') return query
    const annotations = this.#annotations()
    const { limit = DEFAULT_HITS, order = 'newest', filter } = options
    const time = new PatternTimeLimit()
    const more = findSessionsByAnnotation(query, annotations)
    const newest =
      order === 'newest' && options.after === undefined && (await this.#searchNewest(query, options, limit))
    const known = this.#index.read((db): IndexAnswer => {
      const rows = newest ? newest.rows : findRows(db, query, { limit: MAX_COUNTED_ROWS + 1, filter })
      const titles = isAboutMessages(query) ? [] : findSessionsByTitle(db, query, { limit, more, filter })
      return { rows, titles, left: countUnindexed(db, query, filter) }
    }, EMPTY_INDEX_ANSWER)
    const wanted = order === 'relevance' ? MAX_RANKED_ROWS : limit
    const { found, checked, isEnd } = newest || (await this.#collect(query, options, wanted, known.rows, time))
    const hits = order === 'relevance' ? found.toSorted((a, b) => b.score - a.score) : found
    const best = hits.slice(0, limit)
    const ids = [...new Set([...best.map(({ hit }) => hit.session_id), ...known.titles])]
    const sessions = this.#index.read((db) => readSessionEntries(db, ids), [])
    const next = found.length > limit ? best.at(-1)?.row : isEnd ? undefined : checked
    return {
      kind: 'found',
      ...totalOf(query, known.rows.length, found.length, isEnd),
      hits: best.map(({ hit }) => hit),
      titles: known.titles.flatMap((id) => sessions.find((one) => one.id === id) ?? []),
      sessions,
      marks: annotations.filter(({ session }) => ids.includes(session)),
      complete: known.left.sessions === 0 && !time.isExhausted,
      left: known.left,
      ...(order === 'newest' && next !== undefined && { next }),
    }
  }

  /** Yields the result of `search`, then everything found outside the index. */
  async *deepSearch(text: string, options: DeepSearchOptions = {}): AsyncGenerator<QueryProblem | DeepSearchEvent> {
    const query = this.#parse(text)
    if (query.kind === 'problem') yield query
    else yield* deepSearch(query, this.#index, this.#messages, options)
  }

  /** Every matching message of a session, in session order. */
  async findMatches(session: SessionId, text: string): Promise<MessageMatchesAnswer> {
    const query = this.#parse(text)
    if (query.kind === 'problem') return query
    const filter: SessionFilter = { ids: [session], kind: 'any' }
    const { rows, left } = this.#index.read(
      (db): IndexAnswer => ({
        rows: findRows(db, query, { limit: MAX_MATCHES + 1, filter }),
        titles: [],
        left: countUnindexed(db, query, filter),
      }),
      EMPTY_INDEX_ANSWER,
    )
    const matchingRows = new Set<number>()
    const isSure = query.patterns.length === 0 && query.mustNot.length === 0
    for (let at = 0; at < Math.min(rows.length, MAX_MATCHES); at += MATCHES_PER_CHECK) {
      const page = rows.slice(at, at + MATCHES_PER_CHECK)
      const found = isSure ? page : (await this.#check(query, page)).map(({ row }) => row)
      for (const row of found) matchingRows.add(row)
    }
    const matches = this.#index.read((db) => {
      const offsets = readOffsets(db, session, matchingRows)
      const known = readCandidates(db, [...offsets.keys()])
      return known.map(({ id, row }) => ({ message_id: id, offset: offsets.get(row) ?? 0 }))
    }, [])
    return { kind: 'found', spots: matches, complete: left.sessions === 0 && rows.length <= MAX_MATCHES }
  }

  /** Number of matching messages of each session that has any, newest session first. */
  async countBySession(text: string, filter?: SessionFilter): Promise<SessionCountsAnswer> {
    const query = this.#parse(text)
    if (query.kind === 'problem') return query
    const { rows, left } = this.#index.read(
      (db): IndexAnswer => ({
        rows: findRows(db, query, { limit: MAX_COUNTED_MATCHES, filter }),
        titles: [],
        left: countUnindexed(db, query, filter),
      }),
      EMPTY_INDEX_ANSWER,
    )
    const time = new PatternTimeLimit()
    const isSure = query.patterns.length === 0 && query.mustNot.length === 0
    const matching: number[] = isSure ? [...rows] : []
    for (let at = 0; !isSure && at < rows.length; at += MATCHES_PER_CHECK)
      for (const { row } of await this.#check(query, rows.slice(at, at + MATCHES_PER_CHECK), { time }))
        matching.push(row)
    const counts = this.#index.read((db) => readMatchesBySession(db, matching), [])
    const ids = counts.map(({ id }) => id)
    const entries = this.#index.read((db) => readSessionEntries(db, ids), [])
    const sessions = new Map(entries.map((one) => [one.id, one]))
    return {
      kind: 'found',
      total: matching.length,
      complete: left.sessions === 0 && !time.isExhausted && rows.length < MAX_COUNTED_MATCHES,
      sessions: counts.flatMap(({ id, messages }) => {
        const session = sessions.get(id)
        return session ? { session, messages } : []
      }),
    }
  }

  /** Sessions with a matching message, title or annotation. */
  async findSessions(text: string, filter: SessionFilter): Promise<MatchingSessionsAnswer> {
    const query = this.#parse(text)
    if (query.kind === 'problem') return query
    if (query.patterns.length > 0) {
      const answer = await this.search(text, { filter, limit: MATCHES_PER_CHECK })
      return answer.kind === 'problem' ? answer : { kind: 'found', sessions: answer.sessions.map(({ id }) => id) }
    }
    const more = findSessionsByAnnotation(query, this.#annotations())
    const sessions = this.#index.read((db) => {
      const rows = findRows(db, query, { limit: MAX_MATCHING_ROWS, filter })
      const byText = prepareFirstColumn(
        db,
        `SELECT DISTINCT t.name FROM json_each(?) j CROSS JOIN message m ON m.id = j.value JOIN session t ON t.id = m.session_id`,
      ).all(JSON.stringify(rows)) as SessionId[]
      return [...new Set([...findSessionsByTitle(db, query, { filter, limit: MAX_MATCHING_ROWS, more }), ...byText])]
    }, [])
    return { kind: 'found', sessions }
  }

  /** Parses the text and replaces conditions on annotations by sessions. */
  #parse(text: string): ParsedQuery | QueryProblem {
    const query = parseQuery(text)
    return query.kind === 'problem' ? query : resolveAnnotationFilters(query, this.#annotations())
  }

  /**
   * A prefix that matches most messages, such as `s*`, is answered faster from the newest messages; the index then only
   * confirms that there are more. Returns undefined for other queries.
   */
  async #searchNewest(query: ParsedQuery, { filter, snippet }: SearchOptions, wanted: number) {
    if (!hasShortPrefix(query) || query.patterns.length > 0 || query.scopes?.includes('context')) return undefined
    const newest = this.#index.read((db) => findNewestRows(db, query, { limit: 4 * wanted, filter }), [])
    const found = await this.#check(query, newest, { isDoubtful: true, length: snippet })
    if (found.length <= wanted) return undefined
    const narrowedQuery = replaceShortPrefixes(query, highlightedWords(found.map(({ hit }) => hit)))
    if (!narrowedQuery) return undefined
    const rows = this.#index.read((db) => findRows(db, narrowedQuery, { limit: MAX_COUNTED_ROWS + 1, filter }), [])
    return rows.length > MAX_COUNTED_ROWS
      ? { rows, found: found.slice(0, wanted + 1), checked: undefined, isEnd: false }
      : undefined
  }

  /**
   * Collects one hit more than wanted, to know whether there are more.
   * @param first the newest rows
   * @returns the hits and the last row checked
   */
  async #collect(
    query: ParsedQuery,
    { filter, after, snippet }: SearchOptions,
    wanted: number,
    first: readonly number[],
    time: PatternTimeLimit,
  ) {
    const found: CheckedHit[] = []
    let known = after === undefined ? first : first.filter((row) => row < after)
    let checked = after
    const isAll = first.length <= MAX_COUNTED_ROWS
    for (let count = 0; found.length <= wanted && count < MAX_CHECKED_MESSAGES; ) {
      if (known.length === 0 && !isAll)
        known = this.#index.read((db) => findRows(db, query, { limit: MAX_RANKED_ROWS, filter, before: checked }), [])
      const page = known.slice(0, Math.min(MESSAGES_PER_CHECK, wanted + 1 - found.length))
      if (page.length === 0) return { found, checked, isEnd: true }
      known = known.slice(page.length)
      found.push(...(await this.#check(query, page, { time, length: snippet })))
      count += page.length
      checked = page.at(-1)
    }
    return { found, checked, isEnd: false }
  }

  #check(query: ParsedQuery, rows: readonly number[], options?: CandidateCheckOptions): Promise<readonly CheckedHit[]> {
    const candidates = this.#index.read((db) => readCandidates(db, rows), [])
    return checkCandidates(this.#messages, query, candidates, options)
  }
}

/** Whether a filter selects single messages, which a title cannot satisfy. */
const isAboutMessages = ({ filters }: ParsedQuery): boolean =>
  filters.some(({ kind }) => kind === 'role' || kind === 'tool' || kind === 'file' || kind === 'has')

function readMatchesBySession(db: Db, rows: readonly number[]): readonly { id: SessionId; messages: number }[] {
  const sql = `SELECT t.name AS id, count(*) AS messages FROM json_each(?) j CROSS JOIN message m ON m.id = j.value
    JOIN session t ON t.id = m.session_id GROUP BY t.id ORDER BY max(m.id) DESC`
  return prepareCached(db, sql).all(JSON.stringify(rows)) as { id: SessionId; messages: number }[]
}

interface IndexAnswer {
  /** The newest rows, one more than the limit of the count. */
  readonly rows: readonly number[]
  readonly titles: readonly SessionId[]
  readonly left: Unindexed
}

const EMPTY_INDEX_ANSWER: IndexAnswer = { rows: [], titles: [], left: { sessions: 0, bytes: 0 } }

type HitTotal = Pick<Extract<SearchAnswer, { kind: 'found' }>, 'total' | 'total_is'>

function totalOf(query: ParsedQuery, counted: number, found: number, isEnd: boolean): HitTotal {
  if (query.patterns.length > 0) return { total: found, total_is: isEnd ? 'exact' : 'at_least' }
  return counted > MAX_COUNTED_ROWS
    ? { total: MAX_COUNTED_ROWS, total_is: 'at_least' }
    : { total: counted, total_is: 'exact' }
}
