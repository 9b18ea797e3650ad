/** The list of sessions: filtered, sorted, by pages. */
import type { SessionId } from '../../model/ids.ts'
import type { Db } from '../open.ts'
import type { SessionEntry } from '../record.ts'
import { ENTRY_COLUMNS, type EntryRow, toSessionEntry } from './entry.ts'
import { filterConditions, type SessionFilter } from './filter.ts'
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
