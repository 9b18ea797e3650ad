/** Sessions of the team as the list of the page shows them, and the values that a list can be filtered by. */
import type { Choices } from '../../model/api/machine.ts'
import type { SessionItem, SessionSort } from '../../model/api/session.ts'
import { instantFromMs } from '../../model/ids.ts'
import { addCosts, costOfUsage, NO_COST, type PriceList, type Spent } from '../../model/prices.ts'
import type { EstimatedTokens } from '../../model/token-estimate.ts'
import { cacheWrites, type Usage } from '../../model/usage.ts'
import { keyToNumber } from '../hash-chain.ts'
import type { TeamDatabase, Transaction } from '../postgres/database.ts'
import { type Sharing, teamSessionId } from '../protocol.ts'

export interface TeamFilter {
  readonly agents?: readonly string[]
  readonly project?: string
  readonly model?: string
  readonly tool?: string
  /** Name of a person. */
  readonly person?: string
  readonly branch?: string
  readonly since?: number
  readonly until?: number
  readonly keys?: readonly string[]
  /** Sessions whose numbers alone are shared are in no list, but in every sum. */
  readonly isReadable?: boolean
  readonly kind?: 'conversation' | 'prompts' | 'any'
}

/** A condition on `session s`, numbered after the values that are there already. */
export function sessionConditions(filter: TeamFilter, people: ReadonlyMap<number, string>, values: unknown[]): string {
  const parts: string[] = ['s.is_complete']
  const add = (sql: (place: string) => string, value: unknown): void => {
    values.push(value)
    parts.push(sql(`$${values.length}`))
  }
  const {
    agents,
    project,
    model,
    tool,
    person,
    branch,
    since,
    until,
    keys,
    isReadable = false,
    kind = 'conversation',
  } = filter
  if (kind !== 'any') add((at) => `s.kind = ${at}`, kind)
  if (isReadable) parts.push(`s.shared <> 'usage'`)
  if (agents) add((at) => `s.agent = ANY (${at})`, agents)
  if (project !== undefined)
    add(
      (at) =>
        `s.project_id IN (SELECT id FROM project WHERE lower(name) = lower(${at}) OR lower(name) LIKE '%/' || lower(${at}))`,
      project.replace(/\/+$/, ''),
    )
  if (model !== undefined)
    add((at) => `EXISTS (SELECT 1 FROM unnest(s.models) u WHERE u LIKE ${at})`, likePattern(model))
  if (tool !== undefined)
    add((at) => `EXISTS (SELECT 1 FROM tool_use t WHERE t.session_key = s.session_key AND t.tool = ${at})`, tool)
  if (person !== undefined)
    add(
      (at) => `s.person_id = ANY (${at}::int[])`,
      [...people].filter(([, name]) => name.toLowerCase() === person.toLowerCase()).map(([id]) => id),
    )
  if (branch !== undefined) add((at) => `s.branch = ${at}`, branch)
  if (since !== undefined) add((at) => `s.last_at >= ${at}`, new Date(since))
  if (until !== undefined) add((at) => `s.started_at < ${at}`, new Date(until))
  if (keys) add((at) => `s.session_key = ANY (${at}::bigint[])`, keys.map(keyToNumber))
  return parts.join(' AND ')
}

/** `*` matches anything. */
export const likePattern = (name: string): string =>
  name.replaceAll(/[\\%_]/g, (sign) => `\\${sign}`).replaceAll('*', '%')

const SORTS: { readonly [sort in Exclude<SessionSort, 'cost'>]: string } = {
  last_at: 's.last_at',
  created_at: 's.started_at',
  duration_seconds: 's.last_at - s.started_at',
  turn_count: 's.turns',
  message_count: 's.messages',
  tool_count: 's.tools',
  error_count: 's.errors',
  total_tokens: 's.total_tokens',
  filesize_bytes: 's.size_bytes',
  title: `coalesce(s.title, s.first_prompt, '')`,
}

export interface ListOptions {
  readonly sort: SessionSort
  readonly isAscending: boolean
  readonly limit: number
  readonly offset: number
  /** The last session of the page before. */
  readonly after?: string | undefined
  readonly children: 'fold' | 'all' | { readonly of: string }
  /** Words of the title, or sessions found by their messages. */
  readonly matching?: readonly string[]
}

export interface SessionRow {
  readonly key: string
  readonly person_id: number
  readonly shared: Sharing
  readonly agent: string
  readonly native_id: string
  readonly kind: 'conversation' | 'prompts'
  readonly project: string
  readonly title: string | null
  readonly first_prompt: string | null
  readonly branch: string | null
  readonly cwd: string | null
  readonly models: readonly string[]
  readonly header: string | null
  readonly parent: string | null
  readonly relation: 'fork' | 'subagent' | 'revert' | null
  readonly started_at: Date | null
  readonly last_at: Date | null
  readonly records: number
  readonly messages: number
  readonly turns: number
  readonly tools: number
  readonly errors: number
  readonly issues: number
  readonly size_bytes: number
  readonly estimate: string | null
  readonly credits: number | null
  readonly input_tokens: number
  readonly cached_input_tokens: number
  readonly cache_write_tokens: number
  readonly cache_write_1h_tokens: number
  readonly output_tokens: number
  readonly reasoning_output_tokens: number
  readonly total_tokens: number
  readonly generation: number
  readonly stored: number
  readonly revision: number
  readonly children: number
}

const HEX = (column: string): string => `lpad(to_hex(${column}), 16, '0')`
const COLUMNS = `${HEX('s.session_key')} AS key, s.person_id, s.shared, s.agent, s.native_id, s.kind, j.name AS project, s.title, s.first_prompt,
  s.branch, s.cwd, s.models, s.header, CASE WHEN s.parent_key IS NOT NULL THEN ${HEX('s.parent_key')} END AS parent, s.relation, s.started_at, s.last_at,
  s.records, s.messages, s.turns, s.tools, s.errors, s.issues, s.size_bytes, s.estimate, s.credits, s.input_tokens, s.cached_input_tokens,
  s.cache_write_tokens, s.cache_write_1h_tokens, s.output_tokens, s.reasoning_output_tokens, s.total_tokens, s.generation,
  s.stored, s.revision,
  (SELECT count(*) FROM session c WHERE c.parent_key = s.session_key AND c.is_complete AND c.shared <> 'usage')::int AS children`
const TABLES = 'session s JOIN project j ON j.id = s.project_id'

/** Costs follow from the prices of today: sorting by cost looks at the sessions with the most tokens. */
export async function listSessions(
  db: Transaction,
  filter: TeamFilter,
  { sort, isAscending, limit, offset, after, children, matching }: ListOptions,
  people: ReadonlyMap<number, string>,
): Promise<{ readonly total: number; readonly rows: readonly SessionRow[] }> {
  const values: unknown[] = []
  let where = sessionConditions({ ...filter, isReadable: true }, people, values)
  if (matching) {
    values.push(matching.map(keyToNumber))
    where += ` AND s.session_key = ANY ($${values.length}::bigint[])`
  }
  if (typeof children === 'object') {
    values.push(keyToNumber(children.of))
    where += ` AND s.parent_key = $${values.length}`
  } else if (children === 'fold')
    where += ` AND (s.parent_key IS NULL OR NOT EXISTS (SELECT 1 FROM session p WHERE p.session_key = s.parent_key AND p.is_complete))`
  const total =
    (await db.first<{ count: number }>(`SELECT count(*) AS count FROM ${TABLES} WHERE ${where}`, values))?.count ?? 0
  const column = SORTS[sort === 'cost' ? 'total_tokens' : sort]
  const direction = isAscending ? 'ASC NULLS FIRST' : 'DESC NULLS LAST'
  let page = ''
  if (after !== undefined) {
    values.push(keyToNumber(after))
    const last = `SELECT ${column.replaceAll('s.', 'o.')}, o.session_key FROM session o WHERE o.session_key = $${values.length}`
    page = ` AND (${column}, s.session_key) ${isAscending ? '>' : '<'} (${last})`
  }
  values.push(limit, offset)
  const rows = await db.rows<SessionRow>(
    `SELECT ${COLUMNS} FROM ${TABLES} WHERE ${where}${page} ORDER BY ${column} ${direction}, s.session_key ${isAscending ? 'ASC' : 'DESC'}
     LIMIT $${values.length - 1} OFFSET $${values.length}`,
    values,
  )
  return { total, rows }
}

/** Those that the person may see, in any order. */
export const readSessions = (db: Transaction, keys: readonly string[]): Promise<readonly SessionRow[]> =>
  keys.length === 0
    ? Promise.resolve([])
    : db.rows<SessionRow>(`SELECT ${COLUMNS} FROM ${TABLES} WHERE s.session_key = ANY ($1::bigint[])`, [
        [...new Set(keys)].map(keyToNumber),
      ])

export const usageOfRow = (
  row: Omit<Usage, 'cache_write_tokens' | 'cache_write_1h_tokens'> & {
    readonly cache_write_tokens: number
    readonly cache_write_1h_tokens: number
  },
): Usage => ({
  input_tokens: row.input_tokens,
  cached_input_tokens: row.cached_input_tokens,
  ...cacheWrites(row.cache_write_tokens, row.cache_write_1h_tokens),
  output_tokens: row.output_tokens,
  reasoning_output_tokens: row.reasoning_output_tokens,
  total_tokens: row.total_tokens,
})

const QUARTER_MS = 900_000

/** Cost of sessions at the prices of the time. */
export async function readCosts(
  db: Transaction,
  keys: readonly string[],
  prices: PriceList,
): Promise<ReadonlyMap<string, Spent>> {
  const rows = await db.rows<Parameters<typeof usageOfRow>[0] & { key: string; quarter: number; model: string }>(
    `SELECT ${HEX('session_key')} AS key, quarter, model, input_tokens, cached_input_tokens, cache_write_tokens,
       cache_write_1h_tokens, output_tokens, reasoning_output_tokens, total_tokens
     FROM usage WHERE session_key = ANY ($1::bigint[])`,
    [keys.map(keyToNumber)],
  )
  const costs = new Map<string, Spent>()
  for (const { key, quarter, model, ...usage } of rows) {
    const at = quarter < 0 ? null : (instantFromMs(quarter * QUARTER_MS) ?? null)
    const cost = costOfUsage(usageOfRow(usage), model === 'unknown' ? undefined : model, at, prices)
    costs.set(key, addCosts(costs.get(key) ?? NO_COST, cost))
  }
  return costs
}

/** A session that received something within this time is being written. */
const LIVE_MS = 90_000
const NO_MARK: SessionItem['mark'] = { name: null, starred: false, tags: [], note: null }

export async function toTeamItems(
  db: Transaction,
  rows: readonly SessionRow[],
  people: ReadonlyMap<number, string>,
  prices: PriceList,
): Promise<readonly SessionItem[]> {
  if (rows.length === 0) return []
  const costs = await readCosts(
    db,
    rows.map(({ key }) => key),
    prices,
  )
  const now = Date.now()
  return rows.map((row) => {
    const first = row.started_at?.getTime()
    const last = row.last_at?.getTime()
    return {
      id: teamSessionId(row.key),
      agent: row.agent,
      native_id: row.native_id,
      kind: row.kind,
      title: row.title ?? row.first_prompt,
      first_prompt: row.first_prompt,
      cwd: row.project,
      branch: row.branch,
      models: row.models,
      created_at: row.started_at?.toISOString() ?? null,
      last_at: row.last_at?.toISOString() ?? null,
      duration_seconds:
        first === undefined || last === undefined ? null : Math.max(0, Math.round((last - first) / 1000)),
      message_count: row.messages,
      turn_count: row.turns,
      tool_count: row.tools,
      error_count: row.errors,
      usage: usageOfRow(row),
      estimate: row.estimate === null ? null : (JSON.parse(row.estimate) as EstimatedTokens),
      credits: row.credits,
      cost: costs.get(row.key) ?? NO_COST,
      live: last !== undefined && Math.abs(now - last) < LIVE_MS,
      issue_count: row.issues,
      parent: row.parent === null ? null : teamSessionId(row.parent),
      relation: row.relation,
      child_count: row.children,
      kept: false,
      gone: false,
      indexed: true,
      path: teamSessionId(row.key),
      filesize_bytes: row.size_bytes,
      revision: row.revision,
      mark: NO_MARK,
      person: people.get(row.person_id) ?? null,
    }
  })
}

/** Names of everybody who was ever in the team, by number. */
export const readNames = async (database: TeamDatabase): Promise<ReadonlyMap<number, string>> =>
  new Map(
    (await database.asServer((db) => db.rows<{ id: number; name: string }>('SELECT id, name FROM person'))).map(
      ({ id, name }) => [id, name],
    ),
  )

export async function readChoices(db: Transaction, people: ReadonlyMap<number, string>): Promise<Choices> {
  const count = (sql: string): Promise<readonly { value: string; count: number }[]> => db.rows(sql)
  const from = `FROM session s WHERE s.is_complete AND s.shared <> 'usage'`
  const byPerson = await db.rows<{ id: number; count: number }>(
    `SELECT person_id AS id, count(*)::int AS count ${from} GROUP BY 1 ORDER BY 2 DESC, 1`,
  )
  return {
    agents: await count(`SELECT agent AS value, count(*)::int AS count ${from} GROUP BY 1 ORDER BY 2 DESC, 1`),
    projects: await count(
      `SELECT j.name AS value, count(*)::int AS count FROM session s JOIN project j ON j.id = s.project_id
       WHERE s.is_complete AND s.shared <> 'usage' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 500`,
    ),
    models: await count(
      `SELECT u AS value, count(*)::int AS count FROM session s, unnest(s.models) u WHERE s.is_complete AND s.shared <> 'usage'
       GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 200`,
    ),
    tools: await count(
      `SELECT tool AS value, count(*)::int AS count FROM tool_use GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 200`,
    ),
    tags: [],
    people: byPerson.flatMap(({ id, count: sessions }) => {
      const value = people.get(id)
      return value === undefined ? [] : { value, count: sessions }
    }),
  }
}
