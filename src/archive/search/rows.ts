/** The rows that a query means, by the index alone. */
import { conditionsOf, type SessionFilter } from '../get/filter.ts'
import { plucked } from '../get/statements.ts'
import type { Db } from '../open.ts'
import { ROLES } from '../rows/kind.ts'
import { FIRST_TIME } from '../rows/time-id.ts'
import { SAID } from '../schema.ts'
import { type Columns, exceptExpression, matchExpression } from '../text/expression.ts'
import type { Query } from '../text/query.ts'
import { messageConditions, type Sql } from './conditions.ts'
import { type Range, reachOf } from './reach.ts'

export interface RowOptions {
  readonly filter?: SessionFilter
  /** Only rows before this one: the last that was seen. */
  readonly before?: number
  readonly limit: number
}

/** Ids, newest first. */
export function rowsOf(db: Db, query: Query, options: RowOptions): readonly number[] {
  const [only, ...more] = tablesFor(query).map((table) => rowsIn(db, table, query, options))
  if (!only || more.length === 0) return only ?? []
  const all = new Set([...only, ...more.flat()])
  return [...all].sort((a, b) => b - a).slice(0, options.limit)
}

interface Table {
  readonly name: 'said' | 'given'
  readonly columns: Columns
}

const COLUMNS: Columns = Object.fromEntries(SAID.map((voice) => [voice, voice]))

function tablesFor({ scopes }: Query): readonly Table[] {
  const said: Table = { name: 'said', columns: COLUMNS }
  if (!scopes?.includes('context')) return [said]
  const given: Table = { name: 'given', columns: { context: 'context' } }
  return scopes.length === 1 ? [given] : [given, said]
}

function rowsIn(db: Db, table: Table, query: Query, options: RowOptions): readonly number[] {
  const { where, ranges } = whereOf(db, query, options.filter)
  const spoken = isAboutMeta(query) ? where : { ...where, sql: `m.kind & 7 <> ${META} AND ${where.sql}` }
  const before = options.before ?? Number.MAX_SAFE_INTEGER
  const must = matchExpression(query, table.columns)
  const except = exceptExpression(query, table.columns)
  const found: number[] = []
  for (const { low, high } of ranges) {
    const range = { low, high: Math.min(high, before) }
    const left = options.limit - found.length
    if (left <= 0) break
    if (range.low >= range.high) continue
    if (must !== undefined) found.push(...saying(db, table, must, where, range, left))
    else if (except === undefined) found.push(...anything(db, spoken, range, left))
    else found.push(...notSaying(db, table, except, spoken, range, left))
  }
  return found
}

function whereOf(db: Db, query: Query, filter: SessionFilter | undefined) {
  const conditions = messageConditions(query.filters)
  const { ranges, sessions } = reachOf(db, conditions, filter)
  const { sql, values } = conditions.message
  if (sessions === undefined) return { where: conditions.message, ranges }
  // With a plus, so that no index on sessions is taken: it would lose the order of ids.
  const where: Sql = {
    sql: `${sql} AND +m.session_id IN (SELECT value FROM json_each(?))`,
    values: [...values, sessions],
  }
  return { where, ranges }
}

/**
 * CROSS JOIN: the text's index is gone through first, in its own order; other tables only where they are asked. CAST: a large
 * number of JavaScript is bound as a real one, with which FTS5 cannot narrow its range and, compared by `=`, lets every row pass.
 */
function saying(db: Db, { name }: Table, must: string, where: Sql, range: Range, limit: number): number[] {
  const sql = `SELECT f.rowid FROM ${name} f ${where.sql === '1' ? '' : 'CROSS JOIN message m ON m.id = f.rowid'}
    WHERE ${name} MATCH ? AND f.rowid >= CAST(? AS INTEGER) AND f.rowid < CAST(? AS INTEGER) AND ${where.sql}
    ORDER BY f.rowid DESC LIMIT ?`
  return plucked(db, sql).all(must, range.low, range.high, ...where.values, limit) as number[]
}

const META = ROLES.indexOf('meta')

/** What nobody said is shown only to those who ask for it. */
const isAboutMeta = ({ filters }: Query): boolean =>
  filters.some((filter) => filter.kind === 'role' && !filter.not && filter.values.includes('meta'))

/** Rows that satisfy the conditions, whatever they say. */
function anything(db: Db, where: Sql, { low, high }: Range, limit: number): number[] {
  const sql = `SELECT m.id FROM message m
    WHERE m.id >= ? AND m.id < ? AND m.kind & 384 = 0 AND ${where.sql} ORDER BY m.id DESC LIMIT ?`
  return plucked(db, sql).all(Math.max(low, FIRST_TIME), high, ...where.values, limit) as number[]
}

/** The newest rows that satisfy the filters, whatever they say. */
export function newestRows(db: Db, query: Query, options: RowOptions): readonly number[] {
  const { where, ranges } = whereOf(db, query, options.filter)
  const sql = `SELECT m.id FROM message m WHERE m.id >= ? AND m.id < ? AND m.kind & 384 = 0 AND ${where.sql} ORDER BY m.id DESC LIMIT ?`
  const found: number[] = []
  for (const { low, high } of ranges) {
    const left = options.limit - found.length
    if (left <= 0) break
    found.push(...(plucked(db, sql).all(Math.max(low, FIRST_TIME), high, ...where.values, left) as number[]))
  }
  return found
}

/** In pieces, so that of what must not be said only so much is looked up as lies between the answers. */
function notSaying(db: Db, { name }: Table, except: string, where: Sql, range: Range, limit: number): number[] {
  const sql = `SELECT rowid FROM ${name} WHERE ${name} MATCH ? AND rowid >= CAST(? AS INTEGER) AND rowid < CAST(? AS INTEGER)`
  const found: number[] = []
  for (let { high } = range; found.length < limit; ) {
    const page = anything(db, where, { low: range.low, high }, limit)
    const low = page.at(-1)
    if (low === undefined) break
    const said = new Set(plucked(db, sql).all(except, low, high) as number[])
    for (const id of page) if (!said.has(id)) found.push(id)
    high = low
  }
  return found.slice(0, limit)
}

/** Does the index find this one? */
export function isIndexed(db: Db, query: Query, row: number): boolean {
  return tablesFor(query).some(({ name, columns }) => {
    const must = matchExpression(query, columns)
    const sql = `SELECT 1 FROM ${name} WHERE ${name} MATCH ? AND rowid = CAST(? AS INTEGER)`
    return must !== undefined && plucked(db, sql).get(must, row) !== undefined
  })
}

/** Conditions on sessions alone: those of a filter and those of a query. */
export function sessionConditions(query: Query, filter: SessionFilter = {}): Sql {
  const given = conditionsOf({ kind: 'any', ...filter })
  const own = messageConditions(query.filters).session
  return { sql: `${given.sql} AND ${own.sql}`, values: [...given.values, ...own.values] }
}
