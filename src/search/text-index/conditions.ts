/** Translates the filters of a query: into SQL conditions on sessions, and into tests of messages in memory. */

import { cachedQuery } from '../../index/query-cache.ts'
import { FIRST_DATED_ID, firstIdAt, ROLES } from '../../index/row-encoding.ts'
import { ERROR_TRAIT, IMAGE_TRAIT, roleOfTraits } from '../../index/segment-documents.ts'
import { filterConditions, type SessionFilter } from '../../index/session-filter.ts'
import type { SegmentRow } from '../../index/text-segments.ts'
import type { Db } from '../../lib/sqlite/own-database.ts'
import { getRows, getValue, getValues } from '../../lib/sqlite/statements.ts'
import { assertNever } from '../../model/error.ts'
import type { QueryFilter } from '../query/query.ts'
import { countUntil, hideRemoved, type LoadedSegment, readRemovedRows, type SegmentMessages } from './segment-reader.ts'

export interface SqlCondition {
  /** Never empty. Refers to the session as `t`. */
  readonly sql: string
  readonly values: readonly (string | number)[]
}

/** `low` is inclusive, `high` exclusive. */
export interface RowRange {
  readonly low: number
  readonly high: number
}

/** The messages that the filters let through. */
export interface MessageSelection {
  readonly mayContain: (segment: SegmentRow) => boolean
  /** Sets the elements of all other messages to 0. */
  readonly restrict: (segment: LoadedSegment, matches: Uint8Array) => void
}

export interface SelectionOptions {
  readonly filter?: SessionFilter | undefined
  /** Only rows before this one, the last of the previous page. */
  readonly before?: number | undefined
}

export function selectMessages(
  db: Db,
  filters: readonly QueryFilter[],
  { filter, before = Number.MAX_SAFE_INTEGER }: SelectionOptions,
): MessageSelection {
  const conditions = filters.flatMap((one) => messageConditionsOf(db, one))
  const { ranges: all, ids } = sessionsOf(db, filters, filter)
  let ranges = clipRanges(all, { low: 0, high: before })
  for (const one of conditions)
    if (one.kind === 'ranges') ranges = ranges.flatMap((range) => clipRanges(one.values, range))
  const removed = readRemovedRows(db)
  const wanted = filters.flatMap((one) => (one.kind === 'has' && !one.not ? traitsWanted(one) : []))
  return {
    mayContain: ({ low, high, traits }) =>
      wanted.every((some) => (traits & some) !== 0) && ranges.some((range) => low < range.high && high >= range.low),
    restrict(segment, matches) {
      const { messages } = segment
      const { low, high } = segment.row
      if (!ranges.some((range) => range.low <= low && range.high > high))
        keepRows(messages, matches, (row) => isInRanges(row, ranges))
      if (ids) keepWhere(messages.sessions, matches, ids)
      for (const one of conditions) if (one.kind === 'restriction') one.restrict(messages, matches)
      hideRemoved(removed, segment, matches)
    },
  }
}

function keepRows({ rows }: SegmentMessages, matches: Uint8Array, isKept: (row: number) => boolean): void {
  for (let at = 0; at < rows.length; at++) if (matches[at] !== 0 && !isKept(rows[at] ?? 0)) matches[at] = 0
}

/** @param kept 1 for each value to keep, by value; values beyond its end are not kept */
function keepWhere(values: Uint32Array | Uint8Array, matches: Uint8Array, kept: Uint8Array): void {
  for (let at = 0; at < values.length; at++)
    if (matches[at] !== 0 && (kept[values[at] ?? 0] ?? 0) === 0) matches[at] = 0
}

/** Conditions on sessions, from the filter and from the query. */
export function sessionConditions(filters: readonly QueryFilter[], filter: SessionFilter = {}): SqlCondition {
  const parts = [filterConditions({ kind: 'any', ...filter }), ...filters.flatMap(sessionConditionOf)]
  const real = parts.filter(({ sql }) => sql !== '1')
  return {
    sql: real.length === 0 ? '1' : real.map(({ sql }) => sql).join(' AND '),
    values: real.flatMap(({ values }) => values),
  }
}

function sessionConditionOf(filter: QueryFilter): SqlCondition | [] {
  const sign = filter.not ? 'NOT ' : ''
  switch (filter.kind) {
    case 'agent':
      return anyCondition(sign, filter.values, 't.agent = ? COLLATE NOCASE')
    case 'project':
      return anyCondition(sign, filter.values, "instr(lower(coalesce(t.project, '')), lower(?)) > 0")
    case 'session':
      return anyCondition(
        sign,
        filter.values,
        '(substr(t.name, 1, length(?1)) = ?1 OR substr(t.native_id, 1, length(?1)) = ?1)',
      )
    case 'model':
      return anyCondition(
        sign,
        filter.values,
        `t.id IN (SELECT session_id FROM model_of WHERE model_id IN
          (SELECT id FROM word WHERE instr(lower(text), lower(?)) > 0))`,
      )
    case 'sessions':
      return { sql: `${sign}(t.name IN (SELECT value FROM json_each(?)))`, values: [JSON.stringify(filter.ids)] }
    case 'is':
    case 'tag':
      // The index does not contain annotations. `resolveAnnotationFilters` has already replaced these filters.
      return { sql: `${sign}(0)`, values: [] }
    default:
      return []
  }
}

const anyCondition = (sign: string, values: readonly string[], sql: string): SqlCondition => {
  const placeholders = sql.split('?1').length - 1
  const plain = sql.replaceAll('?1', '?')
  return {
    sql: `${sign}(${values.map(() => plain).join(' OR ')})`,
    values: values.flatMap((value) => Array.from({ length: Math.max(1, placeholders) }, () => value)),
  }
}

interface MatchingSessions {
  readonly ranges: readonly RowRange[]
  /** 1 for each session that matches, by id. Absent if all do. */
  readonly ids?: Uint8Array
}

const ALL_ROWS: RowRange = { low: 0, high: Number.MAX_SAFE_INTEGER }

function sessionsOf(db: Db, filters: readonly QueryFilter[], filter: SessionFilter | undefined): MatchingSessions {
  const { sql, values } = sessionConditions(filters, filter)
  if (sql === '1') return { ranges: [ALL_ROWS] }
  return cachedQuery(db, `sessions ${sql} ${JSON.stringify(values)}`, () => {
    const matching = getRows<{ id: number; first_row: number; last_row: number }>(
      db,
      `SELECT t.id, t.first_row, t.last_row FROM session t WHERE t.first_row IS NOT NULL AND ${sql}`,
      ...values,
    )
    const all = getValue<number>(db, 'SELECT count(*) FROM session t WHERE t.first_row IS NOT NULL')
    if (matching.length === all) return { ranges: [ALL_ROWS] }
    const ranges = matching.map(({ first_row, last_row }) => ({ low: first_row, high: last_row + 1 }))
    const ids = new Uint8Array(matching.reduce((most, { id }) => Math.max(most, id), 0) + 1)
    for (const { id } of matching) ids[id] = 1
    return { ranges: mergeRanges(ranges), ids }
  })
}

type MessageCondition =
  | { readonly kind: 'ranges'; readonly values: readonly RowRange[] }
  | { readonly kind: 'restriction'; readonly restrict: (messages: SegmentMessages, matches: Uint8Array) => void }

/** Several conditions must all hold. */
function messageConditionsOf(db: Db, filter: QueryFilter): readonly MessageCondition[] {
  switch (filter.kind) {
    case 'tool': {
      const tools = new Set(
        filter.values.flatMap((name) =>
          getValues<number>(db, 'SELECT id FROM word WHERE text = ? COLLATE NOCASE', name),
        ),
      )
      if (tools.size === 0) return filter.not ? [] : [{ kind: 'ranges', values: [] }]
      const restrict = ({ tools: used }: SegmentMessages, matches: Uint8Array): void => {
        for (let at = 0; at < used.length; at++)
          if (matches[at] !== 0 && tools.has(used[at] ?? 0) === filter.not) matches[at] = 0
      }
      return [{ kind: 'restriction', restrict }]
    }
    case 'role': {
      const roles = filter.values.reduce((bits, role) => bits | (1 << ROLES.indexOf(role)), 0)
      return [onTraits((traits) => ((roles >> roleOfTraits(traits)) & 1) !== Number(filter.not))]
    }
    case 'has': {
      const wanted = traitsWanted(filter)
      return [onTraits((traits) => ((traits & wanted) !== 0) !== filter.not)]
    }
    case 'file': {
      const rows = rowsTouching(db, filter.values)
      const restrict = (messages: SegmentMessages, matches: Uint8Array): void =>
        keepAmong(messages, matches, rows, !filter.not)
      const condition: MessageCondition = { kind: 'restriction', restrict }
      return filter.not ? [condition] : [{ kind: 'ranges', values: rangesAround(rows) }, condition]
    }
    case 'on':
      return inSpans(
        filter.values.map((one) => ({ low: firstIdIn(one.from), high: firstIdAt(Date.parse(one.until)) })),
        filter.not,
      )
    case 'time': {
      const low = filter.from === undefined ? FIRST_DATED_ID : firstIdIn(filter.from)
      const high = filter.until === undefined ? Number.MAX_SAFE_INTEGER : firstIdAt(Date.parse(filter.until))
      return inSpans([{ low, high }], filter.not)
    }
    case 'agent':
    case 'project':
    case 'session':
    case 'model':
    case 'sessions':
    case 'is':
    case 'tag':
      return []
    default:
      return assertNever(filter)
  }
}

const traitsWanted = ({ values }: Extract<QueryFilter, { readonly kind: 'has' }>): number =>
  values.reduce((bits, what) => bits | (what === 'error' ? ERROR_TRAIT : IMAGE_TRAIT), 0)

function onTraits(test: (traits: number) => boolean): MessageCondition {
  const kept = Uint8Array.from({ length: 256 }, (_, traits) => (test(traits) ? 1 : 0))
  return { kind: 'restriction', restrict: ({ traits }, matches) => keepWhere(traits, matches, kept) }
}

const onRow = (isKept: (row: number) => boolean): MessageCondition => ({
  kind: 'restriction',
  restrict: (messages, matches) => keepRows(messages, matches, isKept),
})

/** The first id of a period. Rows without a date are in none. */
const firstIdIn = (from: string): number => Math.max(FIRST_DATED_ID, firstIdAt(Date.parse(from)))

function inSpans(spans: readonly RowRange[], not: boolean): readonly MessageCondition[] {
  return not ? [onRow((row) => !isInRanges(row, spans))] : [{ kind: 'ranges', values: separateRanges(spans) }]
}

/** Rows of messages that touched a file whose path contains one of the texts, ascending. */
function rowsTouching(db: Db, texts: readonly string[]): Float64Array {
  return cachedQuery(db, `touched ${JSON.stringify(texts)}`, () => {
    const sql = `SELECT x.message_id FROM file y CROSS JOIN touched x ON x.file_id = y.id
      WHERE ${texts.map(() => 'instr(lower(y.path), lower(?)) > 0').join(' OR ')}`
    return Float64Array.from(getValues<number>(db, sql, ...texts)).sort()
  })
}

/** @param among ascending @param isKept whether messages with these rows are kept, or the others */
function keepAmong({ rows }: SegmentMessages, matches: Uint8Array, among: Float64Array, isKept: boolean): void {
  let next = countUntil(among, rows[0] ?? 0) - 1
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] ?? 0
    while (next >= 0 && (among[next] ?? 0) > row) next--
    if ((next >= 0 && among[next] === row) !== isKept) matches[at] = 0
  }
}

/** Above this, the closest rows are not looked for. */
const MAX_ROWS_FOR_RANGES = 4000

function rangesAround(rows: Float64Array): readonly RowRange[] {
  const [first] = rows
  const last = rows.at(-1)
  if (first === undefined || last === undefined) return []
  if (rows.length > MAX_ROWS_FOR_RANGES) return [{ low: first, high: last + 1 }]
  return mergeRanges(Array.from(rows, (row) => ({ low: row, high: row + 1 })))
}

export const isInRanges = (row: number, ranges: readonly RowRange[]): boolean => {
  for (const { low, high } of ranges) if (row >= low && row < high) return true
  return false
}

const clipRanges = (ranges: readonly RowRange[], { low, high }: RowRange): readonly RowRange[] =>
  ranges
    .map((one) => ({ low: Math.max(low, one.low), high: Math.min(high, one.high) }))
    .filter((one) => one.low < one.high)

/** Newest first, without overlap. */
function separateRanges(ranges: readonly RowRange[]): readonly RowRange[] {
  const separate: RowRange[] = []
  for (const range of ranges.toSorted((a, b) => b.high - a.high)) {
    const last = separate.at(-1)
    if (last && range.high >= last.low)
      separate[separate.length - 1] = { low: Math.min(last.low, range.low), high: last.high }
    else separate.push(range)
  }
  return separate
}

/** Each row is compared with every range, so the closest ones are merged. */
const MAX_RANGES = 12

/** Closes the narrowest gaps until there are few enough ranges. */
function mergeRanges(ranges: readonly RowRange[]): readonly RowRange[] {
  const separate = separateRanges(ranges)
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
