/** Which stretches of row ids a search has to look through: those of the sessions that its filters are about. */
import { conditionsOf, type SessionFilter } from '../get/filter.ts'
import { remembered } from '../get/remembered.ts'
import { plucked, prepared } from '../get/statements.ts'
import type { Db } from '../open.ts'
import type { MessageConditions, Sql } from './conditions.ts'

/** Not before `low`, and before `high`. */
export interface Range {
  readonly low: number
  readonly high: number
}

export interface Reach {
  /** Newest first, apart from each other. */
  readonly ranges: readonly Range[]
  /** Ids as JSON; nothing when every session is meant. */
  readonly sessions?: string
}

export const EVERYTHING: Range = { low: 0, high: Number.MAX_SAFE_INTEGER }

/** Each costs a question of its own: those that lie closest are taken together. */
const MOST_RANGES = 12
/** Rows of a rare kind are asked for one by one up to this many. */
const MOST_RARE = 4000

export function reachOf(db: Db, conditions: MessageConditions, filter: SessionFilter = {}): Reach {
  const given = conditionsOf({ kind: 'any', ...filter })
  const where = allOf(given, conditions.session, conditions.indexed)
  const within: Range = { low: conditions.from, high: conditions.until }
  const about: Reach = where.sql === '1' ? { ranges: [EVERYTHING] } : sessionsMeant(db, where)
  let ranges = clipped(about.ranges, within)
  for (const rare of conditions.rare) {
    const rows = rareRows(db, rare)
    if (rows) ranges = ranges.flatMap((range) => clipped(rows, range))
  }
  return { ...about, ranges }
}

function sessionsMeant(db: Db, { sql, values }: Sql): Reach {
  return remembered(db, `sessions ${sql} ${JSON.stringify(values)}`, () => {
    const meant = prepared(
      db,
      `SELECT t.id, t.first_row, t.last_row FROM session t WHERE t.first_row IS NOT NULL AND ${sql}`,
    ).all(...values) as { id: number; first_row: number; last_row: number }[]
    const all = plucked(db, 'SELECT count(*) FROM session t WHERE t.first_row IS NOT NULL').get() as number
    if (meant.length === all) return { ranges: [EVERYTHING] }
    const ranges = meant.map(({ first_row, last_row }) => ({ low: first_row, high: last_row + 1 }))
    return { ranges: joined(ranges), sessions: JSON.stringify(meant.map(({ id }) => id)) }
  })
}

/** Nothing when there are so many that they are met soon anyway. */
function rareRows(db: Db, { sql, values }: Sql): readonly Range[] | undefined {
  return remembered(db, `rare ${sql} ${JSON.stringify(values)}`, () => {
    const rows = plucked(db, `${sql} LIMIT ${MOST_RARE + 1}`).all(...values) as number[]
    return rows.length > MOST_RARE ? undefined : joined(rows.map((id) => ({ low: id, high: id + 1 })))
  })
}

const allOf = (...parts: readonly Sql[]): Sql => {
  const real = parts.filter(({ sql }) => sql !== '1')
  return {
    sql: real.length === 0 ? '1' : real.map(({ sql }) => sql).join(' AND '),
    values: real.flatMap(({ values }) => values),
  }
}

const clipped = (ranges: readonly Range[], { low, high }: Range): readonly Range[] =>
  ranges
    .map((one) => ({ low: Math.max(low, one.low), high: Math.min(high, one.high) }))
    .filter((one) => one.low < one.high)

/** Newest first; the narrowest gaps are closed until there are few enough. */
function joined(ranges: readonly Range[]): readonly Range[] {
  const apart: Range[] = []
  for (const range of ranges.toSorted((a, b) => b.high - a.high)) {
    const last = apart.at(-1)
    if (last && range.high >= last.low)
      apart[apart.length - 1] = { low: Math.min(last.low, range.low), high: last.high }
    else apart.push(range)
  }
  if (apart.length <= MOST_RANGES) return apart
  const gaps = apart.slice(1).map((range, at) => (apart[at]?.low ?? 0) - range.high)
  const least = gaps.toSorted((a, b) => b - a)[MOST_RANGES - 2] ?? 0
  const few: Range[] = []
  let left = MOST_RANGES - 1
  for (const [at, range] of apart.entries()) {
    const last = few.at(-1)
    const gap = gaps[at - 1] ?? 0
    const isKept = gap >= least && left > 0
    if (!last) few.push(range)
    else if (isKept) {
      few.push(range)
      left--
    } else few[few.length - 1] = { low: range.low, high: last.high }
  }
  return few
}
