/** Sessions and their numbers, as rows for a company's lake. */
import { allUsageFields } from '../../model/usage.ts'
import { keyToNumber } from '../hash-chain.ts'
import type { Transaction } from '../postgres/database.ts'
import { type ExportedSession, teamSessionId } from '../protocol.ts'
import { usageOfRow } from './list-sessions.ts'

const SESSIONS_PER_PAGE = 200
const QUARTER_MS = 900_000

/** @param after key of the last session of the page before */
export async function readForExport(
  db: Transaction,
  people: ReadonlyMap<number, string>,
  after: string | undefined,
): Promise<readonly ExportedSession[]> {
  const sessions = await db.rows<{
    key: string
    person_id: number
    shared: string
    project: string
    agent: string
    native_id: string
    branch: string | null
    title: string | null
    parent: string | null
    relation: string | null
    started_at: Date | null
    last_at: Date | null
    messages: number
    turns: number
    tools: number
    errors: number
    revision: number
  }>(
    `SELECT lpad(to_hex(s.session_key), 16, '0') AS key, s.person_id, s.shared, j.name AS project, s.agent, s.native_id, s.branch,
       s.title, CASE WHEN s.parent_key IS NOT NULL THEN lpad(to_hex(s.parent_key), 16, '0') END AS parent, s.relation, s.started_at,
       s.last_at, s.messages, s.turns, s.tools, s.errors, s.revision
     FROM session s JOIN project j ON j.id = s.project_id
     WHERE s.is_complete AND s.session_key > $1 ORDER BY s.session_key LIMIT ${SESSIONS_PER_PAGE}`,
    [after === undefined ? '-1' : keyToNumber(after)],
  )
  const used = await db.rows<Parameters<typeof usageOfRow>[0] & { key: string; quarter: number; model: string }>(
    `SELECT lpad(to_hex(session_key), 16, '0') AS key, quarter, model, input_tokens, cached_input_tokens, cache_write_tokens,
       cache_write_1h_tokens, output_tokens, reasoning_output_tokens, total_tokens
     FROM usage WHERE session_key = ANY ($1::bigint[]) ORDER BY session_key, quarter, model`,
    [sessions.map(({ key }) => keyToNumber(key))],
  )
  return sessions.map(({ key, person_id, parent, started_at, last_at, ...row }) => ({
    session: teamSessionId(key),
    person: people.get(person_id) ?? null,
    ...row,
    parent: parent === null ? null : teamSessionId(parent),
    started_at: started_at?.toISOString() ?? null,
    last_at: last_at?.toISOString() ?? null,
    usage: used.flatMap(({ key: of, quarter, model, ...usage }) =>
      of === key
        ? {
            at: quarter < 0 ? null : new Date(quarter * QUARTER_MS).toISOString(),
            model,
            ...allUsageFields(usageOfRow(usage)),
          }
        : [],
    ),
  }))
}
