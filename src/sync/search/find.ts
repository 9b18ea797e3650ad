/** Searches: candidates from the index, checked and shown by their bodies. */
import type { SessionFilter } from '../../archive/get/filter.ts'
import { entriesOf } from '../../archive/get/sessions.ts'
import { type Standing, standingOf } from '../../archive/get/standing.ts'
import type { IndexReader } from '../../archive/get.ts'
import type { Mark } from '../../archive/marks/record.ts'
import type { Db } from '../../archive/open.ts'
import type { Entry } from '../../archive/record.ts'
import { type Left, leftOut } from '../../archive/search/left.ts'
import { markedSaying, withMarks } from '../../archive/search/marked.ts'
import { newestRows, rowsOf } from '../../archive/search/rows.ts'
import { type Candidate, candidatesAt, titlesOf } from '../../archive/search.ts'
import { matches } from '../../archive/text/matches.ts'
import { parseQuery } from '../../archive/text/parse-query.ts'
import { PatternTime } from '../../archive/text/patterns.ts'
import type { Query, QueryProblem } from '../../archive/text/query.ts'
import { isWide, narrowed } from '../../archive/text/wide.ts'
import type { SessionId } from '../../model/ids.ts'
import type { Bodies, Body } from './bodies.ts'
import { baseOf, fieldsOf, type Hit, SNIPPET, shownIn, wordsIn } from './hit.ts'

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
      readonly hits: readonly Hit[]
      /** Sessions whose title says it, or the name, tags and note that the user gave them. */
      readonly titles: readonly Entry[]
      /** The sessions of the hits and titles. */
      readonly sessions: readonly Entry[]
      /** What the user says about them. */
      readonly marks: readonly Mark[]
      /** False: there is more in the logs than in the index, or a pattern took too long. */
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
/** Bodies that are checked together, so that one watch over the patterns does for all of them. */
const TOGETHER = 50

interface Looked {
  readonly hit: Hit
  readonly score: number
  readonly row: number
}

export class Finder {
  readonly #reader: IndexReader
  readonly #bodies: Bodies
  readonly #marks: () => readonly Mark[]

  constructor(reader: IndexReader, bodies: Bodies, marks: () => readonly Mark[]) {
    this.#reader = reader
    this.#bodies = bodies
    this.#marks = marks
  }

  /** What was typed, with sessions in place of what the user says about them. */
  query(text: string): Query | QueryProblem {
    const query = parseQuery(text)
    return query.kind === 'problem' ? query : withMarks(query, this.#marks())
  }

  async search(text: string, options: SearchOptions = {}): Promise<SearchAnswer> {
    const query = this.query(text)
    if (query.kind === 'problem') return query
    const marks = this.#marks()
    const { limit = PAGE, order = 'newest' } = options
    const time = new PatternTime()
    const more = markedSaying(query, marks)
    const wanted = order === 'relevance' ? MOST_RANKED : limit
    const many =
      order === 'newest' && options.after === undefined ? await this.#amongMany(query, options, limit) : undefined
    const known = this.#reader.read((db) => glance(db, query, options, more, many?.rows), NOTHING_KNOWN)
    const { found, checked, isEnd } = many ?? (await this.#collect(query, options, wanted, known.rows, time))
    const hits = order === 'relevance' ? found.toSorted((a, b) => b.score - a.score) : found
    const best = hits.slice(0, limit)
    const ids = [...new Set([...best.map(({ hit }) => hit.session_id), ...known.titles])]
    const sessions = this.#reader.read((db) => entriesOf(db, ids), [])
    const next = found.length > limit ? best.at(-1)?.row : isEnd ? undefined : checked
    return {
      kind: 'found',
      ...totalOf(query, known.rows.length, found.length, isEnd),
      hits: best.map(({ hit }) => hit),
      titles: known.titles.flatMap((id) => sessions.find((one) => one.id === id) ?? []),
      sessions,
      marks: marks.filter(({ session }) => ids.includes(session)),
      complete: known.left.sessions === 0 && !time.isUp,
      left: known.left,
      ...(order === 'newest' && next !== undefined && { next }),
    }
  }

  /**
   * A beginning of words that every other message has, such as `s*`, is found in the newest messages sooner than in the index, which
   * then only has to say that there are more than are counted. Nothing when it is not so.
   */
  async #amongMany(query: Query, { filter, snippet }: SearchOptions, wanted: number) {
    if (!isWide(query) || query.patterns.length > 0 || query.scopes?.includes('context')) return undefined
    const within = filter && { filter }
    const newest = this.#reader.read((db) => newestRows(db, query, { limit: 4 * wanted, ...within }), [])
    const options = { isDoubtful: true, ...(snippet !== undefined && { length: snippet }) }
    const found = await this.look(query, this.candidatesAt(newest), options)
    if (found.length <= wanted) return undefined
    const narrow = narrowed(query, wordsIn(found.map(({ hit }) => hit)))
    if (!narrow) return undefined
    const rows = this.#reader.read((db) => rowsOf(db, narrow, { limit: MOST_COUNTED + 1, ...within }), [])
    return rows.length > MOST_COUNTED
      ? { rows, found: found.slice(0, wanted + 1), checked: undefined, isEnd: false }
      : undefined
  }

  /**
   * One more than wanted, so that it is known whether there are more.
   * @param first the newest rows
   * @returns with the last row that was looked at
   */
  async #collect(
    query: Query,
    { filter, after, snippet }: SearchOptions,
    wanted: number,
    first: readonly number[],
    time: PatternTime,
  ) {
    const found: Looked[] = []
    const look = { time, ...(snippet !== undefined && { length: snippet }) }
    let known = after === undefined ? first : first.filter((row) => row < after)
    let checked = after
    const isAll = first.length <= MOST_COUNTED
    for (let count = 0; found.length <= wanted && count < MOST_CHECKED; ) {
      if (known.length === 0 && !isAll)
        known = this.#reader.read(
          (db) =>
            rowsOf(db, query, {
              limit: MOST_RANKED,
              ...(filter && { filter }),
              ...(checked !== undefined && { before: checked }),
            }),
          [],
        )
      const page = known.slice(0, Math.min(TOGETHER, wanted + 1 - found.length))
      if (page.length === 0) return { found, checked, isEnd: true }
      known = known.slice(page.length)
      for (const one of await this.look(query, this.candidatesAt(page), look)) found.push(one)
      count += page.length
      checked = page.at(-1)
    }
    return { found, checked, isEnd: false }
  }

  candidatesAt(rows: readonly number[]): readonly Located[] {
    return this.#reader.read((db) => located(db, candidatesAt(db, rows)), [])
  }

  /** Those that are really meant: of some the bodies say no. */
  async look(
    query: Query,
    candidates: readonly Located[],
    { length = SNIPPET, isDoubtful = false, time = new PatternTime(), unread }: LookOptions = {},
  ): Promise<readonly Looked[]> {
    const bodies: { readonly candidate: Candidate; readonly body: Body }[] = []
    for (const { candidate, where } of candidates)
      bodies.push({ candidate, body: await this.#bodies.of(candidate, where) })
    const hasPatterns = query.patterns.length > 0
    const check = (): readonly Looked[] =>
      bodies.flatMap(({ candidate, body }) => {
        const base = { ...baseOf(candidate) }
        // Nobody knows what it says: only where the index does, it is meant.
        if (body.kind === 'gone') {
          if (!hasPatterns && !isDoubtful) return { hit: { ...base, scope: 'prompt' }, score: 0, row: candidate.row }
          unread?.add(candidate.session)
          return []
        }
        const fields = fieldsOf(body.message, query)
        const mustCheck = isDoubtful || hasPatterns || (candidate.cut && query.mustNot.length > 0)
        if (mustCheck && !matches(query, fields, time)) return []
        const { scope, snippet, score } = shownIn(query, fields, length, time)
        return { hit: { ...base, scope, snippet }, score, row: candidate.row }
      })
    const looked = hasPatterns ? time.spend(check) : check()
    if (time.isUp) for (const { candidate } of candidates) unread?.add(candidate.session)
    return looked ?? []
  }
}

export interface LookOptions {
  /** Of the snippet. */
  readonly length?: number
  /** The index did not say that these are meant. */
  readonly isDoubtful?: boolean
  readonly time?: PatternTime
  /** Takes the sessions of messages that may be meant: they can no longer be read, or patterns take too long in them. */
  readonly unread?: Set<SessionId>
}

/** A candidate, and where its body lies. */
export interface Located {
  readonly candidate: Candidate
  readonly where: Standing | undefined
}

export function located(db: Db, candidates: readonly Candidate[]): readonly Located[] {
  const known = new Map<SessionId, Standing | undefined>()
  return candidates.map((candidate) => {
    const { session } = candidate
    if (!known.has(session)) known.set(session, standingOf(db, session))
    return { candidate, where: known.get(session) }
  })
}

interface Glance {
  /** The newest, one more than are counted. */
  readonly rows: readonly number[]
  readonly titles: readonly SessionId[]
  readonly left: Left
}

const NOTHING_KNOWN: Glance = { rows: [], titles: [], left: { sessions: 0, bytes: 0 } }

/** What the index knows, all of one moment. */
function glance(
  db: Db,
  query: Query,
  { filter }: SearchOptions,
  more: readonly SessionId[],
  rows: readonly number[] | undefined,
): Glance {
  return {
    rows: rows ?? rowsOf(db, query, { limit: MOST_COUNTED + 1, ...(filter && { filter }) }),
    titles: titlesOf(db, query, { limit: PAGE, more, ...(filter && { filter }) }),
    left: leftOut(db, query, filter),
  }
}

type Total = Pick<Extract<SearchAnswer, { kind: 'found' }>, 'total' | 'total_is'>

function totalOf(query: Query, counted: number, found: number, isEnd: boolean): Total {
  if (query.patterns.length > 0) return { total: found, total_is: isEnd ? 'exact' : 'at_least' }
  return counted > MOST_COUNTED ? { total: MOST_COUNTED, total_is: 'at_least' } : { total: counted, total_is: 'exact' }
}
