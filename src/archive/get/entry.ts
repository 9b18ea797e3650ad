/** A session's row as the list tells it. */
import { type Instant, instantFromMs, type SessionId } from '../../model/ids.ts'
import type { Session } from '../../model/session.ts'
import { toEstimatedTokens } from '../../model/tokens/estimate.ts'
import type { SessionEntry } from '../record.ts'

export interface EntryRow {
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

export const ENTRY_COLUMNS = `t.name, t.agent, t.native_id, t.kind, t.header, t.title, t.project, t.started_at, t.last_at, t.lines, t.messages, t.tools,
  t.input_tokens, t.cached_input_tokens, t.output_tokens, t.reasoning_output_tokens, t.total_tokens, t.parent, t.relation, t.gone, t.revision, t.indexed,
  s.path, CASE WHEN s.whole IS NULL THEN s.key END AS key, s.kept, s.size,
  (SELECT json_array(sum(user_bytes), sum(assistant_bytes)) FROM estimate e WHERE e.source_id = t.source_id) AS estimate,
  (SELECT count(*) FROM session c WHERE c.parent = t.name) AS children`

export function toSessionEntry(row: EntryRow): SessionEntry {
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
