/** Sessions: the list, one session, its annotation and its resume command. */
import type { NormalizedMessage, Role } from '../normalized.ts'
import type { Spent } from '../prices.ts'
import type { Session } from '../session.ts'
import type { EstimatedTokens } from '../token-estimate.ts'
import type { Usage } from '../usage.ts'
import type { FilterMeta, Pagination, Reply } from './envelope.ts'

export const SESSION_SORTS = [
  'last_at',
  'created_at',
  'duration_seconds',
  'turn_count',
  'message_count',
  'tool_count',
  'error_count',
  'total_tokens',
  'cost',
  'filesize_bytes',
  'title',
] as const
export type SessionSort = (typeof SESSION_SORTS)[number]

/** `GET /api/sessions`. Forks and sub-agents are listed under their parents unless `children` or `parent` is given. */
export type SessionsReply = Reply<readonly SessionItem[], SessionsMeta>

export interface SessionsMeta extends FilterMeta {
  /** Position in the list. */
  readonly pagination: Pagination
  /** Sort order in use. */
  readonly sort: string
  /** Filters in use. */
  readonly filters: { readonly [name: string]: string }
  /** State of the index. */
  readonly index: IndexMeta
}

/**
 * `GET /api/sessions/summary`: what all sessions of a list add up to, and how many sessions each value of a filter
 * would leave.
 */
export type SummaryReply = Reply<SummaryItem, FilterMeta>

export interface SummaryItem {
  /** Sums over all sessions of the list, also those on other pages. */
  readonly totals: SummaryTotals
  /** Agents. The counts follow all filters but the one on agents. */
  readonly agents: readonly SummaryChoice[]
  /** Directories. The counts follow all filters but the one on directories. */
  readonly projects: readonly SummaryChoice[]
  /** Models. The counts follow all filters but the one on models. */
  readonly models: readonly SummaryChoice[]
  /** Tags. The counts follow all filters but the one on tags. */
  readonly tags: readonly SummaryChoice[]
  /** People. Only at the server of a team. The counts follow all filters but the one on people. */
  readonly people?: readonly SummaryChoice[]
}

export interface SummaryChoice {
  /** Value of the filter. */
  readonly value: string
  /** Number of sessions with this value. */
  readonly count: number
}

export interface SummaryTotals {
  /** Number of sessions. */
  readonly sessions: number
  /** Number of turns. */
  readonly turns: number
  /** Number of tool calls. */
  readonly tools: number
  /** Number of failed tool calls. */
  readonly errors: number
  /** Tokens that the logs record. */
  readonly total_tokens: number
  /** Cost at list prices. */
  readonly cost: Spent
}

/** `POST /api/sessions/marks`: changes the annotations of several sessions. Returns the number of changed sessions. */
export interface MarksBody {
  /** Ids of the sessions. */
  readonly ids: readonly string[]
  /** True adds the star, false removes it. */
  readonly starred?: boolean
  /** Tags to add. */
  readonly tag?: readonly string[]
  /** Tags to remove. */
  readonly untag?: readonly string[]
}

export type MarksReply = Reply<{ readonly changed: number }>

/** State of the index. */
export interface IndexMeta {
  /** Identity of the index. If it changes, discard everything read before. Null without an index. */
  readonly epoch: string | null
  /** Grows with each change. `<epoch>-<revision>` is an event id of `/api/live`. */
  readonly revision: number
  /** Number of sessions. */
  readonly sessions: number
  /** Size of the logs. */
  readonly source_bytes: number
  /** Size of the index. */
  readonly index_bytes: number
  /** Sessions that cannot be searched yet. */
  readonly unread: number
}

/** A session in the list. */
export interface SessionItem {
  /** Id of the session. */
  readonly id: string
  /** Id of the agent. */
  readonly agent: string
  /** Id that the agent itself uses. */
  readonly native_id: string
  /** Kind of session. */
  readonly kind: Session['kind']
  /** Name given by the user, or the title, or the beginning of the first prompt. */
  readonly title: string | null
  /** Beginning of the first prompt. */
  readonly first_prompt: string | null
  /** Working directory of the session. */
  readonly cwd: string | null
  /** Git branch. */
  readonly branch: string | null
  /** Models, in order of first use. */
  readonly models: readonly string[]
  /** First time in the log. Null if it records none. */
  readonly created_at: string | null
  /** Last time in the log. Null if it records none. */
  readonly last_at: string | null
  /** Time between the two. Null if the log records none. */
  readonly duration_seconds: number | null
  /** Number of messages. */
  readonly message_count: number
  /** Number of turns. */
  readonly turn_count: number
  /** Number of tool calls. */
  readonly tool_count: number
  /** Number of results and events that report a failure. */
  readonly error_count: number
  /** Tokens that the log records. */
  readonly usage: Usage
  /** Estimated tokens if the log records no token counts; `usage` is then 0. */
  readonly estimate: EstimatedTokens | null
  /** What the vendor charged, if the log counts credits instead of tokens. */
  readonly credits: number | null
  /** Cost at list prices. */
  readonly cost: Spent
  /** True if the log was written to within the last minutes. */
  readonly live: boolean
  /** Number of lines and entries that could not be read correctly. */
  readonly issue_count: number
  /** Session from which this one started. */
  readonly parent: string | null
  /** How it relates to its parent. */
  readonly relation: 'fork' | 'subagent' | 'revert' | null
  /** Number of sessions listed under this one. */
  readonly child_count: number
  /** True if the original is gone or was overwritten, and the session is read from a backup. */
  readonly kept: boolean
  /** True if neither the source nor a backup exists. Only indexed data is available. */
  readonly gone: boolean
  /** True if the whole session can be searched. */
  readonly indexed: boolean
  /** Path of the log, to show and copy. No request accepts a path. */
  readonly path: string
  /** Size of the log. */
  readonly filesize_bytes: number
  /** Grows when the session changes. */
  readonly revision: number
  /** Annotation by the user. */
  readonly mark: MarkItem
  /** Who shared the session. Only at the server of a team. */
  readonly person?: string | null
}

/** Annotation by the user. */
export interface MarkItem {
  /** Name that replaces the title. */
  readonly name: string | null
  /** True if the session has a star. */
  readonly starred: boolean
  /** Tags in alphabetical order. */
  readonly tags: readonly string[]
  /** Note. */
  readonly note: string | null
}

/** `PUT /api/sessions/:id/mark`: changes the annotation and returns it. Absent fields stay as they are. */
export interface MarkBody {
  /** New name. An empty text removes it. */
  readonly name?: string
  /** True adds the star, false removes it. */
  readonly starred?: boolean
  /** New note. An empty text removes it. */
  readonly note?: string
  /** All tags. They replace the current ones. */
  readonly tags?: readonly string[]
}

export type MarkReply = Reply<MarkItem>

/** `GET /api/sessions/:id`. */
export type SessionReply = Reply<SessionDetail>

export interface SessionDetail extends SessionItem {
  /** Name of the agent. */
  readonly agent_label: string
  /** Key of the database row. Null for a log file. */
  readonly row_key: string | null
  /** Header of the log: agent version, policies, Git state. */
  readonly header: Session
  /** Number of messages in the log, counted like positions of windows. */
  readonly record_count: number
  /** Roles that occur in the session. */
  readonly speaker_roles: readonly Role[]
  /** First 100 problems of the log. */
  readonly issues: readonly IssueItem[]
  /** Forks and sub-agents of this session. */
  readonly children: readonly SessionItem[]
  /** Command that continues the session. Null if the agent cannot. */
  readonly resume: ResumeItem | null
  /** Why the session cannot be continued. */
  readonly resume_reason: string | null
  /** True if `/api/sessions/:id/state` has data. */
  readonly has_state: boolean
  /** Checkpoints of the session. */
  readonly checkpoints: readonly CheckpointItem[]
  /** First 1,000 messages. Only with `variant`. */
  readonly messages?: readonly NormalizedMessage[]
}

export interface IssueItem {
  /** Code of the problem. */
  readonly code: string
  /** What is wrong. */
  readonly reason: string
  /** Line, from 1. */
  readonly line: number | null
}

/** A shell command. */
export interface ResumeItem {
  /** The command line. */
  readonly command: string
  /** Directory in which to run it. */
  readonly cwd: string | null
}

/** A state of the files that the agent can restore. */
export interface CheckpointItem {
  /** Tag of the checkpoint. */
  readonly tag: string
  /** Time of the checkpoint. */
  readonly at: string
  /** Description of the checkpoint. */
  readonly description: string | null
  /** Number of history entries at that time. */
  readonly entries: number | null
  /** Number of files added, modified and deleted. */
  readonly files: { readonly added: number; readonly modified: number; readonly deleted: number } | null
}
