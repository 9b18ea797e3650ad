/** The rows that a query means, by the index alone. */
import { filterConditions, type SessionFilter } from '../../index/read/session-filter.ts'
import { prepareFirstColumn } from '../../index/read/statements.ts'
import { ROLES } from '../../index/rows/message-kind.ts'
import { FIRST_MESSAGE_ID } from '../../index/rows/time-id.ts'
import { TEXT_COLUMNS } from '../../index/schema.ts'
import type { Db } from '../../lib/sqlite/own-database.ts'
import type { ParsedQuery } from '../query/query.ts'
import { messageConditions, type SqlCondition } from './filter-conditions.ts'
import { exclusionExpression, matchExpression, type ScopeColumns } from './match-expression.ts'
import { type RowRange, rowRangesOf } from './row-ranges.ts'

export interface RowSearchOptions {
  readonly filter?: SessionFilter
  /** Only rows before this one: the last that was seen. */
  readonly before?: number
  readonly limit: number
}

/** Ids, newest first. */
export function findRows(db: Db, query: ParsedQuery, options: RowSearchOptions): readonly number[] {
  const [only, ...more] = textTablesFor(query).map((table) => findRowsInTable(db, table, query, options))
  if (!only || more.length === 0) return only ?? []
  const all = new Set([...only, ...more.flat()])
  return [...all].sort((a, b) => b - a).slice(0, options.limit)
}

interface TextTable {
  readonly name: 'said' | 'given'
  readonly columns: ScopeColumns
}

const TEXT_SCOPE_COLUMNS: ScopeColumns = Object.fromEntries(TEXT_COLUMNS.map((scope) => [scope, scope]))

function textTablesFor({ scopes }: ParsedQuery): readonly TextTable[] {
  const textTable: TextTable = { name: 'said', columns: TEXT_SCOPE_COLUMNS }
  if (!scopes?.includes('context')) return [textTable]
  const filterSql: TextTable = { name: 'given', columns: { context: 'context' } }
  return scopes.length === 1 ? [filterSql] : [filterSql, textTable]
}

function findRowsInTable(db: Db, table: TextTable, query: ParsedQuery, options: RowSearchOptions): readonly number[] {
  const { where, ranges } = searchConditions(db, query, options.filter)
  const visibleWhere = isAboutMeta(query) ? where : { ...where, sql: `m.kind & 7 <> ${META_ROLE} AND ${where.sql}` }
  const before = options.before ?? Number.MAX_SAFE_INTEGER
  const must = matchExpression(query, table.columns)
  const except = exclusionExpression(query, table.columns)
  const found: number[] = []
  for (const { low, high } of ranges) {
    const range = { low, high: Math.min(high, before) }
    const remaining = options.limit - found.length
    if (remaining <= 0) break
    if (range.low >= range.high) continue
    if (must !== undefined) found.push(...findMatching(db, table, must, where, range, remaining))
    else if (except === undefined) found.push(...findUnconditional(db, visibleWhere, range, remaining))
    else found.push(...findNotMatching(db, table, except, visibleWhere, range, remaining))
  }
  return found
}

function searchConditions(db: Db, query: ParsedQuery, filter: SessionFilter | undefined) {
  const conditions = messageConditions(query.filters)
  const { ranges, sessions } = rowRangesOf(db, conditions, filter)
  const { sql, values } = conditions.message
  if (sessions === undefined) return { where: conditions.message, ranges }
  // With a plus, so that no index on sessions is taken: it would lose the order of ids.
  const where: SqlCondition = {
    sql: `${sql} AND +m.session_id IN (SELECT value FROM json_each(?))`,
    values: [...values, sessions],
  }
  return { where, ranges }
}

/**
 * CROSS JOIN: the text's index is gone through first, in its own order; other tables only where they are asked. CAST: a large
 * number of JavaScript is bound as a real one, with which FTS5 cannot narrow its range and, compared by `=`, lets every row pass.
 */
function findMatching(
  db: Db,
  { name }: TextTable,
  must: string,
  where: SqlCondition,
  range: RowRange,
  limit: number,
): number[] {
  const sql = `SELECT f.rowid FROM ${name} f ${where.sql === '1' ? '' : 'CROSS JOIN message m ON m.id = f.rowid'}
    WHERE ${name} MATCH ? AND f.rowid >= CAST(? AS INTEGER) AND f.rowid < CAST(? AS INTEGER) AND ${where.sql}
    ORDER BY f.rowid DESC LIMIT ?`
  return prepareFirstColumn(db, sql).all(must, range.low, range.high, ...where.values, limit) as number[]
}

const META_ROLE = ROLES.indexOf('meta')

/** What nobody said is shown only to those who ask for it. */
const isAboutMeta = ({ filters }: ParsedQuery): boolean =>
  filters.some((filter) => filter.kind === 'role' && !filter.not && filter.values.includes('meta'))

/** Rows that satisfy the conditions, whatever they say. */
function findUnconditional(db: Db, where: SqlCondition, { low, high }: RowRange, limit: number): number[] {
  const sql = `SELECT m.id FROM message m
    WHERE m.id >= ? AND m.id < ? AND m.kind & 384 = 0 AND ${where.sql} ORDER BY m.id DESC LIMIT ?`
  return prepareFirstColumn(db, sql).all(Math.max(low, FIRST_MESSAGE_ID), high, ...where.values, limit) as number[]
}

/** The newest rows that satisfy the filters, whatever they say. */
export function findNewestRows(db: Db, query: ParsedQuery, options: RowSearchOptions): readonly number[] {
  const { where, ranges } = searchConditions(db, query, options.filter)
  const sql = `SELECT m.id FROM message m WHERE m.id >= ? AND m.id < ? AND m.kind & 384 = 0 AND ${where.sql} ORDER BY m.id DESC LIMIT ?`
  const found: number[] = []
  for (const { low, high } of ranges) {
    const remaining = options.limit - found.length
    if (remaining <= 0) break
    found.push(
      ...(prepareFirstColumn(db, sql).all(
        Math.max(low, FIRST_MESSAGE_ID),
        high,
        ...where.values,
        remaining,
      ) as number[]),
    )
  }
  return found
}

/** In pieces, so that of what must not be said only so much is looked up as lies between the answers. */
function findNotMatching(
  db: Db,
  { name }: TextTable,
  except: string,
  where: SqlCondition,
  range: RowRange,
  limit: number,
): number[] {
  const sql = `SELECT rowid FROM ${name} WHERE ${name} MATCH ? AND rowid >= CAST(? AS INTEGER) AND rowid < CAST(? AS INTEGER)`
  const found: number[] = []
  for (let { high } = range; found.length < limit; ) {
    const page = findUnconditional(db, where, { low: range.low, high }, limit)
    const low = page.at(-1)
    if (low === undefined) break
    const textTable = new Set(prepareFirstColumn(db, sql).all(except, low, high) as number[])
    for (const id of page) if (!textTable.has(id)) found.push(id)
    high = low
  }
  return found.slice(0, limit)
}

/** Does the index find this one? */
export function isFoundByIndex(db: Db, query: ParsedQuery, row: number): boolean {
  return textTablesFor(query).some(({ name, columns }) => {
    const must = matchExpression(query, columns)
    const sql = `SELECT 1 FROM ${name} WHERE ${name} MATCH ? AND rowid = CAST(? AS INTEGER)`
    return must !== undefined && prepareFirstColumn(db, sql).get(must, row) !== undefined
  })
}

/** Conditions on sessions alone: those of a filter and those of a query. */
export function sessionConditions(query: ParsedQuery, filter: SessionFilter = {}): SqlCondition {
  const filterSql = filterConditions({ kind: 'any', ...filter })
  const querySql = messageConditions(query.filters).session
  return { sql: `${filterSql.sql} AND ${querySql.sql}`, values: [...filterSql.values, ...querySql.values] }
}
