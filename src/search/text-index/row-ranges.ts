/** Which stretches of row ids a search has to look through: those of the sessions that its filters are about. */

import { cachedQuery } from '../../index/read/query-cache.ts'
import { filterConditions, type SessionFilter } from '../../index/read/session-filter.ts'
import { prepareCached, prepareFirstColumn } from '../../index/read/statements.ts'
import type { Db } from '../../lib/sqlite/own-database.ts'
import type { MessageConditions, SqlCondition } from './filter-conditions.ts'

/** Not before `low`, and before `high`. */
export interface RowRange {
  readonly low: number
  readonly high: number
}

export interface RowRanges {
  /** Newest first, apart from each other. */
  readonly ranges: readonly RowRange[]
  /** Ids as JSON; nothing when every session is meant. */
  readonly sessions?: string
}

export const ALL_ROWS: RowRange = { low: 0, high: Number.MAX_SAFE_INTEGER }

/** Each costs a question of its own: those that lie closest are taken together. */
const MAX_RANGES = 12
/** Rows of a rare kind are asked for one by one up to this many. */
const MAX_RARE_ROWS = 4000

export function rowRangesOf(db: Db, conditions: MessageConditions, filter: SessionFilter = {}): RowRanges {
  const filterSql = filterConditions({ kind: 'any', ...filter })
  const where = joinConditions(filterSql, conditions.session, conditions.indexed)
  const within: RowRange = { low: conditions.from, high: conditions.until }
  const bySession: RowRanges = where.sql === '1' ? { ranges: [ALL_ROWS] } : rangesOfSessions(db, where)
  let ranges = clipRanges(bySession.ranges, within)
  for (const rare of conditions.rare) {
    const rows = rangesOfRareRows(db, rare)
    if (rows) ranges = ranges.flatMap((range) => clipRanges(rows, range))
  }
  return { ...bySession, ranges }
}

function rangesOfSessions(db: Db, { sql, values }: SqlCondition): RowRanges {
  return cachedQuery(db, `sessions ${sql} ${JSON.stringify(values)}`, () => {
    const matching = prepareCached(
      db,
      `SELECT t.id, t.first_row, t.last_row FROM session t WHERE t.first_row IS NOT NULL AND ${sql}`,
    ).all(...values) as { id: number; first_row: number; last_row: number }[]
    const all = prepareFirstColumn(db, 'SELECT count(*) FROM session t WHERE t.first_row IS NOT NULL').get() as number
    if (matching.length === all) return { ranges: [ALL_ROWS] }
    const ranges = matching.map(({ first_row, last_row }) => ({ low: first_row, high: last_row + 1 }))
    return { ranges: mergeRanges(ranges), sessions: JSON.stringify(matching.map(({ id }) => id)) }
  })
}

/** Nothing when there are so many that they are met soon anyway. */
function rangesOfRareRows(db: Db, { sql, values }: SqlCondition): readonly RowRange[] | undefined {
  return cachedQuery(db, `rare ${sql} ${JSON.stringify(values)}`, () => {
    const rows = prepareFirstColumn(db, `${sql} LIMIT ${MAX_RARE_ROWS + 1}`).all(...values) as number[]
    return rows.length > MAX_RARE_ROWS ? undefined : mergeRanges(rows.map((id) => ({ low: id, high: id + 1 })))
  })
}

const joinConditions = (...parts: readonly SqlCondition[]): SqlCondition => {
  const real = parts.filter(({ sql }) => sql !== '1')
  return {
    sql: real.length === 0 ? '1' : real.map(({ sql }) => sql).join(' AND '),
    values: real.flatMap(({ values }) => values),
  }
}

const clipRanges = (ranges: readonly RowRange[], { low, high }: RowRange): readonly RowRange[] =>
  ranges
    .map((one) => ({ low: Math.max(low, one.low), high: Math.min(high, one.high) }))
    .filter((one) => one.low < one.high)

/** Newest first; the narrowest gaps are closed until there are few enough. */
function mergeRanges(ranges: readonly RowRange[]): readonly RowRange[] {
  const separate: RowRange[] = []
  for (const range of ranges.toSorted((a, b) => b.high - a.high)) {
    const last = separate.at(-1)
    if (last && range.high >= last.low)
      separate[separate.length - 1] = { low: Math.min(last.low, range.low), high: last.high }
    else separate.push(range)
  }
  if (separate.length <= MAX_RANGES) return separate
  const gaps = separate.slice(1).map((range, at) => (separate[at]?.low ?? 0) - range.high)
  const minGap = gaps.toSorted((a, b) => b - a)[MAX_RANGES - 2] ?? 0
  const merged: RowRange[] = []
  let remaining = MAX_RANGES - 1
  for (const [at, range] of separate.entries()) {
    const last = merged.at(-1)
    const gap = gaps[at - 1] ?? 0
    const isKept = gap >= minGap && remaining > 0
    if (!last) merged.push(range)
    else if (isKept) {
      merged.push(range)
      remaining--
    } else merged[merged.length - 1] = { low: range.low, high: last.high }
  }
  return merged
}
