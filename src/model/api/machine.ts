/** Agents, health, sync and live changes. */
import type { ErrorCode } from '../error.ts'
import type { Reply } from './envelope.ts'
import type { IndexMeta } from './session.ts'

/** `GET /api/health`. Without a token, it returns only `status`. */
export type HealthReply = Reply<HealthItem>

export interface HealthItem {
  /** Always `ok`. */
  readonly status: 'ok'
  /** Version of fumibako. */
  readonly version?: string
  /** State of the index. */
  readonly index?: IndexMeta
  /** Which process updates the index: `here` is this server, `elsewhere` another process, `starting` none yet. */
  readonly watching?: 'here' | 'elsewhere' | 'starting'
  /** Number of clients of `/api/live`. */
  readonly live_clients?: number
  /**
   * Why the data is incomplete, such as a full disk or a locked store. The server retries by itself. Null if nothing
   * is wrong.
   */
  readonly problem?: string | null
  /** `problem` in Japanese. */
  readonly problem_ja?: string | null
}

/**
 * What only some servers offer. The server lists its features in the page that it sends: `files` is the history of
 * files, `machine` the folders, backup, imports and models of a machine, `marks` stars, tags and actions on selected
 * sessions, `patterns` the patterns of conversations.
 */
export type PageFeature = 'ask' | 'chat' | 'convert' | 'files' | 'machine' | 'marks' | 'patterns' | 'sync'

/** `GET /api/agents`: supported agents and their folders. */
export type AgentsReply = Reply<readonly AgentItem[]>

export interface AgentItem {
  /** Id of the agent. */
  readonly id: string
  /** Name to show. */
  readonly label: string
  /** Places that fumibako searches for logs, and whether they exist. */
  readonly roots: readonly { readonly path: string; readonly exists: boolean }[]
  /** Number of indexed sessions. */
  readonly sessions: number
  /** Size of the logs. */
  readonly bytes: number
  /** True if the agent overwrites its sessions. `fumi backup` backs them up. */
  readonly volatile: boolean
  /** True if the agent can continue a session. */
  readonly can_resume: boolean
  /** Formats that fumibako can write for this agent. */
  readonly writes: readonly { readonly form: string; readonly label: string }[]
}

/** `GET /api/backup`: what is backed up, why, since when, and what would be lost without it. */
export type BackupReply = Reply<BackupItem>

export interface BackupItem {
  /** Path of the database. */
  readonly path: string
  /** Size of the database. */
  readonly bytes: number
  /** Size beyond which no files are added. Null without a limit. */
  readonly limit_bytes: number | null
  /** Number of changed files that are not backed up because the limit is reached. */
  readonly without_backup: number
  /** Agents that are used on this machine or have something in the backup. */
  readonly agents: readonly AgentBackupItem[]
}

export interface AgentBackupItem {
  /** Id of the agent. */
  readonly agent: string
  /** Name to show. */
  readonly label: string
  /** True if its sessions are backed up automatically. */
  readonly kept: boolean
  /** Why, in English. */
  readonly reason: string
  /** `reason` in Japanese. */
  readonly reason_ja: string
  /** Number of backed-up rows and files. */
  readonly items: number
  /** Size of the originals. */
  readonly bytes: number
  /** Size in the backup. */
  readonly stored_bytes: number
  /** Time of the first backup. Null if it is unknown or there is none. */
  readonly since: string | null
  /** Number of items whose original was deleted, overwritten or replaced. */
  readonly only_here: number
}

/** `GET /api/choices`: values for the filters of a list, most frequent first. */
export type ChoicesReply = Reply<Choices>

export interface Choices {
  /** Agents. */
  readonly agents: readonly Choice[]
  /** Directories. */
  readonly projects: readonly Choice[]
  /** Models. */
  readonly models: readonly Choice[]
  /** Tools. */
  readonly tools: readonly Choice[]
  /** Tags. */
  readonly tags: readonly Choice[]
  /** People. Only at the server of a team. */
  readonly people?: readonly Choice[]
}

export interface Choice {
  /** Value of the filter. */
  readonly value: string
  /** Number of sessions with this value. */
  readonly count: number
}

/**
 * `GET /api/sync`: progress of the sync. `POST /api/sync`: starts one; 202 with its state, or 409 `sync_in_progress`
 * if one runs.
 */
export type SyncReply = Reply<SyncState>

export interface SyncState {
  /** `running` while a sync runs. */
  readonly status: 'idle' | 'running'
  /** Id of the current or last sync. */
  readonly id: string | null
  /** Start of the current or last sync. */
  readonly started_at: string | null
  /** End of the last sync. */
  readonly ended_at: string | null
  /** Progress of the current sync. */
  readonly progress: SyncProgress | null
  /** Result of the last sync that ended. */
  readonly outcome: SyncOutcomeItem | null
}

export interface SyncProgress {
  /** `scan` finds what changed, `read` indexes it. */
  readonly phase: 'scan' | 'read'
  /** Sources done. */
  readonly done: number
  /** Sources in total. */
  readonly total: number
  /** Bytes done. */
  readonly bytes: number
  /** Bytes in total. */
  readonly total_bytes: number
}

export type SyncOutcomeItem =
  | {
      readonly kind: 'synced'
      readonly sources: number
      readonly scanned: number
      readonly gone: number
      readonly read: number
    }
  /** Another process updates the index. */
  | { readonly kind: 'held'; readonly by: string | null }
  /** `code` is null if the cause is a bug. */
  | { readonly kind: 'failed'; readonly code: ErrorCode | null; readonly reason: string; readonly reason_ja: string }

/**
 * `GET /api/live`: server-sent events, named by their `kind`, with JSON as `data`. Each has the id
 * `<epoch>-<revision>`. A client that reconnects with it as `Last-Event-ID` (or `?since=`) receives the changes that
 * it missed.
 */
export type LiveEvent =
  /** Always sent first. `reset`: the index is another one or too much was missed; load everything again. */
  | { readonly kind: 'hello'; readonly epoch: string | null; readonly revision: number; readonly reset: boolean }
  /** A session was added or changed. */
  | { readonly kind: 'change'; readonly session: string; readonly revision: number }
  | { readonly kind: 'removed'; readonly session: string; readonly revision: number }
  /** The user changed the annotation of a session. */
  | { readonly kind: 'mark'; readonly session: string }
  /** Progress of a sync, at most four times per second. */
  | { readonly kind: 'sync'; readonly state: SyncState }

export const LIVE_EVENTS = ['hello', 'change', 'removed', 'mark', 'sync'] as const
