/** The totals tab of a conversation: `GET /api/sessions/:id/totals`. Reads the whole log; again only what was added. */
import type { Spent } from '../prices.ts'
import type { Usage } from '../usage.ts'
import type { Reply } from './envelope.ts'

export type SessionTotalsReply = Reply<SessionTotals>

export interface SessionTotals {
  readonly revision: number
  readonly usage: Usage
  readonly cost: Spent
  /** Of the input, from 0 to 1. */
  readonly cache_share: number
  readonly by_model: readonly { readonly model: string; readonly usage: Usage; readonly cost: Spent }[]
  readonly turns: readonly TurnTotals[]
  /** As the log last told them. */
  readonly rate_limits: readonly RateLimit[]
  /** Events by kind, most first. */
  readonly events: readonly EventCount[]
  readonly tools: readonly SessionTool[]
  readonly files: readonly SessionFile[]
  readonly roles: { readonly [role: string]: number }
  readonly encrypted: { readonly records: number; readonly bytes: number }
  readonly images: number
  /** How spec 001 names it; null where a log is not told in entries. */
  readonly pattern: string | null
}

export interface TurnTotals {
  readonly number: number
  readonly message_id: string
  readonly prompt: string
  readonly started_at: string
  readonly duration_ms: number
  readonly usage: Usage
  readonly cost: Spent
  readonly tools: number
  readonly errors: number
  readonly rolled_back: boolean
}

export interface RateLimit {
  /** `primary`, `secondary` … */
  readonly name: string
  readonly used_percent: number
  readonly window_minutes: number | null
  readonly resets_at: string | null
  readonly at: string
}

export interface EventCount {
  readonly event_kind: string
  readonly count: number
  readonly first_message_id: string
  readonly last_at: string
}

export interface SessionTool {
  readonly tool: string
  readonly calls: number
  readonly errors: number
  readonly duration_ms: number
  /** Results that told how long they took. */
  readonly timed: number
}

export interface SessionFile {
  readonly path: string
  readonly how: readonly ('named' | 'added' | 'updated' | 'deleted')[]
  readonly calls: number
  readonly last_message_id: string
}
