/** The list of sessions: filtered, sorted, by pages. */

import type { Db } from '../../lib/sqlite/own-database.ts'
import { type Instant, instantFromMs, type SessionId } from '../../model/ids.ts'
import type { Session } from '../../model/session.ts'
import { toEstimatedTokens } from '../../model/tokens/token-estimate.ts'
import type { SessionEntry } from '../records.ts'
import { filterConditions, type SessionFilter } from './session-filter.ts'
import { prepareCached, prepareFirstColumn } from './statements.ts'

export type SessionOrder = 'last' | 'started' | 'messages' | 'tokens' | 'size' | 'title'

export interface SessionListOptions extends SessionFilter {
  readonly sort?: SessionOrder
  readonly ascending?: boolean
  readonly limit?: number
  readonly offset?: number
  /** Only those that stand after this one in the list. */
  readonly after?: SessionId
  /** Forks and sub-agents stand under their parents unless `all`; those of one parent with its id. */
  readonly children?: 'fold' | 'all' | { readonly of: string }
}

export interface SessionPage {
  readonly total: number
  readonly sessions: readonly SessionEntry[]
}

const SORT_COLUMNS: { readonly [sort in SessionOrder]: string } = {
  last: 't.last_at',
  started: 't.started_at',
  messages: 't.messages',
  tokens: 't.total_tokens',
  size: 'coalesce(s.size, 0)',
  title: "coalesce(t.title, '')",
}

const DEFAULT_LIMIT = 50

export function readSessionPage(db: Db, options: SessionListOptions): SessionPage {
  const { sort = 'last', ascending = false, limit = DEFAULT_LIMIT, offset = 0, children = 'fold', after } = options
  const { sql, values } = filterConditions(options)
  const childrenFilter = childrenCondition(children)
  const where = `${sql} AND ${childrenFilter.sql}`
  const parameters = [...values, ...childrenFilter.values]
  const total = prepareFirstColumn(db, `SELECT count(*) FROM session t WHERE ${where}`).get(...parameters) as number
  const direction = ascending ? 'ASC' : 'DESC'
  const cursorCondition = after === undefined ? '1' : afterCondition(SORT_COLUMNS[sort], ascending)
  const rows = prepareCached(
    db,
    `SELECT ${ENTRY_COLUMNS} FROM session t LEFT JOIN source s ON s.id = t.source_id WHERE ${where} AND ${cursorCondition}
     ORDER BY ${SORT_COLUMNS[sort]} ${direction}, t.id ${direction} LIMIT ? OFFSET ?`,
  ).all(...parameters, ...(after === undefined ? [] : [after]), limit, offset) as EntryRow[]
  return { total, sessions: rows.map(toSessionEntry) }
}

/** By where the other one stands now. */
function afterCondition(column: string, ascending: boolean): string {
  const other = `SELECT ${column.replaceAll(/\b([ts])\./g, 'o$1.')}, ot.id FROM session ot LEFT JOIN source os ON os.id = ot.source_id`
  return `(${column}, t.id) ${ascending ? '>' : '<'} (${other} WHERE ot.name = ?)`
}

/** Those that are known, newest first. */
export function readSessionEntries(db: Db, ids: readonly SessionId[]): readonly SessionEntry[] {
  const rows = prepareCached(
    db,
    `SELECT ${ENTRY_COLUMNS} FROM json_each(?) j CROSS JOIN session t ON t.name = j.value LEFT JOIN source s ON s.id = t.source_id
     ORDER BY t.last_at DESC, t.id DESC`,
  ).all(JSON.stringify(ids)) as EntryRow[]
  return rows.map(toSessionEntry)
}

/** A child whose parent is not in the index stands for itself. */
function childrenCondition(children: SessionListOptions['children']): {
  readonly sql: string
  readonly values: readonly string[]
} {
  if (children === 'all') return { sql: '1', values: [] }
  if (typeof children === 'object') return { sql: 't.parent = ?', values: [children.of] }
  return {
    sql: '(t.parent IS NULL OR NOT EXISTS (SELECT 1 FROM session p WHERE p.name = t.parent))',
    values: [],
  }
}

/** A session's row as the list tells it. */
interface EntryRow {
  readonly name: SessionId
  readonly agent: string
  readonly native_id: string
  readonly kind: Session['kind']
  readonly header: string
  readonly title: string | null
  readonly project: string | null
  readonly started_at: number
  readonly last_at: number
  readonly lines: number
  readonly messages: number
  readonly tools: number
  readonly input_tokens: number
  readonly cached_input_tokens: number
  readonly output_tokens: number
  readonly reasoning_output_tokens: number
  readonly total_tokens: number
  readonly parent: SessionId | null
  readonly relation: 'fork' | 'subagent' | null
  readonly children: number
  readonly gone: number
  readonly revision: number
  readonly indexed: number
  readonly path: string | null
  readonly key: string | null
  readonly kept: number | null
  readonly size: number | null
  /** Two numbers as JSON. */
  readonly estimate: string
}

const ENTRY_COLUMNS = `t.name, t.agent, t.native_id, t.kind, t.header, t.title, t.project, t.started_at, t.last_at, t.lines, t.messages, t.tools,
  t.input_tokens, t.cached_input_tokens, t.output_tokens, t.reasoning_output_tokens, t.total_tokens, t.parent, t.relation, t.gone, t.revision, t.indexed,
  s.path, CASE WHEN s.whole IS NULL THEN s.key END AS key, s.kept, s.size,
  (SELECT json_array(sum(user_bytes), sum(assistant_bytes)) FROM estimate e WHERE e.source_id = t.source_id) AS estimate,
  (SELECT count(*) FROM session c WHERE c.parent = t.name) AS children`

function toSessionEntry(row: EntryRow): SessionEntry {
  const { models } = JSON.parse(row.header) as Session
  const [user_bytes, assistant_bytes] = JSON.parse(row.estimate) as [number | null, number | null]
  return {
    id: row.name,
    agent: row.agent,
    native_id: row.native_id,
    kind: row.kind,
    ...(row.title !== null && { title: row.title }),
    ...(row.project !== null && { project: row.project }),
    models,
    started_at: toInstant(row.started_at),
    last_at: toInstant(row.last_at),
    lines: row.lines,
    messages: row.messages,
    tools: row.tools,
    usage: {
      input_tokens: row.input_tokens,
      cached_input_tokens: row.cached_input_tokens,
      output_tokens: row.output_tokens,
      reasoning_output_tokens: row.reasoning_output_tokens,
      total_tokens: row.total_tokens,
    },
    ...(user_bytes !== null &&
      assistant_bytes !== null && { estimate: toEstimatedTokens({ kind: 'estimate', user_bytes, assistant_bytes }) }),
    ...(row.parent !== null && { parent: row.parent }),
    ...(row.relation !== null && { relation: row.relation }),
    children: row.children,
    revision: row.revision,
    path: row.path ?? '',
    ...(row.key !== null && row.key !== '' && { key: row.key }),
    kept: row.kept === 1,
    gone: row.gone === 1,
    indexed: row.indexed === 1,
    size: row.size ?? 0,
  }
}

const EPOCH = '1970-01-01T00:00:00.000Z' as Instant

const toInstant = (milliseconds: number): Instant => instantFromMs(milliseconds) ?? EPOCH
