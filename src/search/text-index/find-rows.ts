/** Finds the rows that match a query in the text index, newest first. */

import { FIRST_MESSAGE_ID, ROLES } from '../../index/row-encoding.ts'
import { TEXT_COLUMNS } from '../../index/schema.ts'
import { filterConditions, type SessionFilter } from '../../index/session-filter.ts'
import type { Db } from '../../lib/sqlite/own-database.ts'
import { prepareFirstColumn } from '../../lib/sqlite/statements.ts'
import { assertNever } from '../../model/error.ts'
import { type ParsedQuery, type QueryNode, type QueryTerm, SEARCH_SCOPES, type SearchScope } from '../query/query.ts'
import { toIndexWord } from '../words/characters.ts'
import { BOUNDARY } from '../words/identifiers.ts'
import { spellingsOfTerm, type TermSpelling, type TermUnit } from '../words/term-spellings.ts'
import { messageConditions, type RowRange, rowRangesOf, type SqlCondition } from './conditions.ts'

/** Columns of each scope. A table may lack some scopes. */
export type ScopeColumns = { readonly [scope in SearchScope]?: string }

/** The operand of `MATCH`, or undefined if the query has no required terms. */
export function matchExpression(query: ParsedQuery, columns: ScopeColumns): string | undefined {
  if (!query.must) return undefined
  const must = expressionOf(query.must)
  return limitToScopes(
    query,
    columns,
    query.mustNot.length === 0 ? must : `(${must}) NOT (${anyExpression(query.mustNot)})`,
  )
}

/** The operand of `rowid NOT IN (… MATCH ?)`, for queries with excluded terms but no required ones. */
export function exclusionExpression(query: ParsedQuery, columns: ScopeColumns): string | undefined {
  return query.must || query.mustNot.length === 0
    ? undefined
    : limitToScopes(query, columns, anyExpression(query.mustNot))
}

/** Matches nothing if the table has none of the scopes. */
function limitToScopes(query: ParsedQuery, columns: ScopeColumns, expression: string): string {
  if (!query.scopes) return expression
  const wanted = query.scopes.flatMap((scope) => columns[scope] ?? [])
  if (wanted.length === 0) return '""'
  const isAll = SEARCH_SCOPES.every((scope) => columns[scope] === undefined || query.scopes?.includes(scope))
  return isAll ? expression : `{${wanted.map((name) => `"${name.replaceAll('"', '""')}"`).join(' ')}} : (${expression})`
}

function expressionOf(node: QueryNode): string {
  switch (node.kind) {
    case 'term':
      return spellingsOfTerm(node).map(ftsPhraseOf).join(' OR ')
    case 'any':
      return anyExpression(node.of)
    case 'all': {
      const all = node.of.map((one) => `(${expressionOf(one)})`).join(' AND ')
      return node.not.length === 0 ? all : `(${all}) NOT (${anyExpression(node.not)})`
    }
    default:
      return assertNever(node)
  }
}

const anyExpression = (nodes: readonly QueryNode[]): string =>
  nodes.map((node) => `(${expressionOf(node)})`).join(' OR ')

/**
 * A quoted FTS5 phrase. The index contains each single character of a run; before other words a character stands for
 * the beginning of a pair, or for the end of its run.
 */
function ftsPhraseOf({ units, prefix }: TermSpelling): string {
  const last = units.at(-1)
  const isOne = last?.kind === 'run' && [...last.text].length === 1
  if (isOne && units.length === 1) return `"${BOUNDARY}${toIndexWord(last.text)}"`
  const words = units.flatMap((unit) => (unit.kind === 'run' ? pairsOf(unit, unit === last) : [toIndexWord(unit.text)]))
  return `"${words.join(' ')}"${isOne || (prefix && last?.kind === 'word') ? ' *' : ''}`
}

/**
 * A run at the end of a phrase may continue in the text. A run before another unit must end there, which its last
 * character ensures.
 */
function pairsOf(run: TermUnit, mayGoOn: boolean): readonly string[] {
  const characters = [...run.text].map(toIndexWord)
  const pairs = characters.slice(1).map((character, at) => `${characters[at]}${character}`)
  return mayGoOn && pairs.length > 0 ? pairs : [...pairs, ...characters.slice(-1)]
}

const MAX_SHORT_PREFIX_LENGTH = 3
const MAX_PREFIX_WORDS = 24

const isShortPrefixTerm = ({ text, prefix }: QueryTerm): boolean =>
  prefix && text.length <= MAX_SHORT_PREFIX_LENGTH && /^[\p{L}\p{N}]+$/u.test(text)

/** Whether the query contains a very short prefix. */
export const hasShortPrefix = ({ must }: ParsedQuery): boolean => must !== undefined && nodeHasShortPrefix(must)

const nodeHasShortPrefix = (node: QueryNode): boolean =>
  node.kind === 'term' ? isShortPrefixTerm(node) : node.of.some(nodeHasShortPrefix)

/**
 * Replaces short prefixes by some of the words that begin with them. The new query never finds more than the original
 * one. Returns undefined if no word begins with a prefix.
 *
 * @param words words of messages that match the query
 */
export function replaceShortPrefixes(query: ParsedQuery, words: readonly string[]): ParsedQuery | undefined {
  const must = query.must && replaceInNode(query.must, words)
  return must && { ...query, must }
}

function replaceInNode(node: QueryNode, words: readonly string[]): QueryNode | undefined {
  if (node.kind !== 'term') {
    const of = node.of.flatMap((one) => replaceInNode(one, words) ?? [])
    return of.length === node.of.length ? { ...node, of } : undefined
  }
  if (!isShortPrefixTerm(node)) return node
  const start = node.text.toLowerCase()
  const some = words.filter((word) => word.startsWith(start)).slice(0, MAX_PREFIX_WORDS)
  if (some.length === 0) return undefined
  return { kind: 'any', of: some.map((text) => ({ kind: 'term', text, exact: true, prefix: false })) }
}

export interface RowSearchOptions {
  readonly filter?: SessionFilter | undefined
  /** Only rows before this one, the last of the previous page. */
  readonly before?: number | undefined
  readonly limit: number
}

/** Row ids, newest first. */
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
  // The + prevents SQLite from using the index on sessions, which would lose the order of ids.
  const where: SqlCondition = {
    sql: `${sql} AND +m.session_id IN (SELECT value FROM json_each(?))`,
    values: [...values, sessions],
  }
  return { where, ranges }
}

/**
 * CROSS JOIN makes SQLite walk the text index first, in its order. CAST is necessary because large JavaScript numbers
 * are bound as REAL: FTS5 cannot narrow its range with those and, with `=`, lets every row pass.
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

/** Meta messages are returned only on request. */
const isAboutMeta = ({ filters }: ParsedQuery): boolean =>
  filters.some((filter) => filter.kind === 'role' && !filter.not && filter.values.includes('meta'))

/** Rows that satisfy the conditions, whatever their text. */
function findUnconditional(db: Db, where: SqlCondition, { low, high }: RowRange, limit: number): number[] {
  const sql = `SELECT m.id FROM message m
    WHERE m.id >= ? AND m.id < ? AND m.kind & 384 = 0 AND ${where.sql} ORDER BY m.id DESC LIMIT ?`
  return prepareFirstColumn(db, sql).all(Math.max(low, FIRST_MESSAGE_ID), high, ...where.values, limit) as number[]
}

/** The newest rows that satisfy the filters, whatever their text. */
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

/** Works in ranges, so that excluded terms are looked up only between the rows returned. */
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

/** Whether the index finds this row. */
export function isFoundByIndex(db: Db, query: ParsedQuery, row: number): boolean {
  return textTablesFor(query).some(({ name, columns }) => {
    const must = matchExpression(query, columns)
    const sql = `SELECT 1 FROM ${name} WHERE ${name} MATCH ? AND rowid = CAST(? AS INTEGER)`
    return must !== undefined && prepareFirstColumn(db, sql).get(must, row) !== undefined
  })
}

/** Conditions on sessions, from the filter and from the query. */
export function sessionConditions(query: ParsedQuery, filter: SessionFilter = {}): SqlCondition {
  const filterSql = filterConditions({ kind: 'any', ...filter })
  const querySql = messageConditions(query.filters).session
  return { sql: `${filterSql.sql} AND ${querySql.sql}`, values: [...filterSql.values, ...querySql.values] }
}
