/**
 * Sessions of the index: the paged list, the source, details and issues of each, and the values that a list can be
 * filtered by.
 */

import type { Db } from '../lib/sqlite/own-database.ts'
import { prepareCached, prepareFirstColumn } from '../lib/sqlite/statements.ts'
import type { AgentId, SessionId } from '../model/ids.ts'
import type { Issue } from '../model/issue.ts'
import type { Session } from '../model/session.ts'
import { toEstimatedTokens } from '../model/token-estimate.ts'
import { cacheWrites } from '../model/usage.ts'
import type { SessionEntry, SourceLocation } from './records.ts'
import { fromStoredTime } from './row-encoding.ts'
import { filterConditions, type SessionFilter } from './session-filter.ts'

export type SessionOrder =
  | 'last'
  | 'started'
  | 'duration'
  | 'turns'
  | 'messages'
  | 'tools'
  | 'errors'
  | 'tokens'
  | 'size'
  | 'title'

export interface SessionListOptions extends SessionFilter {
  readonly sort?: SessionOrder
  readonly ascending?: boolean
  readonly limit?: number
  readonly offset?: number
  /** Starts after this session of the list. */
  readonly after?: SessionId
  /**
   * `fold` lists forks and sub-agents under their parents, `all` among the others; `of` lists the children of one
   * parent.
   */
  readonly children?: 'fold' | 'all' | { readonly of: string }
}

export interface SessionPage {
  readonly total: number
  readonly sessions: readonly SessionEntry[]
}

const TURNS = '(SELECT coalesce(sum(prompts), 0) FROM activity a WHERE a.session_id = t.id)'
const ERRORS = '(SELECT coalesce(sum(errors), 0) FROM tool_use u WHERE u.session_id = t.id)'

const SORT_COLUMNS: { readonly [sort in SessionOrder]: string } = {
  last: 't.last_at',
  started: 't.started_at',
  duration: 'CASE WHEN t.started_at < 0 OR t.last_at < 0 THEN -1 ELSE t.last_at - t.started_at END',
  turns: TURNS,
  messages: 't.messages',
  tools: 't.tools',
  errors: ERRORS,
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

/** The condition uses the current place of the `after` session. */
function afterCondition(column: string, ascending: boolean): string {
  const other = `SELECT ${column.replaceAll(/\b([ts])\./g, 'o$1.')}, ot.id FROM session ot LEFT JOIN source os ON os.id = ot.source_id`
  return `(${column}, t.id) ${ascending ? '>' : '<'} (${other} WHERE ot.name = ?)`
}

/** Known sessions among `ids`, newest first. */
export function readSessionEntries(db: Db, ids: readonly SessionId[]): readonly SessionEntry[] {
  const rows = prepareCached(
    db,
    `SELECT ${ENTRY_COLUMNS} FROM json_each(?) j CROSS JOIN session t ON t.name = j.value LEFT JOIN source s ON s.id = t.source_id
     ORDER BY t.last_at DESC, t.id DESC`,
  ).all(JSON.stringify(ids)) as EntryRow[]
  return rows.map(toSessionEntry)
}

/**
 * Sessions listed under another one. A thread that was reverted is one conversation: its latest log has under it the logs
 * that it replaces, and their children.
 * @param name of the parent, as SQL
 */
const childrenOf = (name: string): string =>
  `SELECT c.id FROM session c WHERE c.parent = ${name} AND c.relation IS NOT 'revert'
  UNION ALL SELECT p.id FROM session r JOIN session p ON p.name = r.parent WHERE r.name = ${name} AND r.relation = 'revert'
  UNION ALL SELECT c.id FROM session r JOIN session c ON c.parent = r.parent
    WHERE r.name = ${name} AND r.relation = 'revert' AND c.id <> r.id`

/** A log that another one of the same thread replaces. */
const IS_REPLACED = `EXISTS (SELECT 1 FROM session r WHERE r.parent = CASE t.relation WHEN 'revert' THEN t.parent ELSE t.name END
  AND r.relation = 'revert' AND r.id <> t.id AND (t.relation IS NOT 'revert' OR (r.started_at, r.id) > (t.started_at, t.id)))`

/** A child whose parent is not in the index is listed like any other session. */
export function childrenCondition(children: SessionListOptions['children']): {
  readonly sql: string
  readonly values: readonly string[]
} {
  if (children === 'all') return { sql: '1', values: [] }
  if (typeof children === 'object')
    return { sql: `t.id IN (${childrenOf('?')})`, values: [children.of, children.of, children.of] }
  return {
    sql: `(t.parent IS NULL OR t.relation = 'revert' OR NOT EXISTS (SELECT 1 FROM session p WHERE p.name = t.parent)) AND NOT ${IS_REPLACED}`,
    values: [],
  }
}

/** A session's row in the list. */
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
  readonly cache_write_tokens: number
  readonly cache_write_1h_tokens: number
  readonly parent: SessionId | null
  readonly relation: 'fork' | 'subagent' | 'revert' | null
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
  t.input_tokens, t.cached_input_tokens, t.output_tokens, t.reasoning_output_tokens, t.total_tokens, t.cache_write_tokens,
  t.cache_write_1h_tokens, t.parent, t.relation, t.gone, t.revision, t.indexed,
  s.path, CASE WHEN s.whole IS NULL THEN s.key END AS key, s.kept, s.size,
  (SELECT json_array(sum(user_bytes), sum(assistant_bytes)) FROM estimate e WHERE e.source_id = t.source_id) AS estimate,
  (SELECT count(*) FROM (${childrenOf('t.name')})) AS children`

function toSessionEntry(row: EntryRow): SessionEntry {
  const { models, credits } = JSON.parse(row.header) as Session
  const [user_bytes, assistant_bytes] = JSON.parse(row.estimate) as [number | null, number | null]
  return {
    id: row.name,
    agent: row.agent,
    native_id: row.native_id,
    kind: row.kind,
    ...(row.title !== null && { title: row.title }),
    ...(row.project !== null && { project: row.project }),
    models,
    started_at: fromStoredTime(row.started_at),
    last_at: fromStoredTime(row.last_at),
    lines: row.lines,
    messages: row.messages,
    tools: row.tools,
    usage: {
      input_tokens: row.input_tokens,
      cached_input_tokens: row.cached_input_tokens,
      ...cacheWrites(row.cache_write_tokens, row.cache_write_1h_tokens),
      output_tokens: row.output_tokens,
      reasoning_output_tokens: row.reasoning_output_tokens,
      total_tokens: row.total_tokens,
    },
    ...(user_bytes !== null &&
      assistant_bytes !== null && { estimate: toEstimatedTokens({ kind: 'estimate', user_bytes, assistant_bytes }) }),
    ...(credits !== undefined && { credits }),
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

export interface SessionSource extends SourceLocation {
  readonly root?: string
  readonly gone: boolean
  /** The id inside the source, if the source can hold several sessions. */
  readonly claim?: string
}

interface SourceRow {
  readonly agent: string
  readonly path: string
  readonly key: string
  readonly root: string | null
  readonly kept: number
  readonly gone: number
  readonly whole: number | null
  readonly claim: string | null
}

export function readSessionSource(db: Db, id: SessionId): SessionSource | undefined {
  const sql =
    'SELECT s.agent, s.path, s.key, s.root, s.kept, s.gone, s.whole, s.claim FROM session t JOIN source s ON s.id = t.source_id WHERE t.name = ?'
  const row = prepareCached(db, sql).get(id) as SourceRow | undefined
  if (!row) return undefined
  const { agent, path, key, root, kept, gone, whole: container, claim } = row
  return {
    agent,
    path,
    kept: kept === 1,
    gone: gone === 1,
    ...(container !== null && claim !== null && { claim }),
    ...(key !== '' && container === null && { key }),
    ...(root !== null && { root }),
  }
}

export interface SessionDetails {
  readonly header: Session
  /** Number of prompts. */
  readonly turns: number
  /** Number of failed tool results. */
  readonly errors: number
  /** Number of lines and entries with problems. */
  readonly issues: number
}

interface DetailsRow {
  readonly name: SessionId
  readonly header: string
  readonly turns: number
  readonly errors: number
  readonly issues: number
}

export function readSessionDetails(db: Db, ids: readonly SessionId[]): ReadonlyMap<SessionId, SessionDetails> {
  const rows = prepareCached(
    db,
    `SELECT t.name, t.header,
       ${TURNS} AS turns,
       ${ERRORS} AS errors,
       (SELECT count(DISTINCT i.code || ' ' || coalesce(i.line, '')) FROM issue i
        WHERE i.source_id = t.source_id AND i.code <> 'not_a_session') AS issues
     FROM json_each(?) j CROSS JOIN session t ON t.name = j.value`,
  ).all(JSON.stringify(ids)) as DetailsRow[]
  return new Map(
    rows.map(({ name, header, ...counts }) => [name, { header: JSON.parse(header) as Session, ...counts }]),
  )
}

export interface FilterChoice {
  readonly value: string
  /** Number of sessions. */
  readonly count: number
}

export interface FilterChoices {
  readonly agents: readonly FilterChoice[]
  readonly projects: readonly FilterChoice[]
  readonly models: readonly FilterChoice[]
  readonly tools: readonly FilterChoice[]
}

export const NO_FILTER_CHOICES: FilterChoices = { agents: [], projects: [], models: [], tools: [] }

export const MAX_FILTER_CHOICES = 500

/** Most used first. */
export function readFilterChoices(db: Db): FilterChoices {
  const all = (sql: string): readonly FilterChoice[] =>
    prepareCached(
      db,
      `${sql} GROUP BY value ORDER BY count DESC, value LIMIT ${MAX_FILTER_CHOICES}`,
    ).all() as FilterChoice[]
  const conversations = "session t WHERE t.kind = 'conversation'"
  return {
    agents: all(`SELECT t.agent AS value, count(*) AS count FROM ${conversations}`),
    projects: all(`SELECT t.project AS value, count(*) AS count FROM ${conversations} AND t.project IS NOT NULL`),
    models: all('SELECT w.text AS value, count(*) AS count FROM model_of m JOIN word w ON w.id = m.model_id'),
    // The first pass knows the tools of a source, the second those of a session.
    tools: all(
      `SELECT value, count(DISTINCT session) AS count FROM (
        SELECT w.text AS value, u.session_id AS session FROM tool_use u JOIN word w ON w.id = u.tool_id
        UNION ALL SELECT j.key, t.id FROM session t JOIN source o ON o.id = t.source_id, json_each(o.tools) j WHERE t.indexed = 0)`,
    ),
  }
}

/** Totals of the complete index. */
export interface IndexSize {
  readonly sessions: number
  /** Bytes of all sources. */
  readonly bytes: number
  /** Number of sessions that cannot be searched yet. */
  readonly unread: number
}

export const EMPTY_INDEX_SIZE: IndexSize = { sessions: 0, bytes: 0, unread: 0 }

export const readIndexSize = (db: Db): IndexSize =>
  prepareCached(
    db,
    `SELECT (SELECT count(*) FROM session WHERE kind = 'conversation') AS sessions,
       (SELECT coalesce(sum(size), 0) FROM source WHERE gone = 0 AND whole IS NULL) AS bytes,
       (SELECT count(*) FROM session WHERE indexed = 0 AND kind = 'conversation') AS unread`,
  ).get() as IndexSize

const MAX_ISSUES_LISTED = 1000

export function readUnreadableSources(db: Db, agent?: AgentId): readonly Issue[] {
  const rows = db
    .prepare(
      `SELECT i.code, i.reason, s.path, s.key, i.line FROM issue i JOIN source s ON s.id = i.source_id
       WHERE ((i.code = 'unreadable' AND i.pass = 1) OR i.code = 'internal_error') AND s.gone = 0 AND (:agent IS NULL OR s.agent = :agent)
       GROUP BY s.path, s.key, i.code, i.line, i.reason ORDER BY s.path, min(i.id) LIMIT :most`,
    )
    .all({ agent: agent ?? null, most: MAX_ISSUES_LISTED }) as {
    code: Issue['code']
    reason: string
    path: string
    key: string
    line: number | null
  }[]
  return rows.map(({ key, line, ...issue }) => ({
    ...issue,
    ...(key !== '' && { key }),
    ...(line !== null && { line }),
  }))
}

/** Issues of one session in line order. An issue that both passes found appears once. */
export function readSessionIssues(db: Db, session: SessionId, limit: number): readonly Omit<Issue, 'path' | 'key'>[] {
  const rows = prepareCached(
    db,
    `SELECT i.code, i.reason, i.line FROM session t JOIN issue i ON i.source_id = t.source_id
     WHERE t.name = ? AND i.code <> 'not_a_session' GROUP BY i.code, i.line ORDER BY i.line, min(i.id) LIMIT ?`,
  ).all(session, limit) as { code: Issue['code']; reason: string; line: number | null }[]
  return rows.map(({ line, ...issue }) => ({ ...issue, ...(line !== null && { line }) }))
}
