/** Finds the rows that match a query in the text index, newest first. */

import { FIRST_MESSAGE_ID, ROLES } from '../../index/row-encoding.ts'
import { filterConditions, type SessionFilter } from '../../index/session-filter.ts'
import { ERROR_TRAIT, IMAGE_TRAIT, roleOfTraits } from '../../index/text-segments.ts'
import type { Db } from '../../lib/sqlite/own-database.ts'
import { prepareFirstColumn } from '../../lib/sqlite/statements.ts'
import type { ParsedQuery, QueryFilter } from '../query/query.ts'
import { messageConditions, type RowRange, rowRangesOf, type SqlCondition } from './conditions.ts'
import { matchExcluded, matchSegment, planOf, type QueryPlan, type SegmentMatches } from './query-plan.ts'
import { type LoadedSegment, loadSegment, readSegments, removedTest } from './segment-reader.ts'

export interface RowSearchOptions {
  readonly filter?: SessionFilter | undefined
  /** Only rows before this one, the last of the previous page. */
  readonly before?: number | undefined
  readonly limit: number
}

export interface FoundRows {
  /** Newest first. */
  readonly rows: readonly number[]
  /** Rows that match only if their text does: the index does not know the order of words. */
  readonly doubtful: ReadonlySet<number>
}

export function findRows(db: Db, query: ParsedQuery, options: RowSearchOptions): FoundRows {
  const plan = planOf(query)
  if (plan.must) return findMatching(db, query, plan, options)
  const { where, ranges } = searchConditions(db, query, options)
  const visibleWhere = isAboutMeta(query) ? where : { ...where, sql: `m.kind & 7 <> ${META_ROLE} AND ${where.sql}` }
  return findNotMatching(db, plan, visibleWhere, ranges, options.limit)
}

interface SearchConditions {
  readonly where: SqlCondition
  readonly ranges: readonly RowRange[]
}

export function searchConditions(
  db: Db,
  query: ParsedQuery,
  { filter, before = Number.MAX_SAFE_INTEGER }: Pick<RowSearchOptions, 'filter' | 'before'>,
  { withoutTraits = false } = {},
): SearchConditions {
  const conditions = messageConditions(query.filters)
  const { message } = withoutTraits ? messageConditions(query.filters.filter((one) => !isAboutTraits(one))) : conditions
  const { ranges: all, sessions } = rowRangesOf(db, conditions, filter)
  const ranges = all
    .map(({ low, high }) => ({ low, high: Math.min(high, before) }))
    .filter(({ low, high }) => low < high)
  const { sql, values } = message
  if (sessions === undefined) return { where: message, ranges }
  // The + prevents SQLite from using the index on sessions, which would lose the order of ids.
  const where: SqlCondition = {
    sql: `${sql} AND +m.session_id IN (SELECT value FROM json_each(?))`,
    values: [...values, sessions],
  }
  return { where, ranges }
}

/** Newest first. Segments are searched until no other can contain a newer row. */
function findMatching(db: Db, query: ParsedQuery, plan: QueryPlan, options: RowSearchOptions): FoundRows {
  const { limit } = options
  const { where, ranges } = searchConditions(db, query, options, { withoutTraits: true })
  const hasTraits = traitTestOf(query.filters)
  let rows: number[] = []
  const doubtful = new Set<number>()
  const isRemoved = removedTest(db)
  for (const row of readSegments(db)) {
    if (rows.length >= limit && (rows[limit - 1] ?? 0) > row.high) break
    if (!ranges.some(({ low, high }) => row.low < high && row.high >= low)) continue
    const segment = loadSegment(db, row)
    const found = rowsOf(segment, matchSegment(db, segment, plan), ranges, isRemoved, hasTraits)
    const passed = filterRows(db, found.rows, where, limit)
    if (passed.length === 0) continue
    for (const one of passed) if (found.doubtful.has(one)) doubtful.add(one)
    rows = mergeNewest(rows, passed, limit)
  }
  return { rows, doubtful }
}

/** Newest first. */
function rowsOf(
  segment: LoadedSegment,
  { sure, maybe }: SegmentMatches,
  ranges: readonly RowRange[],
  isRemoved: ReturnType<typeof removedTest>,
  hasTraits: TraitTest = () => true,
): FoundRows {
  const rows: number[] = []
  const doubtful = new Set<number>()
  let nextSure = 0
  for (const message of maybe) {
    const isSure = sure === maybe || sure[nextSure] === message
    if (isSure) nextSure++
    const row = segment.rows[message] ?? 0
    if (row === 0 || isRemoved?.(row, segment.row.id) || !isInRanges(row, ranges)) continue
    if (!hasTraits(segment.traits[message] ?? 0)) continue
    rows.push(row)
    if (!isSure) doubtful.add(row)
  }
  rows.sort((a, b) => b - a)
  return { rows, doubtful }
}

type TraitTest = (traits: number) => boolean

const isAboutTraits = ({ kind }: QueryFilter): boolean => kind === 'role' || kind === 'has'

/** The filters that the documents of a segment answer. */
export function traitTestOf(filters: readonly QueryFilter[]): TraitTest {
  const tests = filters.flatMap((filter): TraitTest | [] => {
    if (filter.kind === 'role') {
      const roles = filter.values.reduce((bits, role) => bits | (1 << ROLES.indexOf(role)), 0)
      return (traits) => ((roles & (1 << roleOfTraits(traits))) !== 0) !== filter.not
    }
    if (filter.kind !== 'has') return []
    const wanted = filter.values.reduce((bits, what) => bits | (what === 'error' ? ERROR_TRAIT : IMAGE_TRAIT), 0)
    return (traits) => ((traits & wanted) !== 0) !== filter.not
  })
  return (traits) => tests.every((test) => test(traits))
}

export const isInRanges = (row: number, ranges: readonly RowRange[]): boolean => {
  for (const { low, high } of ranges) if (row >= low && row < high) return true
  return false
}

/** Rows checked by one statement. */
const ROWS_PER_CHECK = 1000

/** The first rows that satisfy the conditions. */
export function filterRows(
  db: Db,
  rows: readonly number[],
  { sql, values }: SqlCondition,
  limit: number,
): readonly number[] {
  if (sql === '1') return rows
  const statement = prepareFirstColumn(
    db,
    `SELECT m.id FROM json_each(?) j CROSS JOIN message m ON m.id = j.value WHERE ${sql}`,
  )
  const passed: number[] = []
  for (let at = 0; at < rows.length && passed.length < limit; at += ROWS_PER_CHECK)
    for (const row of statement.all(JSON.stringify(rows.slice(at, at + ROWS_PER_CHECK)), ...values) as number[])
      passed.push(row)
  return passed
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

const META_ROLE = ROLES.indexOf('meta')

/** Meta messages are returned only on request. */
const isAboutMeta = ({ filters }: ParsedQuery): boolean =>
  filters.some((filter) => filter.kind === 'role' && !filter.not && filter.values.includes('meta'))

/** Rows that satisfy the conditions and match no excluded term. */
function findNotMatching(
  db: Db,
  plan: QueryPlan,
  where: SqlCondition,
  ranges: readonly RowRange[],
  limit: number,
): FoundRows {
  const excluded = excludedRows(db, plan)
  const rows: number[] = []
  const doubtful = new Set<number>()
  const statement = prepareFirstColumn(
    db,
    `SELECT m.id FROM message m WHERE m.id >= ? AND m.id < ? AND m.kind & 384 = 0 AND ${where.sql} ORDER BY m.id DESC LIMIT ?`,
  )
  for (const { low, high: end } of ranges)
    for (let high = end; rows.length < limit; ) {
      const page = statement.all(Math.max(low, FIRST_MESSAGE_ID), high, ...where.values, limit) as number[]
      const last = page.at(-1)
      if (last === undefined) break
      const test = excluded(last, page[0] ?? 0)
      for (const row of page) {
        const found = test(row)
        if (found === 'sure') continue
        rows.push(row)
        if (found === 'maybe') doubtful.add(row)
      }
      high = last
    }
  return { rows: rows.slice(0, limit), doubtful }
}

type ExclusionTest = (row: number) => 'sure' | 'maybe' | undefined

/** Searches each segment for excluded terms when rows of its range are first needed. */
function excludedRows(db: Db, plan: QueryPlan): (low: number, high: number) => ExclusionTest {
  if (plan.mustNot.length === 0) return () => () => undefined
  const rows = new Set<number>()
  const doubtful = new Set<number>()
  const remaining = new Set(readSegments(db))
  const isRemoved = removedTest(db)
  return (low, high) => {
    for (const row of remaining) {
      if (row.low > high || row.high < low) continue
      remaining.delete(row)
      const segment = loadSegment(db, row)
      const found = rowsOf(
        segment,
        matchExcluded(db, segment, plan),
        [{ low: 0, high: Number.MAX_SAFE_INTEGER }],
        isRemoved,
      )
      for (const one of found.rows) rows.add(one)
      for (const one of found.doubtful) doubtful.add(one)
    }
    return (row) => (doubtful.has(row) ? 'maybe' : rows.has(row) ? 'sure' : undefined)
  }
}

/** Conditions on sessions, from the filter and from the query. */
export function sessionConditions(query: ParsedQuery, filter: SessionFilter = {}): SqlCondition {
  const filterSql = filterConditions({ kind: 'any', ...filter })
  const querySql = messageConditions(query.filters).session
  return { sql: `${filterSql.sql} AND ${querySql.sql}`, values: [...filterSql.values, ...querySql.values] }
}
