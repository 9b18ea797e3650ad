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
import { countUnindexed, readCandidates, type Unindexed } from './text-index/candidates.ts'
import { type FoundRows, findRows } from './text-index/find-rows.ts'
import { rankRows } from './text-index/rank-rows.ts'
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
/** Rows whose text is read only to count them. Above this, the total is a lower bound. */
const MAX_CONFIRMED_ROWS = 200
/** Limit of hits sorted by relevance, and of messages checked for one answer. */
const MAX_RANKED_ROWS = 200
const MAX_CHECKED_MESSAGES = 2000
/** Messages checked together, so that they share one timer for patterns. */
const MESSAGES_PER_CHECK = 50
/** Where many messages may not match, smaller pages would take longer. */
const MIN_MESSAGES_PER_CHECK = 16
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
    const isRanked = order === 'relevance' && query.must !== undefined
    const time = new PatternTimeLimit()
    const more = findSessionsByAnnotation(query, annotations)
    const known = this.#index.read(
      (db): IndexAnswer => ({
        found: findRows(db, query, { limit: MAX_COUNTED_ROWS + 1, filter }),
        ...(isRanked && { ranked: rankRows(db, query, { limit: MAX_CHECKED_MESSAGES, filter }) }),
        titles: isAboutMessages(query) ? [] : findSessionsByTitle(db, query, { limit, more, filter }),
        left: countUnindexed(db, query, filter),
      }),
      EMPTY_INDEX_ANSWER,
    )
    const wanted = isRanked ? Math.min(limit, MAX_RANKED_ROWS) : limit
    const pages = known.ranked ? pagesOf(known.ranked) : this.#pages(query, options, known.found)
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
        : await this.#count(query, known.found, collected)),
      hits: best.map(({ hit }) => hit),
      titles: known.titles.flatMap((id) => sessions.find((one) => one.id === id) ?? []),
      sessions,
      marks: annotations.filter(({ session }) => ids.includes(session)),
      complete: known.left.sessions === 0 && !time.isExhausted,
      left: known.left,
      ...(!isRanked && next !== undefined && { next }),
    }
  }

  /** Every matching message of a session, in session order. */
  async findMatches(session: SessionId, text: string): Promise<MessageMatchesAnswer> {
    const query = this.#parse(text)
    if (query.kind === 'problem') return query
    const filter: SessionFilter = { ids: [session], kind: 'any' }
    const { found, left } = this.#index.read(
      (db): IndexAnswer => ({
        found: findRows(db, query, { limit: MAX_MATCHES + 1, filter }),
        titles: [],
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
      (db): IndexAnswer => ({
        found: findRows(db, query, { limit: MAX_COUNTED_MATCHES, filter }),
        titles: [],
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

  /** Rows in pages, newest first. @param first the newest rows */
  *#pages(query: ParsedQuery, { filter, after }: SearchOptions, first: FoundRows): Generator<FoundRows> {
    const rows = after === undefined ? first.rows : first.rows.filter((row) => row < after)
    yield* pagesOf({ ...first, rows })
    if (first.rows.length <= MAX_COUNTED_ROWS) return
    for (let before = Math.min(first.rows.at(-1) ?? 0, after ?? Number.MAX_SAFE_INTEGER); ; ) {
      const found = this.#index.read(
        (db) => findRows(db, query, { limit: MAX_CHECKED_MESSAGES, filter, before }),
        NO_ROWS,
      )
      yield* pagesOf(found)
      const last = found.rows.at(-1)
      if (last === undefined) return
      before = last
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
    const rejected = new Set<number>()
    let checked = after
    let count = 0
    for (const { rows, doubtful } of pages)
      for (let at = 0; at < rows.length; ) {
        if (hits.length > wanted || count >= MAX_CHECKED_MESSAGES) return { hits, rejected, checked, isEnd: false }
        const isSure = query.patterns.length === 0 && doubtful.size === 0
        const missing = Math.max(isSure ? 1 : MIN_MESSAGES_PER_CHECK, wanted + 1 - hits.length)
        const page = rows.slice(at, at + Math.min(MESSAGES_PER_CHECK, missing))
        const found = await this.#check(query, page, { time, length: snippet, doubtful })
        const kept = new Set(found.map(({ row }) => row))
        for (const row of page) if (doubtful.has(row) && !kept.has(row)) rejected.add(row)
        hits.push(...found)
        at += page.length
        count += page.length
        checked = page.at(-1)
      }
    return { hits, rejected, checked, isEnd: hits.length <= wanted }
  }

  /** Reads the text of doubtful rows if there are few. */
  async #count(query: ParsedQuery, { rows, doubtful }: FoundRows, { hits, rejected }: Collected): Promise<HitTotal> {
    if (rows.length > MAX_COUNTED_ROWS && doubtful.size === 0) return { total: MAX_COUNTED_ROWS, total_is: 'at_least' }
    const confirmed = new Set(hits.map(({ row }) => row))
    const open = rows.filter((row) => doubtful.has(row) && !confirmed.has(row) && !rejected.has(row))
    const known = rows.length - open.length - rows.filter((row) => rejected.has(row)).length
    if (open.length > MAX_CONFIRMED_ROWS || rows.length > MAX_COUNTED_ROWS)
      return { total: Math.min(known, MAX_COUNTED_ROWS), total_is: 'at_least' }
    const candidates = this.#index.read((db) => readCandidates(db, open), [])
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
  /** The newest rows, one more than the limit of the count. */
  readonly found: FoundRows
  /** The best rows, if they are wanted. */
  readonly ranked?: FoundRows
  readonly titles: readonly SessionId[]
  readonly left: Unindexed
}

const NO_ROWS: FoundRows = { rows: [], doubtful: new Set() }
const EMPTY_INDEX_ANSWER: IndexAnswer = { found: NO_ROWS, titles: [], left: { sessions: 0, bytes: 0 } }

interface Collected {
  readonly hits: readonly CheckedHit[]
  /** Doubtful rows whose text does not match. */
  readonly rejected: ReadonlySet<number>
  /** The last row checked. */
  readonly checked: number | undefined
  /** No further row can match. */
  readonly isEnd: boolean
}

type HitTotal = Pick<Extract<SearchAnswer, { kind: 'found' }>, 'total' | 'total_is'>

function* pagesOf(found: FoundRows): Generator<FoundRows> {
  if (found.rows.length > 0) yield found
}
