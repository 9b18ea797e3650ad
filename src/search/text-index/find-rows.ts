/** Finds, reads and counts the messages that match a query in the text index, newest first. */
import { MESSAGE_COLUMNS, type MessageRow, toIndexedMessage } from '../../index/message-window.ts'
import { cachedQuery } from '../../index/query-cache.ts'
import type { IndexedMessage } from '../../index/records.ts'
import type { SessionFilter } from '../../index/session-filter.ts'
import type { Db } from '../../lib/sqlite/own-database.ts'
import { prepareCached } from '../../lib/sqlite/statements.ts'
import type { ParsedQuery, QueryFilter } from '../query/query.ts'
import { type SelectionOptions, selectMessages, sessionConditions } from './conditions.ts'
import { MAYBE, type Matches, matchExcluded, matchSegment, planOf, type QueryPlan, SURE } from './query-plan.ts'
import { type LoadedSegment, loadSegment, readSegments } from './segment-reader.ts'

export interface RowSearchOptions extends SelectionOptions {
  readonly limit: number
}

export interface FoundRows {
  /** Newest first. */
  readonly rows: readonly number[]
  /** Rows that match only if their text does: the index does not know the order of words. */
  readonly doubtful: ReadonlySet<number>
}

export const findRows = (db: Db, query: ParsedQuery, options: RowSearchOptions): FoundRows => {
  const page = new RowPage(options.limit)
  visitMatches(db, query, options, (segment, matches) => {
    if (page.isBefore(segment)) return false
    page.add(segment, matches)
    return true
  })
  return page
}

/** Only those that match if their text does. */
export const findDoubtfulRows = (db: Db, query: ParsedQuery, options: RowSearchOptions): FoundRows => {
  const page = new RowPage(options.limit)
  visitMatches(db, query, options, (segment, matches) => {
    if (page.isBefore(segment)) return false
    for (let at = 0; at < matches.length; at++) if (matches[at] === SURE) matches[at] = 0
    page.add(segment, matches)
    return true
  })
  return page
}

export interface RowCount {
  /** Rows that match for sure. */
  readonly sure: number
  /** Rows that match only if their text does. */
  readonly doubtful: number
}

/**
 * Finds a page of rows and counts all.
 *
 * @param maxCount counting ends at the segment in which it is reached
 */
export function findAndCountRows(
  db: Db,
  query: ParsedQuery,
  { limit, before = Number.MAX_SAFE_INTEGER, filter }: RowSearchOptions,
  maxCount: number,
): { readonly found: FoundRows; readonly count: RowCount } {
  const page = new RowPage(limit, before)
  let sure = 0
  let doubtful = 0
  visitMatches(db, query, { filter }, (segment, matches) => {
    const isPageComplete = page.isBefore(segment)
    if (!isPageComplete) page.add(segment, matches)
    else if (sure + doubtful >= maxCount) return false
    if (sure + doubtful >= maxCount) return true
    for (let at = 0; at < matches.length; at++) {
      const certainty = matches[at]
      if (certainty === SURE) sure++
      else if (certainty === MAYBE) doubtful++
    }
    return true
  })
  return { found: page, count: { sure, doubtful } }
}

/** Collects the newest rows. */
class RowPage implements FoundRows {
  rows: readonly number[] = []
  readonly doubtful = new Set<number>()
  readonly #limit: number
  readonly #before: number

  constructor(limit: number, before = Number.MAX_SAFE_INTEGER) {
    this.#limit = limit
    this.#before = before
  }

  /** Whether all rows of the page are newer than those of a segment. */
  isBefore({ row }: LoadedSegment): boolean {
    return this.rows.length >= this.#limit && (this.rows[this.#limit - 1] ?? 0) > row.high
  }

  add({ messages: { rows } }: LoadedSegment, matches: Uint8Array): void {
    const oldest = this.rows.length >= this.#limit ? (this.rows[this.#limit - 1] ?? 0) : 0
    const found: number[] = []
    for (let message = 0; message < matches.length && found.length < this.#limit; message++) {
      const certainty = matches[message] ?? 0
      if (certainty === 0) continue
      const row = rows[message] ?? 0
      if (row < oldest) break
      if (row >= this.#before) continue
      found.push(row)
      if (certainty === MAYBE) this.doubtful.add(row)
    }
    if (found.length > 0) this.rows = mergeNewest(this.rows, found, this.#limit)
  }
}

/** Visits the segments with a match, the one with the newest row first, until `visit` returns false. */
function visitMatches(
  db: Db,
  query: ParsedQuery,
  options: SelectionOptions,
  visit: (segment: LoadedSegment, matches: Uint8Array) => boolean,
): void {
  const plan = planOf(query)
  const filters = plan.must || isAboutMeta(query) ? query.filters : [...query.filters, NOT_META]
  const selection = selectMessages(db, filters, options)
  for (const row of readSegments(db)) {
    if (!selection.mayContain(row)) continue
    const segment = loadSegment(db, row)
    const matches = plan.must ? matchSegment(db, segment, plan) : allBut(db, segment, plan)
    if (!matches) continue
    selection.restrict(segment, matches)
    if (!visit(segment, matches)) return
  }
}

/** All messages but those that match an excluded term. */
function allBut(db: Db, segment: LoadedSegment, plan: QueryPlan): Matches {
  const excluded = plan.mustNot.length > 0 ? matchExcluded(db, segment, plan) : undefined
  const matches = new Uint8Array(segment.messages.count).fill(SURE)
  if (excluded) for (let at = 0; at < matches.length; at++) matches[at] = SURE - (excluded[at] ?? 0)
  return matches
}

function mergeNewest(a: readonly number[], b: readonly number[], limit: number): number[] {
  const merged: number[] = []
  for (let i = 0, j = 0; merged.length < limit && (i < a.length || j < b.length); ) {
    const left = a[i] ?? -1
    const right = b[j] ?? -1
    merged.push(Math.max(left, right))
    if (left >= right) i++
    if (right >= left) j++
  }
  return merged
}

/** Without words, meta messages are returned only on request. */
const NOT_META: QueryFilter = { kind: 'role', values: ['meta'], not: true }

const isAboutMeta = ({ filters }: ParsedQuery): boolean =>
  filters.some((filter) => filter.kind === 'role' && !filter.not && filter.values.includes('meta'))

/** In the order of the ids. Leaves out rows that were deleted since, because their log was read again. */
export function readCandidates(db: Db, ids: readonly number[]): readonly IndexedMessage[] {
  const row = prepareCached(
    db,
    `SELECT ${MESSAGE_COLUMNS} FROM message m CROSS JOIN session t ON t.id = m.session_id WHERE m.id = ?`,
  )
  return ids.flatMap((id) => {
    const found = row.get(id) as MessageRow | undefined
    return found ? toIndexedMessage(found) : []
  })
}

/** What a search may miss because it is not indexed yet. */
export interface Unindexed {
  readonly sessions: number
  readonly bytes: number
}

export function countUnindexed(db: Db, query: ParsedQuery, filter: SessionFilter = {}): Unindexed {
  const { sql, values } = sessionConditions(query.filters, filter)
  const text = `SELECT count(*) AS sessions, coalesce(sum(max(0, s.size - t.read_bytes)), 0) AS bytes
    FROM session t JOIN source s ON s.id = t.source_id WHERE ${sql} AND t.indexed = 0`
  return cachedQuery(db, `${text} ${JSON.stringify(values)}`, () => prepareCached(db, text).get(...values) as Unindexed)
}
