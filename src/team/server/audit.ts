/** Who did what: reading, taking over, withdrawing, inviting, revoking. People see who read their sessions. */
import { keyToNumber } from '../hash-chain.ts'
import type { TeamDatabase, Transaction } from '../postgres/database.ts'
import { teamSessionId } from '../protocol.ts'
import type { Person } from './people.ts'

export const AUDIT_ACTIONS = [
  'join',
  'sign_in',
  'invite',
  'revoke',
  'policy',
  'read',
  'take_over',
  'export',
  'share',
  'withdraw',
  'retention',
  'leave',
] as const
export type AuditAction = (typeof AUDIT_ACTIONS)[number]

export interface AuditEntry {
  readonly action: AuditAction
  readonly person?: number
  readonly device?: number | undefined
  readonly session?: string
  readonly owner?: number
  readonly detail?: string
}

export const addAudit = (
  db: Transaction,
  { action, person, device, session, owner, detail }: AuditEntry,
): Promise<number> =>
  db.run(
    'INSERT INTO audit (action, person_id, device_id, session_key, owner_id, detail) VALUES ($1, $2, $3, $4, $5, $6)',
    [
      action,
      person ?? null,
      device ?? null,
      session === undefined ? null : keyToNumber(session),
      owner ?? null,
      detail ?? null,
    ],
  )

/** A page that scrolls through a session reads it once. */
const SAME_READING_MS = 600_000
const MAX_REMEMBERED = 10_000

export class ReadingLog {
  readonly #database: TeamDatabase
  readonly #recent = new Map<string, number>()

  constructor(database: TeamDatabase) {
    this.#database = database
  }

  /** Before anything of the session is sent. One's own sessions are not recorded. */
  async note(person: number, session: string, owner: number): Promise<void> {
    if (person === owner) return
    const key = `${person} ${session}`
    const now = performance.now()
    if (now - (this.#recent.get(key) ?? Number.NEGATIVE_INFINITY) < SAME_READING_MS) return
    await this.#database.asServer((db) => addAudit(db, { action: 'read', person, session, owner }))
    this.#recent.delete(key)
    this.#recent.set(key, now)
    if (this.#recent.size > MAX_REMEMBERED) for (const [oldest] of this.#recent) if (this.#recent.delete(oldest)) break
  }
}

export interface AuditItem {
  readonly at: Date
  readonly action: AuditAction
  readonly person: string | null
  readonly session: string | null
  readonly owner: string | null
  readonly detail: string | null
}

/** Everything for an administrator; for others what concerns their own sessions, and what they did. Newest first. */
export async function readAudit(
  database: TeamDatabase,
  { id, is_admin }: Person,
  limit: number,
): Promise<readonly AuditItem[]> {
  const rows = await database.asServer((db) =>
    db.rows<AuditItem>(
      `SELECT a.at, a.action, p.name AS person, CASE WHEN a.session_key IS NOT NULL THEN lpad(to_hex(a.session_key), 16, '0') END AS session,
         o.name AS owner, a.detail
       FROM audit a LEFT JOIN person p ON p.id = a.person_id LEFT JOIN person o ON o.id = a.owner_id
       WHERE $2 OR a.owner_id = $1 OR a.person_id = $1 ORDER BY a.id DESC LIMIT $3`,
      [id, is_admin, limit],
    ),
  )
  return rows.map((row) => ({ ...row, session: row.session === null ? null : teamSessionId(row.session) }))
}
