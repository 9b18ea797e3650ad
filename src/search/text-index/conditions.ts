/** Translates the filters of a query into SQL conditions and ranges of row ids. */

import { cachedQuery } from '../../index/query-cache.ts'
import { ERROR, FIRST_DATED_ID, firstIdAt, IMAGE, ROLES } from '../../index/row-encoding.ts'
import { filterConditions, type SessionFilter } from '../../index/session-filter.ts'
import type { Db } from '../../lib/sqlite/own-database.ts'
import { prepareCached, prepareFirstColumn } from '../../lib/sqlite/statements.ts'
import { assertNever } from '../../model/error.ts'
import type { QueryFilter } from '../query/query.ts'

export interface SqlCondition {
  /** Never empty. */
  readonly sql: string
  readonly values: readonly (string | number)[]
}

export interface MessageConditions {
  /** Refers to the session as `t` and the message as `m`. */
  readonly session: SqlCondition
  readonly message: SqlCondition
  /** True for every session with rows that satisfy `message`. Meaningless for sessions that are not indexed. */
  readonly indexed: SqlCondition
  /** Conditions of which a message must satisfy one. Each has an index of its own and may match few rows. */
  readonly rare: readonly SqlCondition[]
  /** Range of ids: `from` is inclusive, `until` exclusive. */
  readonly from: number
  readonly until: number
}

export function messageConditions(filters: readonly QueryFilter[]): MessageConditions {
  const session: SqlCondition[] = []
  const message: SqlCondition[] = []
  const indexed: SqlCondition[] = []
  const rare: SqlCondition[] = []
  let from = 0
  let until = Number.MAX_SAFE_INTEGER
  for (const filter of filters) {
    const sign = filter.not ? 'NOT ' : ''
    switch (filter.kind) {
      case 'agent':
        session.push(anyCondition(sign, filter.values, 't.agent = ? COLLATE NOCASE'))
        break
      case 'project':
        session.push(anyCondition(sign, filter.values, "instr(lower(coalesce(t.project, '')), lower(?)) > 0"))
        break
      case 'session':
        session.push(
          anyCondition(
            sign,
            filter.values,
            '(substr(t.name, 1, length(?1)) = ?1 OR substr(t.native_id, 1, length(?1)) = ?1)',
          ),
        )
        break
      case 'model':
        session.push(
          anyCondition(
            sign,
            filter.values,
            `t.id IN (SELECT session_id FROM model_of WHERE model_id IN
          (SELECT id FROM word WHERE instr(lower(text), lower(?)) > 0))`,
          ),
        )
        break
      case 'sessions':
        session.push({
          sql: `${sign}(t.name IN (SELECT value FROM json_each(?)))`,
          values: [JSON.stringify(filter.ids)],
        })
        break
      case 'is':
      case 'tag':
        // The index does not contain annotations. `resolveAnnotationFilters` has already replaced these filters.
        session.push({ sql: `${sign}(0)`, values: [] })
        break
      case 'tool':
        message.push(anyCondition(sign, filter.values, `coalesce(m.tool, 0) IN (${TOOL_IDS})`))
        if (!filter.not)
          indexed.push(
            anyCondition('', filter.values, `t.id IN (SELECT session_id FROM tool_use WHERE tool_id IN (${TOOL_IDS}))`),
          )
        break
      case 'file':
        message.push(anyCondition(sign, filter.values, TOUCHES_FILE))
        if (!filter.not) rare.push(messagesTouching(filter.values))
        break
      case 'role':
        message.push({
          sql: `${sign}(m.kind & 7) IN (${filter.values.map((role) => ROLES.indexOf(role)).join(', ')})`,
          values: [],
        })
        break
      case 'has':
        message.push({
          sql: `${sign}(${kindFlagsOf(filter)
            .map((flag) => `m.kind & ${flag}`)
            .join(' OR ')})`,
          values: [],
        })
        if (!filter.not) rare.push({ sql: kindFlagsOf(filter).map(messagesWithFlag).join(' UNION '), values: [] })
        break
      case 'on': {
        const spans = filter.values.map((one) => [firstIdIn(one.from), firstIdAt(Date.parse(one.until))] as const)
        if (filter.not || spans.length > 1) {
          const any = spans.map(() => 'm.id >= ? AND m.id < ?').join(' OR ')
          message.push({ sql: `${sign}(${any})`, values: spans.flat() })
        }
        if (filter.not) break
        from = Math.max(from, Math.min(...spans.map(([low]) => low)))
        until = Math.min(until, Math.max(...spans.map(([, high]) => high)))
        break
      }
      case 'time': {
        const low = filter.from === undefined ? FIRST_DATED_ID : firstIdIn(filter.from)
        const high = filter.until === undefined ? Number.MAX_SAFE_INTEGER : firstIdAt(Date.parse(filter.until))
        if (filter.not) message.push({ sql: 'NOT (m.id >= ? AND m.id < ?)', values: [low, high] })
        else {
          from = Math.max(from, low)
          until = Math.min(until, high)
        }
        break
      }
      default:
        assertNever(filter)
    }
  }
  return {
    session: allConditions(session),
    message: allConditions(message),
    indexed: allConditions(indexed),
    rare,
    from,
    until,
  }
}

/** The first id of a period. Rows without a date are in none. */
const firstIdIn = (from: string): number => Math.max(FIRST_DATED_ID, firstIdAt(Date.parse(from)))

const TOOL_IDS = 'SELECT id FROM word WHERE text = ? COLLATE NOCASE'
const PATH_CONTAINS = 'instr(lower(y.path), lower(?)) > 0'
const TOUCHES_FILE = `EXISTS (SELECT 1 FROM touched x JOIN file y ON y.id = x.file_id
  WHERE x.session_id = m.session_id AND x.message_id = m.id AND ${PATH_CONTAINS})`

const messagesTouching = (names: readonly string[]): SqlCondition => ({
  sql: `SELECT x.message_id FROM file y CROSS JOIN touched x ON x.file_id = y.id WHERE ${names.map(() => PATH_CONTAINS).join(' OR ')}`,
  values: names,
})

/** Flags of the message kind for a `has:` filter. */
export const kindFlagsOf = ({ values }: Extract<QueryFilter, { readonly kind: 'has' }>): readonly number[] =>
  values.map((what) => (what === 'error' ? ERROR : IMAGE))

const messagesWithFlag = (flag: number): string => `SELECT id FROM message WHERE kind & ${flag}`

const allConditions = (parts: readonly SqlCondition[]): SqlCondition => ({
  sql: parts.length === 0 ? '1' : parts.map(({ sql }) => sql).join(' AND '),
  values: parts.flatMap(({ values }) => values),
})

const anyCondition = (sign: string, values: readonly string[], sql: string): SqlCondition => {
  const placeholders = sql.split('?1').length - 1
  const plain = sql.replaceAll('?1', '?')
  return {
    sql: `${sign}(${values.map(() => plain).join(' OR ')})`,
    values: values.flatMap((value) => Array.from({ length: Math.max(1, placeholders) }, () => value)),
  }
}

/** `low` is inclusive, `high` exclusive. */
export interface RowRange {
  readonly low: number
  readonly high: number
}

export interface RowRanges {
  /** Newest first, without overlap. */
  readonly ranges: readonly RowRange[]
  /** Session ids as JSON; absent if all sessions are included. */
  readonly sessions?: string
}

export const ALL_ROWS: RowRange = { low: 0, high: Number.MAX_SAFE_INTEGER }

/** Each range costs a query, so the closest ones are merged. */
const MAX_RANGES = 12
/** Above this, rows are not looked up individually. */
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

/** Returns undefined if the rows are so frequent that looking them up gains nothing. */
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

/** Newest first. Closes the narrowest gaps until there are few enough ranges. */
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
