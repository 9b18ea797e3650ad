/** Sessions: `GET /api/sessions`, `GET /api/sessions/:id`, marks and the command that goes on with one. */
import type { NormalizedMessage, Role } from '../normalized.ts'
import type { Spent } from '../prices.ts'
import type { Session } from '../session.ts'
import type { EstimatedTokens } from '../token-estimate.ts'
import type { Usage } from '../usage.ts'
import type { Pagination, Reply } from './envelope.ts'

export const SESSION_SORTS = [
  'last_at',
  'created_at',
  'message_count',
  'total_tokens',
  'filesize_bytes',
  'title',
] as const
export type SessionSort = (typeof SESSION_SORTS)[number]

/** `GET /api/sessions`. Forks and sub-agents stand under their parents unless `children` or `parent` is given. */
export type SessionsReply = Reply<readonly SessionItem[], SessionsMeta>

export interface SessionsMeta {
  readonly pagination: Pagination
  readonly sort: string
  /** As they were understood. */
  readonly filters: { readonly [name: string]: string }
  readonly index: IndexMeta
}

/** What stands at the foot of the list. */
export interface IndexMeta {
  /** Another one means that all that was read before may be different now. Null while there is no index. */
  readonly epoch: string | null
  /** Grows with each change. Together with the epoch it is an event id of `/api/live`. */
  readonly revision: number
  readonly sessions: number
  /** Of the logs, read in place. */
  readonly source_bytes: number
  readonly index_bytes: number
  /** Sessions that cannot be searched yet. */
  readonly unread: number
}

/** One line of the list. */
export interface SessionItem {
  readonly id: string
  readonly agent: string
  /** The agent's own id. */
  readonly native_id: string
  readonly kind: Session['kind']
  /** The name that the user gave it, else the title, else the beginning of the first prompt. */
  readonly title: string | null
  /** The beginning of the first prompt. */
  readonly first_prompt: string | null
  /** The directory it took place in. */
  readonly cwd: string | null
  readonly branch: string | null
  /** In order of first use. */
  readonly models: readonly string[]
  readonly created_at: string
  readonly last_at: string
  readonly duration_seconds: number
  readonly message_count: number
  readonly turn_count: number
  /** Calls. */
  readonly tool_count: number
  /** Results and events that tell of a failure. */
  readonly error_count: number
  readonly usage: Usage
  /** Where its log counts no tokens: then `usage` is all 0. */
  readonly estimate: EstimatedTokens | null
  readonly cost: Spent
  /** Something was written within the last minute or two. */
  readonly live: boolean
  /** Lines and entries that could not be read as they should. */
  readonly issue_count: number
  readonly parent: string | null
  readonly relation: 'fork' | 'subagent' | null
  /** Sessions that stand under this one. */
  readonly child_count: number
  /** It is read from a copy that was kept. */
  readonly kept: boolean
  /** No source is left, and nothing was kept of it: only what the index knows can be shown. */
  readonly gone: boolean
  /** All of it can be searched. */
  readonly indexed: boolean
  readonly filesize_bytes: number
  readonly revision: number
  readonly mark: MarkItem
}

/** What the user says about a session. */
export interface MarkItem {
  readonly name: string | null
  readonly starred: boolean
  /** In alphabetical order. */
  readonly tags: readonly string[]
  readonly note: string | null
}

/** `PUT /api/sessions/:id/mark`. What is not named stays; an empty text takes a name or a note away. Replies with the mark. */
export interface MarkBody {
  readonly name?: string
  readonly starred?: boolean
  readonly note?: string
  /** All of them, in place of those before. */
  readonly tags?: readonly string[]
}

export type MarkReply = Reply<MarkItem>

/** `GET /api/sessions/:id`. */
export type SessionReply = Reply<SessionDetail>

export interface SessionDetail extends SessionItem {
  readonly agent_label: string
  /** Where it lies, to be shown and copied. No request takes a path. */
  readonly path: string
  /** The row of a database. */
  readonly row_key: string | null
  /** What the log's header says: version of the agent, policies, git. */
  readonly header: Session
  /** Records of the log as messages: what a window counts from. */
  readonly record_count: number
  readonly speaker_roles: readonly Role[]
  /** The first hundred. */
  readonly issues: readonly IssueItem[]
  readonly children: readonly SessionItem[]
  /** Null where the agent cannot go on with it; then `resume_reason` says why. */
  readonly resume: ResumeItem | null
  readonly resume_reason: string | null
  /** `/api/sessions/:id/state` has something to say. */
  readonly has_state: boolean
  readonly checkpoints: readonly CheckpointItem[]
  readonly messages?: readonly NormalizedMessage[]
}

export interface IssueItem {
  readonly code: string
  readonly reason: string
  /** From 1. */
  readonly line: number | null
}

/** A command for a shell, to be copied. */
export interface ResumeItem {
  readonly command: string
  readonly cwd: string | null
}

/** A state of the files that the agent can go back to. */
export interface CheckpointItem {
  readonly tag: string
  readonly at: string
  readonly description: string | null
  /** Entries of the history at that moment. */
  readonly entries: number | null
  readonly files: { readonly added: number; readonly modified: number; readonly deleted: number } | null
}
