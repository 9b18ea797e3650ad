/** Finds messages by what they say, newest first: the index alone, without a look at any body. */
import type { SessionId } from '../model/ids.ts'
import { conditionsOf, type SessionFilter } from './get/filter.ts'
import { knownOf, MESSAGE_COLUMNS, type RawMessage } from './get/messages.ts'
import type { Db } from './open.ts'
import type { Known, Where } from './record.ts'
import { CUT } from './rows/kind.ts'
import { FIRST_TIME } from './rows/time-id.ts'
import { SAID } from './schema.ts'
import { type MessageConditions, messageConditions } from './search/conditions.ts'
import { type Columns, exceptExpression, matchExpression } from './text/expression.ts'
import type { Query } from './text/query.ts'

/** A message that the index says is meant. */
export interface Candidate extends Known {
  /** Not all that it says is in the index. */
  readonly cut: boolean
}

export interface CandidateOptions {
  readonly filter?: SessionFilter
  /** Only rows before this one: the last that was seen. */
  readonly before?: number
  readonly limit: number
}

const COLUMNS: Columns = Object.fromEntries(SAID.map((voice) => [voice, voice]))
/** So few sessions are looked through one by one, each in the stretch of ids that it has. */
const FEW = 64

export function candidatesOf(db: Db, query: Query, options: CandidateOptions): readonly Candidate[] {
  const ids = rowsOf(db, query, options)
  const row = db.prepare(
    `SELECT ${MESSAGE_COLUMNS} FROM message m CROSS JOIN session t ON t.id = m.session_id WHERE m.id = ?`,
  )
  return ids.map((id) => candidateOf(row.get(id) as RawMessage))
}

/** How many there are, up to the limit. */
export const countOf = (db: Db, query: Query, options: CandidateOptions): number => rowsOf(db, query, options).length

/** Ids, newest first. */
function rowsOf(db: Db, query: Query, options: CandidateOptions): readonly number[] {
  const found = new Set<number>()
  for (const table of tablesFor(query)) for (const id of rowsIn(db, table, query, options)) found.add(id)
  return [...found].sort((a, b) => b - a).slice(0, options.limit)
}

interface Table {
  readonly name: 'said' | 'given'
  readonly columns: Columns
}

function tablesFor({ scopes }: Query): readonly Table[] {
  const said: Table = { name: 'said', columns: COLUMNS }
  if (!scopes?.includes('context')) return [said]
  const given: Table = { name: 'given', columns: { context: 'context' } }
  return scopes.length === 1 ? [given] : [given, said]
}

function rowsIn(db: Db, table: Table, query: Query, options: CandidateOptions): readonly number[] {
  const conditions = messageConditions(query.filters)
  const sessions = conditionsOf({ kind: 'any', ...options.filter })
  const where = {
    sql: `${sessions.sql} AND ${conditions.session.sql}`,
    values: [...sessions.values, ...conditions.session.values],
  }
  const isSelective = where.sql !== '1 AND 1'
  const few = isSelective ? fewSessions(db, where) : undefined
  if (!few) return scan(db, table, query, conditions, options, isSelective ? where : undefined)
  const all: number[] = []
  for (const { id, first_row, last_row } of few) {
    const only = { sql: 't.id = ?', values: [id] }
    all.push(...scan(db, table, query, conditions, options, only, [first_row, last_row]))
  }
  return all
}

interface Stretch {
  readonly id: number
  readonly first_row: number
  readonly last_row: number
}

type Sql = { readonly sql: string; readonly values: readonly (string | number)[] }

function fewSessions(db: Db, where: Sql): readonly Stretch[] | undefined {
  const sql = `SELECT t.id, t.first_row, t.last_row FROM session t WHERE ${where.sql} AND t.first_row IS NOT NULL LIMIT ?`
  const found = db.prepare(sql).all(...where.values, FEW + 1) as Stretch[]
  return found.length > FEW ? undefined : found
}

function scan(
  db: Db,
  table: Table,
  query: Query,
  conditions: MessageConditions,
  options: CandidateOptions,
  sessions: Sql | undefined,
  reach?: readonly [low: number, high: number],
): readonly number[] {
  const low = Math.max(conditions.from, reach?.[0] ?? 0)
  const high = Math.min(
    conditions.until,
    options.before ?? Number.MAX_SAFE_INTEGER,
    (reach?.[1] ?? Number.MAX_SAFE_INTEGER - 1) + 1,
  )
  const must = matchExpression(query, table.columns)
  const except = exceptExpression(query, table.columns)
  const rest = `${conditions.message.sql} AND ${sessions?.sql ?? '1'}`
  const values = [...conditions.message.values, ...(sessions?.values ?? [])]
  // CROSS JOIN: the text's index is gone through first, in its own order; other tables only where they are asked. CAST: a large
  // number of JavaScript is bound as a real one, with which FTS5 cannot narrow its range and, compared by `=`, lets every row pass.
  const joined = `${rest === '1 AND 1' ? '' : 'CROSS JOIN message m ON m.id = f.rowid'} ${sessions ? 'CROSS JOIN session t ON t.id = m.session_id' : ''}`
  if (must !== undefined)
    return db
      .prepare(
        `SELECT f.rowid FROM ${table.name} f ${joined}
         WHERE ${table.name} MATCH ? AND f.rowid >= CAST(? AS INTEGER) AND f.rowid < CAST(? AS INTEGER) AND ${rest}
         ORDER BY f.rowid DESC LIMIT ?`,
      )
      .pluck()
      .all(must, low, high, ...values, options.limit) as number[]
  const without =
    except === undefined ? '' : `AND m.id NOT IN (SELECT rowid FROM ${table.name} WHERE ${table.name} MATCH ?)`
  return db
    .prepare(
      `SELECT m.id FROM message m CROSS JOIN session t ON t.id = m.session_id
       WHERE m.id >= ? AND m.id < ? AND m.id >= ${FIRST_TIME} AND m.kind & 384 = 0 AND m.kind & 7 <> 4 AND ${rest} ${without}
       ORDER BY m.id DESC LIMIT ?`,
    )
    .pluck()
    .all(low, high, ...values, ...(except === undefined ? [] : [except]), options.limit) as number[]
}

const candidateOf = (row: RawMessage): Candidate => ({ ...knownOf(row), cut: (row.kind & CUT) !== 0 })

/** Does the index find this one? */
export function isIndexed(db: Db, query: Query, row: number): boolean {
  return tablesFor(query).some(({ name, columns }) => {
    const must = matchExpression(query, columns)
    return (
      must !== undefined &&
      db.prepare(`SELECT 1 FROM ${name} WHERE ${name} MATCH ? AND rowid = CAST(? AS INTEGER)`).get(must, row) !==
        undefined
    )
  })
}

/** Sessions whose title says it, newest first. */
export function titlesOf(db: Db, query: Query, limit: number): readonly SessionId[] {
  const must = matchExpression(query, { title: 'title' })
  if (must === undefined || must === '""') return []
  return db
    .prepare(
      'SELECT t.name FROM titled f CROSS JOIN session t ON t.id = f.rowid WHERE titled MATCH ? ORDER BY t.last_at DESC LIMIT ?',
    )
    .pluck()
    .all(must, limit) as SessionId[]
}

/** A session of which the index does not know all that is said. */
export interface Unsure extends Where {
  readonly session: number
  readonly name: SessionId
  readonly root?: string
  readonly indexed: boolean
}

/** Newest first; those that a query may be about. */
export function unsureSessions(db: Db, query: Query, filter: SessionFilter = {}): readonly Unsure[] {
  const { sql, values } = conditionsOf({ kind: 'any', ...filter })
  const own = messageConditions(query.filters).session
  const isAboutOutput = !query.scopes || query.scopes.includes('output')
  const rows = db
    .prepare(
      `SELECT t.id AS session, t.name, t.indexed, s.agent, s.path, s.key, s.root, s.kept FROM session t JOIN source s ON s.id = t.source_id
       WHERE ${sql} AND ${own.sql} AND s.gone = 0 AND (t.indexed = 0 ${isAboutOutput ? 'OR t.cut_bytes + t.cut_after > 0' : ''})
       ORDER BY t.last_at DESC`,
    )
    .all(...values, ...own.values) as (Omit<Unsure, 'indexed' | 'kept' | 'root'> & {
    indexed: number
    kept: number
    root: string | null
  })[]
  return rows.map(({ indexed, kept, root, key, ...rest }) => ({
    ...rest,
    indexed: indexed === 1,
    kept: kept === 1,
    ...(key !== undefined && key !== '' && { key }),
    ...(root !== null && { root }),
  }))
}

/** Messages of a session of which not all is in the index, as far as the query's filters let them through. */
export function cutIn(db: Db, query: Query, session: number): readonly Candidate[] {
  const { message, from, until } = messageConditions(query.filters)
  const rows = db
    .prepare(
      `SELECT ${MESSAGE_COLUMNS} FROM message m CROSS JOIN session t ON t.id = m.session_id
       WHERE m.session_id = ? AND m.kind & ${CUT} AND m.id >= ? AND m.id < ? AND ${message.sql} ORDER BY m.id DESC`,
    )
    .all(session, from, until, ...message.values) as RawMessage[]
  return rows.map(candidateOf)
}

/** What a search may miss because it is not in the index. */
export interface Left {
  readonly sessions: number
  readonly bytes: number
}

export function leftOut(db: Db, query: Query, filter: SessionFilter = {}): Left {
  const { sql, values } = conditionsOf({ kind: 'any', ...filter })
  const isAboutOutput = !query.scopes || query.scopes.includes('output')
  const unread = 'max(0, s.size - t.read_bytes)'
  const cut = isAboutOutput ? '(t.cut_bytes + t.cut_after)' : '0'
  const row = db
    .prepare(
      `SELECT count(*) AS sessions, coalesce(sum(CASE WHEN t.indexed = 0 THEN ${unread} ELSE 0 END + ${cut}), 0) AS bytes
       FROM session t JOIN source s ON s.id = t.source_id WHERE ${sql} AND (t.indexed = 0 OR ${cut} > 0)`,
    )
    .get(...values) as Left
  return row
}
