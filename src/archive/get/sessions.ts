/** The list of sessions: filtered, sorted, by pages. */
import type { SessionId } from '../../model/ids.ts'
import type { Db } from '../open.ts'
import type { Entry } from '../record.ts'
import { ENTRY_COLUMNS, entryOf, type RawEntry } from './entry.ts'
import { conditionsOf, type SessionFilter } from './filter.ts'
import { plucked, prepared } from './statements.ts'

export type Sort = 'last' | 'started' | 'messages' | 'tokens' | 'size' | 'title'

export interface ListOptions extends SessionFilter {
  readonly sort?: Sort
  readonly ascending?: boolean
  readonly limit?: number
  readonly offset?: number
  /** Only those that stand after this one in the list. */
  readonly after?: SessionId
  /** Forks and sub-agents stand under their parents unless `all`; those of one parent with its id. */
  readonly children?: 'fold' | 'all' | { readonly of: string }
}

export interface Listing {
  readonly total: number
  readonly sessions: readonly Entry[]
}

const COLUMNS: { readonly [sort in Sort]: string } = {
  last: 't.last_at',
  started: 't.started_at',
  messages: 't.messages',
  tokens: 't.total_tokens',
  size: 'coalesce(s.size, 0)',
  title: "coalesce(t.title, '')",
}

const PAGE = 50

export function listSessions(db: Db, options: ListOptions): Listing {
  const { sort = 'last', ascending = false, limit = PAGE, offset = 0, children = 'fold', after } = options
  const { sql, values } = conditionsOf(options)
  const family = familyOf(children)
  const where = `${sql} AND ${family.sql}`
  const all = [...values, ...family.values]
  const total = plucked(db, `SELECT count(*) FROM session t WHERE ${where}`).get(...all) as number
  const direction = ascending ? 'ASC' : 'DESC'
  const rest = after === undefined ? '1' : afterSql(COLUMNS[sort], ascending)
  const rows = prepared(
    db,
    `SELECT ${ENTRY_COLUMNS} FROM session t LEFT JOIN source s ON s.id = t.source_id WHERE ${where} AND ${rest}
     ORDER BY ${COLUMNS[sort]} ${direction}, t.id ${direction} LIMIT ? OFFSET ?`,
  ).all(...all, ...(after === undefined ? [] : [after]), limit, offset) as RawEntry[]
  return { total, sessions: rows.map(entryOf) }
}

/** By where the other one stands now. */
function afterSql(column: string, ascending: boolean): string {
  const other = `SELECT ${column.replaceAll(/\b([ts])\./g, 'o$1.')}, ot.id FROM session ot LEFT JOIN source os ON os.id = ot.source_id`
  return `(${column}, t.id) ${ascending ? '>' : '<'} (${other} WHERE ot.name = ?)`
}

/** Those that are known, newest first. */
export function entriesOf(db: Db, ids: readonly SessionId[]): readonly Entry[] {
  const rows = prepared(
    db,
    `SELECT ${ENTRY_COLUMNS} FROM json_each(?) j CROSS JOIN session t ON t.name = j.value LEFT JOIN source s ON s.id = t.source_id
     ORDER BY t.last_at DESC, t.id DESC`,
  ).all(JSON.stringify(ids)) as RawEntry[]
  return rows.map(entryOf)
}

/** A child whose parent is not in the index stands for itself. */
function familyOf(children: ListOptions['children']): { readonly sql: string; readonly values: readonly string[] } {
  if (children === 'all') return { sql: '1', values: [] }
  if (typeof children === 'object') return { sql: 't.parent = ?', values: [children.of] }
  return {
    sql: '(t.parent IS NULL OR NOT EXISTS (SELECT 1 FROM session p WHERE p.name = t.parent))',
    values: [],
  }
}
