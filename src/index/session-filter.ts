/** Selects sessions for a list, a search or a report, as SQL conditions. */
import type { AgentId, SessionId } from '../model/ids.ts'
import type { Role } from '../model/normalized.ts'
import { ROLES } from './row-encoding.ts'

export interface SessionFilter {
  readonly ids?: readonly SessionId[]
  readonly agents?: readonly AgentId[]
  /** A directory or one of its parents. Without a slash, a directory name anywhere in the path. */
  readonly project?: string
  /** Name of the model; `*` matches anything. */
  readonly model?: string
  readonly tool?: string
  /** The session has messages of each of these roles. */
  readonly roles?: readonly Role[]
  /** The session has messages at or after `since` and before `until`. Milliseconds. */
  readonly since?: number
  readonly until?: number
  /** Default: `conversation`. */
  readonly kind?: 'conversation' | 'prompts' | 'any'
}

export interface SessionConditions {
  /** Refers to the session as `t`. Never empty. */
  readonly sql: string
  readonly values: readonly (string | number)[]
}

export function filterConditions(filter: SessionFilter): SessionConditions {
  const parts: string[] = []
  const values: (string | number)[] = []
  const add = (sql: string, ...more: readonly (string | number)[]): void => {
    parts.push(sql)
    values.push(...more)
  }
  const { ids, agents, project, model, tool, roles = [], since, until, kind = 'conversation' } = filter
  if (kind !== 'any') add('t.kind = ?', kind)
  if (ids) add('t.name IN (SELECT value FROM json_each(?))', JSON.stringify(ids))
  if (agents) add('t.agent IN (SELECT value FROM json_each(?))', JSON.stringify(agents))
  if (project !== undefined) add(...projectCondition(project))
  if (model !== undefined)
    add(
      `t.id IN (SELECT session_id FROM model_of WHERE model_id IN (SELECT id FROM word WHERE text ${model.includes('*') ? 'GLOB' : '='} ?))`,
      model,
    )
  if (tool !== undefined)
    add(
      `(t.id IN (SELECT session_id FROM tool_use WHERE tool_id IN (SELECT id FROM word WHERE text = ?))
        OR t.indexed = 0 AND EXISTS (SELECT 1 FROM source o, json_each(o.tools) j WHERE o.id = t.source_id AND j.key = ?))`,
      tool,
      tool,
    )
  for (const role of roles)
    add('EXISTS (SELECT 1 FROM message r WHERE r.session_id = t.id AND r.kind & 7 = ?)', ROLES.indexOf(role))
  if (since !== undefined) add('t.last_at >= ?', since)
  // Sessions without a date are in no period.
  if (until !== undefined) add('t.started_at BETWEEN 0 AND ? - 1', until)
  return { sql: parts.length > 0 ? parts.join(' AND ') : '1', values }
}

function projectCondition(project: string): [sql: string, ...values: (string | number)[]] {
  const folder = project.replace(/[/\\]+$/, '')
  if (/[/\\]/.test(project))
    return [
      "(t.project = ? OR substr(t.project, 1, ?) IN (? || '/', ? || char(92)))",
      folder,
      folder.length + 1,
      folder,
      folder,
    ]
  return ["instr('/' || replace(t.project, char(92), '/') || '/', '/' || ? || '/') > 0", folder]
}
