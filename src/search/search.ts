/** Searches: candidates from the index, checked against their messages. */
import type { SessionAnnotation } from '../annotations/annotations.ts'
import type { IndexReader } from '../index/reader.ts'
import type { SessionEntry } from '../index/records.ts'
import type { SessionFilter } from '../index/session-filter.ts'
import { readOffsets } from '../index/session-layout.ts'
import { readSessionEntries, readSessionSource, type SessionSource } from '../index/session-list.ts'
import { prepareFirstColumn } from '../index/statements.ts'
import type { Db } from '../lib/sqlite/own-database.ts'
import type { LoadedMessage, MessageStore } from '../messages/message-store.ts'
import type { SessionId } from '../model/ids.ts'
import {
  bestSnippet,
  DEFAULT_SNIPPET_LENGTH,
  highlightedWords,
  hitBaseOf,
  type MessageHit,
  searchFieldsOf,
} from './hit.ts'
import { findSessionsByAnnotation, matchesQuery, PatternTimeLimit, resolveAnnotationFilters } from './matching.ts'
import { parseQuery } from './query/parse-query.ts'
import type { ParsedQuery, QueryProblem } from './query/query.ts'
import {
  countUnindexed,
  findSessionsByTitle,
  readCandidates,
  type SearchCandidate,
  type Unindexed,
} from './text-index/candidates.ts'
import { findNewestRows, findRows, hasShortPrefix, replaceShortPrefixes } from './text-index/find-rows.ts'

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

export type SearchAnswer =
  | QueryProblem
  | {
      readonly kind: 'found'
      readonly total: number
      readonly total_is: 'exact' | 'at_least'
      readonly hits: readonly MessageHit[]
      /** Sessions whose title says it, or the name, tags and note that the user gave them. */
      readonly titles: readonly SessionEntry[]
      /** The sessions of the hits and titles. */
      readonly sessions: readonly SessionEntry[]
      /** What the user says about them. */
      readonly marks: readonly SessionAnnotation[]
      /** False: there is more in the logs than in the index, or a pattern took too long. */
      readonly complete: boolean
      readonly left: Unindexed
      /** There are more hits after this. */
      readonly next?: number
    }

const DEFAULT_HITS = 20
const MAX_COUNTED_ROWS = 1000
/** How many of the newest are put in order of relevance, and how many bodies are checked for one answer. */
const MAX_RANKED_ROWS = 200
const MAX_CHECKED_MESSAGES = 2000
/** Bodies that are checked together, so that one watch over the patterns does for all of them. */
const MESSAGES_PER_CHECK = 50

interface CheckedHit {
  readonly hit: MessageHit
  readonly score: number
  readonly row: number
}

export class SearchEngine {
  readonly #reader: IndexReader
  readonly #messageStore: MessageStore
  readonly #annotations: () => readonly SessionAnnotation[]

  constructor(reader: IndexReader, messages: MessageStore, annotations: () => readonly SessionAnnotation[]) {
    this.#reader = reader
    this.#messageStore = messages
    this.#annotations = annotations
  }

  /** What was typed, with sessions in place of what the user says about them. */
  parse(text: string): ParsedQuery | QueryProblem {
    const query = parseQuery(text)
    return query.kind === 'problem' ? query : resolveAnnotationFilters(query, this.#annotations())
  }

  async search(text: string, options: SearchOptions = {}): Promise<SearchAnswer> {
    const query = this.parse(text)
    if (query.kind === 'problem') return query
    const annotations = this.#annotations()
    const { limit = DEFAULT_HITS, order = 'newest' } = options
    const time = new PatternTimeLimit()
    const more = findSessionsByAnnotation(query, annotations)
    const wanted = order === 'relevance' ? MAX_RANKED_ROWS : limit
    const newestHits =
      order === 'newest' && options.after === undefined ? await this.#searchNewest(query, options, limit) : undefined
    const known = this.#reader.read((db) => queryIndex(db, query, options, more, newestHits?.rows), EMPTY_INDEX_ANSWER)
    const { found, checked, isEnd } = newestHits ?? (await this.#collect(query, options, wanted, known.rows, time))
    const hits = order === 'relevance' ? found.toSorted((a, b) => b.score - a.score) : found
    const best = hits.slice(0, limit)
    const ids = [...new Set([...best.map(({ hit }) => hit.session_id), ...known.titles])]
    const sessions = this.#reader.read((db) => readSessionEntries(db, ids), [])
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

  /**
   * A beginning of words that every other message has, such as `s*`, is found in the newest messages sooner than in the index, which
   * then only has to say that there are more than are counted. Nothing when it is not so.
   */
  async #searchNewest(query: ParsedQuery, { filter, snippet }: SearchOptions, wanted: number) {
    if (!hasShortPrefix(query) || query.patterns.length > 0 || query.scopes?.includes('context')) return undefined
    const within = filter && { filter }
    const newest = this.#reader.read((db) => findNewestRows(db, query, { limit: 4 * wanted, ...within }), [])
    const options = { isDoubtful: true, ...(snippet !== undefined && { length: snippet }) }
    const found = await this.checkCandidates(query, this.candidatesAt(newest), options)
    if (found.length <= wanted) return undefined
    const narrowedQuery = replaceShortPrefixes(query, highlightedWords(found.map(({ hit }) => hit)))
    if (!narrowedQuery) return undefined
    const rows = this.#reader.read((db) => findRows(db, narrowedQuery, { limit: MAX_COUNTED_ROWS + 1, ...within }), [])
    return rows.length > MAX_COUNTED_ROWS
      ? { rows, found: found.slice(0, wanted + 1), checked: undefined, isEnd: false }
      : undefined
  }

  /**
   * One more than wanted, so that it is known whether there are more.
   * @param first the newest rows
   * @returns with the last row that was looked at
   */
  async #collect(
    query: ParsedQuery,
    { filter, after, snippet }: SearchOptions,
    wanted: number,
    first: readonly number[],
    time: PatternTimeLimit,
  ) {
    const found: CheckedHit[] = []
    const checkOptions = { time, ...(snippet !== undefined && { length: snippet }) }
    let known = after === undefined ? first : first.filter((row) => row < after)
    let checked = after
    const isAll = first.length <= MAX_COUNTED_ROWS
    for (let count = 0; found.length <= wanted && count < MAX_CHECKED_MESSAGES; ) {
      if (known.length === 0 && !isAll)
        known = this.#reader.read(
          (db) =>
            findRows(db, query, {
              limit: MAX_RANKED_ROWS,
              ...(filter && { filter }),
              ...(checked !== undefined && { before: checked }),
            }),
          [],
        )
      const page = known.slice(0, Math.min(MESSAGES_PER_CHECK, wanted + 1 - found.length))
      if (page.length === 0) return { found, checked, isEnd: true }
      known = known.slice(page.length)
      for (const one of await this.checkCandidates(query, this.candidatesAt(page), checkOptions)) found.push(one)
      count += page.length
      checked = page.at(-1)
    }
    return { found, checked, isEnd: false }
  }

  candidatesAt(rows: readonly number[]): readonly LocatedCandidate[] {
    return this.#reader.read((db) => locateCandidates(db, readCandidates(db, rows)), [])
  }

  /** Those that are really meant: of some the bodies say no. */
  async checkCandidates(
    query: ParsedQuery,
    candidates: readonly LocatedCandidate[],
    {
      length = DEFAULT_SNIPPET_LENGTH,
      isDoubtful = false,
      time = new PatternTimeLimit(),
      unread,
    }: CandidateCheckOptions = {},
  ): Promise<readonly CheckedHit[]> {
    const messages: { readonly candidate: SearchCandidate; readonly body: LoadedMessage }[] = []
    for (const { candidate, where } of candidates)
      messages.push({ candidate, body: await this.#messageStore.readMessage(candidate, where) })
    const hasPatterns = query.patterns.length > 0
    const check = (): readonly CheckedHit[] =>
      messages.flatMap(({ candidate, body: loaded }) => {
        const base = { ...hitBaseOf(candidate) }
        // Nobody knows what it says: only where the index does, it is meant.
        if (loaded.kind === 'gone') {
          if (!hasPatterns && !isDoubtful) return { hit: { ...base, scope: 'prompt' }, score: 0, row: candidate.row }
          unread?.add(candidate.session)
          return []
        }
        const fields = searchFieldsOf(loaded.message, query)
        const mustCheck = isDoubtful || hasPatterns || (candidate.isTruncated && query.mustNot.length > 0)
        if (mustCheck && !matchesQuery(query, fields, time)) return []
        const { scope, snippet, score } = bestSnippet(query, fields, length, time)
        return { hit: { ...base, scope, snippet }, score, row: candidate.row }
      })
    const checkedHits = hasPatterns ? time.run(check) : check()
    if (time.isExhausted) for (const { candidate } of candidates) unread?.add(candidate.session)
    return checkedHits ?? []
  }
}

export interface CandidateCheckOptions {
  /** Of the snippet. */
  readonly length?: number
  /** The index did not say that these are meant. */
  readonly isDoubtful?: boolean
  readonly time?: PatternTimeLimit
  /** Takes the sessions of messages that may be meant: they can no longer be read, or patterns take too long in them. */
  readonly unread?: Set<SessionId>
}

/** A candidate, and where its body lies. */
export interface LocatedCandidate {
  readonly candidate: SearchCandidate
  readonly where: SessionSource | undefined
}

export function locateCandidates(db: Db, candidates: readonly SearchCandidate[]): readonly LocatedCandidate[] {
  const known = new Map<SessionId, SessionSource | undefined>()
  return candidates.map((candidate) => {
    const { session } = candidate
    if (!known.has(session)) known.set(session, readSessionSource(db, session))
    return { candidate, where: known.get(session) }
  })
}

interface IndexAnswer {
  /** The newest, one more than are counted. */
  readonly rows: readonly number[]
  readonly titles: readonly SessionId[]
  readonly left: Unindexed
}

const EMPTY_INDEX_ANSWER: IndexAnswer = { rows: [], titles: [], left: { sessions: 0, bytes: 0 } }

/** What the index knows, all of one moment. */
function queryIndex(
  db: Db,
  query: ParsedQuery,
  { filter }: SearchOptions,
  more: readonly SessionId[],
  rows: readonly number[] | undefined,
): IndexAnswer {
  return {
    rows: rows ?? findRows(db, query, { limit: MAX_COUNTED_ROWS + 1, ...(filter && { filter }) }),
    titles: findSessionsByTitle(db, query, { limit: DEFAULT_HITS, more, ...(filter && { filter }) }),
    left: countUnindexed(db, query, filter),
  }
}

type HitTotal = Pick<Extract<SearchAnswer, { kind: 'found' }>, 'total' | 'total_is'>

function totalOf(query: ParsedQuery, counted: number, found: number, isEnd: boolean): HitTotal {
  if (query.patterns.length > 0) return { total: found, total_is: isEnd ? 'exact' : 'at_least' }
  return counted > MAX_COUNTED_ROWS
    ? { total: MAX_COUNTED_ROWS, total_is: 'at_least' }
    : { total: counted, total_is: 'exact' }
}

/** A message, and how many of its session stand before it. */
export interface MessageMatch {
  readonly message_id: string
  readonly offset: number
}

export type MessageMatchesAnswer =
  | QueryProblem
  | { readonly kind: 'found'; readonly spots: readonly MessageMatch[]; readonly complete: boolean }

const MAX_MATCHES = 10_000
const MAX_MATCHING_ROWS = 20_000
const MAX_MATCHING_SESSIONS = 200

/** Every message of a session that says it, in its order. */
export async function findMatchesInSession(
  reader: IndexReader,
  engine: SearchEngine,
  session: SessionId,
  text: string,
): Promise<MessageMatchesAnswer> {
  const query = engine.parse(text)
  if (query.kind === 'problem') return query
  const filter: SessionFilter = { ids: [session], kind: 'any' }
  const { rows, left: unindexed } = reader.read(
    (db) => ({
      rows: findRows(db, query, { limit: MAX_MATCHES + 1, filter }),
      left: countUnindexed(db, query, filter),
    }),
    { rows: [], left: { sessions: 0, bytes: 0 } },
  )
  const matchingRows = new Set<number>()
  const isSure = query.patterns.length === 0 && query.mustNot.length === 0
  for (let at = 0; at < Math.min(rows.length, MAX_MATCHES); at += MESSAGES_PER_CHECK) {
    const page = rows.slice(at, at + MESSAGES_PER_CHECK)
    const found = isSure ? page : (await engine.checkCandidates(query, engine.candidatesAt(page))).map(({ row }) => row)
    for (const row of found) matchingRows.add(row)
  }
  const matches = reader.read((db) => {
    const offsets = readOffsets(db, session, matchingRows)
    const known = readCandidates(db, [...offsets.keys()])
    return known.map(({ id, row }) => ({ message_id: id, offset: offsets.get(row) ?? 0 }))
  }, [])
  return { kind: 'found', spots: matches, complete: unindexed.sessions === 0 && rows.length <= MAX_MATCHES }
}

export type MatchingSessionsAnswer = QueryProblem | { readonly kind: 'found'; readonly sessions: readonly SessionId[] }

/** Sessions in which it was said, or whose title or marks say it. */
export async function findMatchingSessions(
  reader: IndexReader,
  engine: SearchEngine,
  text: string,
  filter: SessionFilter,
  annotations: readonly SessionAnnotation[],
): Promise<MatchingSessionsAnswer> {
  const query = engine.parse(text)
  if (query.kind === 'problem') return query
  if (query.patterns.length > 0) {
    const answer = await engine.search(text, { filter, limit: MAX_MATCHING_SESSIONS })
    return answer.kind === 'problem' ? answer : { kind: 'found', sessions: answer.sessions.map(({ id }) => id) }
  }
  const sessions = reader.read((db) => {
    const rows = findRows(db, query, { limit: MAX_MATCHING_ROWS, filter })
    const byText = prepareFirstColumn(
      db,
      `SELECT DISTINCT t.name FROM json_each(?) j CROSS JOIN message m ON m.id = j.value JOIN session t ON t.id = m.session_id`,
    ).all(JSON.stringify(rows)) as SessionId[]
    const byTitle = findSessionsByTitle(db, query, {
      filter,
      limit: MAX_MATCHING_ROWS,
      more: findSessionsByAnnotation(query, annotations),
    })
    return [...new Set([...byTitle, ...byText])]
  }, [])
  return { kind: 'found', sessions }
}
