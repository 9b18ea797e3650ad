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
import { type CandidateCheckOptions, type CheckedHit, checkCandidates, confirmRows } from './check-candidates.ts'
import type { MessageHit } from './hit.ts'
import { findSessionsByAnnotation, PatternTimeLimit, resolveAnnotationFilters } from './matching.ts'
import { parseQuery } from './query/parse-query.ts'
import type { ParsedQuery, QueryProblem } from './query/query.ts'
import { type RankedAnswer, type RankedSearchOptions, searchRanked } from './ranked-search.ts'
import {
  countUnindexed,
  type FoundRows,
  findAndCountRows,
  findDoubtfulRows,
  findRows,
  type RowCount,
  readCandidates,
  type Unindexed,
} from './text-index/find-rows.ts'
import { type RankedRows, rankRows } from './text-index/rank-rows.ts'
import { findSessionsByTitle } from './text-index/title-search.ts'

export interface SearchOptions {
  readonly filter?: SessionFilter
  /** `relevance` returns the best few hundred in one page. */
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
const MAX_COUNTED_ROWS = 10_000
/** Rows of the first page; most searches need no other. */
const FIRST_PAGE_ROWS = 64
const PAGE_GROWTH = 4
/** Rows whose text is read only to count them. Above this, the total is a lower bound. */
const MAX_CONFIRMED_ROWS = 200
/** Limit of hits sorted by relevance, and of messages checked for one answer. */
const MAX_RANKED_ROWS = 200
const MAX_CHECKED_MESSAGES = 2000
/** Messages checked together, so that they share open files and one timer for patterns. */
const MESSAGES_PER_CHECK = 200
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
    const { limit = DEFAULT_HITS, order = 'newest', filter, after } = options
    const isRanked = order === 'relevance' && query.must !== undefined
    const time = new PatternTimeLimit()
    const more = findSessionsByAnnotation(query, annotations)
    const known = this.#index.read(
      (db): IndexAnswer => ({
        ...(isRanked
          ? rankedAnswer(rankRows(db, query, { limit: MAX_CHECKED_MESSAGES, filter }))
          : findAndCountRows(
              db,
              query,
              { limit: Math.max(limit + 1, FIRST_PAGE_ROWS), filter, before: after },
              query.patterns.length > 0 ? 0 : MAX_COUNTED_ROWS + 1,
            )),
        titles: isAboutMessages(query) ? [] : findSessionsByTitle(db, query, { limit, more, filter }),
        left: countUnindexed(db, query, filter),
      }),
      EMPTY_INDEX_ANSWER,
    )
    const wanted = isRanked ? Math.min(limit, MAX_RANKED_ROWS) : limit
    const pages = isRanked ? [known.found] : this.#pages(query, options, known.found)
    const collected = await this.#collect(query, options, wanted, pages, time)
    const { hits: found, checked, isEnd } = collected
    const best = found.slice(0, wanted)
    const ids = [...new Set([...best.map(({ hit }) => hit.session_id), ...known.titles])]
    const sessions = this.#index.read((db) => readSessionEntries(db, ids), [])
    const next = found.length > wanted ? best.at(-1)?.row : isEnd ? undefined : checked
    return {
      kind: 'found',
      ...(query.patterns.length > 0
        ? { total: found.length, total_is: isEnd ? 'exact' : 'at_least' }
        : await this.#count(query, options, known.count, collected)),
      hits: best.map(({ hit }) => hit),
      titles: known.titles.flatMap((id) => sessions.find((one) => one.id === id) ?? []),
      sessions,
      marks: annotations.filter(({ session }) => ids.includes(session)),
      complete: known.left.sessions === 0 && !time.isExhausted,
      left: known.left,
      ...(!isRanked && next !== undefined && { next }),
    }
  }

  /** The messages that say most about a question. See `RankedSearchOptions` for what it may contain. */
  searchRanked(options: RankedSearchOptions): Promise<RankedAnswer> {
    return searchRanked(this.#index, this.#messages, (filters) => this.#parse(filters), options)
  }

  /** Every matching message of a session, in session order. */
  async findMatches(session: SessionId, text: string): Promise<MessageMatchesAnswer> {
    const query = this.#parse(text)
    if (query.kind === 'problem') return query
    const filter: SessionFilter = { ids: [session], kind: 'any' }
    const { found, left } = this.#index.read(
      (db) => ({
        found: findRows(db, query, { limit: MAX_MATCHES + 1, filter }),
        left: countUnindexed(db, query, filter),
      }),
      EMPTY_INDEX_ANSWER,
    )
    const { rows, doubtful } = found
    const matchingRows = new Set<number>()
    const isSure = query.patterns.length === 0 && doubtful.size === 0
    for (let at = 0; at < Math.min(rows.length, MAX_MATCHES); at += MATCHES_PER_CHECK) {
      const page = rows.slice(at, at + MATCHES_PER_CHECK)
      const matching = isSure ? page : (await this.#check(query, page, { doubtful })).map(({ row }) => row)
      for (const row of matching) matchingRows.add(row)
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
    const { found, left } = this.#index.read(
      (db) => ({
        found: findRows(db, query, { limit: MAX_COUNTED_MATCHES, filter }),
        left: countUnindexed(db, query, filter),
      }),
      EMPTY_INDEX_ANSWER,
    )
    const { rows, doubtful } = found
    const time = new PatternTimeLimit()
    const hasPatterns = query.patterns.length > 0
    const matching = hasPatterns ? [] : rows.filter((row) => !doubtful.has(row))
    const open = hasPatterns ? rows : rows.filter((row) => doubtful.has(row))
    for (let at = 0; at < open.length; at += MATCHES_PER_CHECK)
      for (const { row } of await this.#check(query, open.slice(at, at + MATCHES_PER_CHECK), { time, doubtful }))
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
    const { rows, doubtful, byTitle } = this.#index.read(
      (db) => ({
        ...findRows(db, query, { limit: MAX_MATCHING_ROWS, filter }),
        byTitle: findSessionsByTitle(db, query, { filter, limit: MAX_MATCHING_ROWS, more }),
      }),
      { ...NO_ROWS, byTitle: [] },
    )
    const sure = doubtful.size === 0 ? rows : rows.filter((row) => !doubtful.has(row))
    const sessions = new Set([...byTitle, ...this.#sessionsOf(sure)])
    const unsure = rows.filter((row) => doubtful.has(row))
    for (let at = 0; at < Math.min(unsure.length, MAX_CHECKED_MESSAGES); at += MATCHES_PER_CHECK) {
      const page = this.#index.read((db) => readCandidates(db, unsure.slice(at, at + MATCHES_PER_CHECK)), [])
      const open = page.filter(({ session }) => !sessions.has(session))
      const confirmed = new Set(await confirmRows(this.#messages, query, open))
      for (const { row, session } of open) if (confirmed.has(row)) sessions.add(session)
    }
    return { kind: 'found', sessions: [...sessions] }
  }

  #sessionsOf(rows: readonly number[]): readonly SessionId[] {
    return this.#index.read(
      (db) =>
        prepareFirstColumn(
          db,
          `SELECT DISTINCT t.name FROM json_each(?) j CROSS JOIN message m ON m.id = j.value JOIN session t ON t.id = m.session_id`,
        ).all(JSON.stringify(rows)) as SessionId[],
      [],
    )
  }

  /** Parses the text and replaces conditions on annotations by sessions. */
  #parse(text: string): ParsedQuery | QueryProblem {
    const query = parseQuery(text)
    return query.kind === 'problem' ? query : resolveAnnotationFilters(query, this.#annotations())
  }

  /** Rows in pages that become larger, newest first. @param first the newest rows */
  *#pages(query: ParsedQuery, { filter }: SearchOptions, first: FoundRows): Generator<FoundRows> {
    let found = first
    for (let limit = FIRST_PAGE_ROWS; ; ) {
      yield found
      const before = found.rows.at(-1)
      if (before === undefined) return
      limit = Math.min(limit * PAGE_GROWTH, MAX_CHECKED_MESSAGES)
      found = this.#index.read((db) => findRows(db, query, { limit, filter, before }), NO_ROWS)
    }
  }

  /** Collects one hit more than wanted, to know whether there are more. */
  async #collect(
    query: ParsedQuery,
    { after, snippet }: SearchOptions,
    wanted: number,
    pages: Iterable<FoundRows>,
    time: PatternTimeLimit,
  ): Promise<Collected> {
    const hits: CheckedHit[] = []
    const confirmed = new Set<number>()
    const rejected = new Set<number>()
    let checked = after
    let count = 0
    for (const { rows, doubtful } of pages)
      for (let at = 0; at < rows.length; ) {
        if (hits.length > wanted || count >= MAX_CHECKED_MESSAGES)
          return { hits, confirmed, rejected, checked, isEnd: false }
        const isSure = query.patterns.length === 0 && doubtful.size === 0
        const missing = wanted + 1 - hits.length
        // As many as it probably takes, by the part that matched so far.
        const expected = isSure ? missing : Math.ceil((missing * (count + 1)) / (hits.length + 1))
        const page = rows.slice(at, at + Math.min(MESSAGES_PER_CHECK, Math.max(expected, isSure ? 1 : missing)))
        const found = await this.#check(query, page, { time, length: snippet, doubtful })
        const kept = new Set(found.map(({ row }) => row))
        for (const row of page) if (doubtful.has(row)) (kept.has(row) ? confirmed : rejected).add(row)
        hits.push(...found)
        at += page.length
        count += page.length
        checked = page.at(-1)
      }
    return { hits, confirmed, rejected, checked, isEnd: hits.length <= wanted }
  }

  /** Reads the text of doubtful rows if there are few. */
  async #count(
    query: ParsedQuery,
    { filter }: SearchOptions,
    { sure, doubtful }: RowCount,
    { confirmed, rejected }: Collected,
  ): Promise<HitTotal> {
    const known = sure + confirmed.size
    if (sure + doubtful > MAX_COUNTED_ROWS) return { total: Math.min(known, MAX_COUNTED_ROWS), total_is: 'at_least' }
    if (doubtful === 0) return { total: sure, total_is: 'exact' }
    if (doubtful - confirmed.size - rejected.size > MAX_CONFIRMED_ROWS) return { total: known, total_is: 'at_least' }
    const candidates = this.#index.read((db) => {
      const { rows } = findDoubtfulRows(db, query, { limit: MAX_COUNTED_ROWS, filter })
      return readCandidates(
        db,
        rows.filter((row) => !confirmed.has(row) && !rejected.has(row)),
      )
    }, [])
    return { total: known + (await confirmRows(this.#messages, query, candidates)).length, total_is: 'exact' }
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
  /** The first page: the newest rows, or the best. */
  readonly found: FoundRows
  readonly count: RowCount
  readonly titles: readonly SessionId[]
  readonly left: Unindexed
}

const rankedAnswer = (found: RankedRows): Pick<IndexAnswer, 'found' | 'count'> => ({ found, count: found.count })

const NO_ROWS: FoundRows = { rows: [], doubtful: new Set() }
const NO_COUNT: RowCount = { sure: 0, doubtful: 0 }
const EMPTY_INDEX_ANSWER: IndexAnswer = { found: NO_ROWS, count: NO_COUNT, titles: [], left: { sessions: 0, bytes: 0 } }

interface Collected {
  readonly hits: readonly CheckedHit[]
  /** Doubtful rows whose text matches, and those whose text does not. */
  readonly confirmed: ReadonlySet<number>
  readonly rejected: ReadonlySet<number>
  /** The last row checked. */
  readonly checked: number | undefined
  /** No further row can match. */
  readonly isEnd: boolean
}

type HitTotal = Pick<Extract<SearchAnswer, { kind: 'found' }>, 'total' | 'total_is'>
