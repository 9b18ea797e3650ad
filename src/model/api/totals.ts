/**
 * Totals of a session: `GET /api/sessions/:id/totals`. The first request reads the complete log, later ones only what
 * was added.
 */
import type { Spent } from '../prices.ts'
import type { Usage } from '../usage.ts'
import type { Reply } from './envelope.ts'

export type SessionTotalsReply = Reply<SessionTotals>

export interface SessionTotals {
  /** Revision of the session. */
  readonly revision: number
  /** Tokens. */
  readonly usage: Usage
  /** Cost at list prices. */
  readonly cost: Spent
  /** Cached share of the input, from 0 to 1. */
  readonly cache_share: number
  /** Totals by model. */
  readonly by_model: readonly { readonly model: string; readonly usage: Usage; readonly cost: Spent }[]
  /** Totals by turn. */
  readonly turns: readonly TurnTotals[]
  /** Tokens in the context of each request, in order. Of more than 600, the largest of each few. */
  readonly context: readonly ContextPoint[]
  /** Size of the context window. Null if the log does not record it. */
  readonly context_window: number | null
  /** Rate limits as the log last recorded them. */
  readonly rate_limits: readonly RateLimit[]
  /** Events by kind, most frequent first. */
  readonly events: readonly EventCount[]
  /** Tools, most calls first. */
  readonly tools: readonly SessionTool[]
  /** Files that tool calls touched. */
  readonly files: readonly SessionFile[]
  /** Number of messages by role. */
  readonly roles: { readonly [role: string]: number }
  /** Number and size of encrypted records. */
  readonly encrypted: { readonly records: number; readonly bytes: number }
  /** Number of images. */
  readonly images: number
  /** Tool use pattern of specification 001. Null for logs without entries. */
  readonly pattern: string | null
}

export interface ContextPoint {
  /** Message that reports the tokens. */
  readonly message_id: string
  /** Time of the message. Null if the log records none. */
  readonly at: string | null
  /** Input of the request and its answer. */
  readonly tokens: number
}

export interface TurnTotals {
  /** Number of the turn. */
  readonly number: number
  /** Id of the prompt. */
  readonly message_id: string
  /** Beginning of the prompt. */
  readonly prompt: string
  /** Time of the prompt. Null if the log records none. */
  readonly started_at: string | null
  /** Duration. Null if the log records no times. */
  readonly duration_ms: number | null
  /** Tokens. */
  readonly usage: Usage
  /** Cost at list prices. */
  readonly cost: Spent
  /** Number of tool calls. */
  readonly tools: number
  /** Number of failures. */
  readonly errors: number
  /** True if the turn was rolled back. */
  readonly rolled_back: boolean
}

export interface RateLimit {
  /** Name of the limit: `primary`, `secondary` … */
  readonly name: string
  /** Used share in percent. */
  readonly used_percent: number
  /** Length of the window. */
  readonly window_minutes: number | null
  /** Time of the next reset. */
  readonly resets_at: string | null
  /** Time of the record. */
  readonly at: string
}

export interface EventCount {
  /** Kind of event. */
  readonly event_kind: string
  /** Number of events. */
  readonly count: number
  /** Id of the first one. */
  readonly first_message_id: string
  /** Time of the last one. Null if the log records none. */
  readonly last_at: string | null
}

export interface SessionTool {
  /** Name of the tool. */
  readonly tool: string
  /** Number of calls. */
  readonly calls: number
  /** Number of failures. */
  readonly errors: number
  /** Total duration. */
  readonly duration_ms: number
  /** Number of results that record a duration. */
  readonly timed: number
}

export interface SessionFile {
  /** Path as the tool calls name it. */
  readonly path: string
  /** What the calls did with the file. */
  readonly how: readonly ('named' | 'added' | 'updated' | 'deleted')[]
  /** Number of calls. */
  readonly calls: number
  /** Id of the last call. */
  readonly last_message_id: string
}
