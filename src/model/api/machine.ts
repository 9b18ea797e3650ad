/** The machine and what goes on: agents, health, sync, and changes as they happen. */
import type { ErrorCode } from '../error.ts'
import type { Reply } from './envelope.ts'
import type { IndexMeta } from './session.ts'

/** `GET /api/health`. Needs no token and then says no more than `status`. */
export type HealthReply = Reply<HealthItem>

export interface HealthItem {
  readonly status: 'ok'
  readonly version?: string
  readonly index?: IndexMeta
  /** Who keeps the index up to date: this server, another process, or nobody yet. */
  readonly watching?: 'here' | 'elsewhere' | 'starting'
  /** Clients of `/api/live`. */
  readonly live_clients?: number
  /** Something that could not be done and is tried again, such as writing to a full disk or reading a locked store: what is shown is incomplete. */
  readonly problem?: string | null
  /** The same in Japanese. */
  readonly problem_ja?: string | null
}

/** `GET /api/agents`. */
export type AgentsReply = Reply<readonly AgentItem[]>

export interface AgentItem {
  readonly id: string
  readonly label: string
  /** Where it keeps its logs, and whether there is such a place. */
  readonly roots: readonly { readonly path: string; readonly exists: boolean }[]
  readonly sessions: number
  readonly bytes: number
  /** It overwrites what it wrote, and `fumi backup` saves that. */
  readonly volatile: boolean
  readonly can_resume: boolean
  /** The forms in which a conversation can be written for it. */
  readonly writes: readonly { readonly form: string; readonly label: string }[]
}

/** `GET /api/choices`: what the menus of a list offer, most used first. */
export type ChoicesReply = Reply<Choices>

export interface Choices {
  readonly agents: readonly Choice[]
  readonly projects: readonly Choice[]
  readonly models: readonly Choice[]
  readonly tools: readonly Choice[]
  readonly tags: readonly Choice[]
}

export interface Choice {
  readonly value: string
  /** Sessions. */
  readonly count: number
}

/** `POST /api/sync`: 202 with the state, or 409 `sync_in_progress` while one runs. `GET /api/sync`: how far it is. */
export type SyncReply = Reply<SyncState>

export interface SyncState {
  readonly status: 'idle' | 'running'
  readonly id: string | null
  readonly started_at: string | null
  readonly ended_at: string | null
  readonly progress: SyncProgress | null
  /** Of the last one that ended. */
  readonly outcome: SyncOutcomeItem | null
}

export interface SyncProgress {
  readonly phase: 'scan' | 'read'
  readonly done: number
  readonly total: number
  readonly bytes: number
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
  /** Another process keeps the index up to date. */
  | { readonly kind: 'held'; readonly by: string | null }
  /** `code` is null for what is a bug. */
  | { readonly kind: 'failed'; readonly code: ErrorCode | null; readonly reason: string; readonly reason_ja: string }

/**
 * `GET /api/live`: server-sent events. Each has the id `<epoch>-<revision>`; a client that comes back with it as
 * `Last-Event-ID` (or `?since=`) is told what it missed. `data` is one of these as JSON; the name of the event is its `kind`.
 */
export type LiveEvent =
  /** The first one, always. `reset`: forget what you know, the index is another one, or too much was missed. */
  | { readonly kind: 'hello'; readonly epoch: string | null; readonly revision: number; readonly reset: boolean }
  /** A session was added, has grown, or has changed. */
  | { readonly kind: 'change'; readonly session: string; readonly revision: number }
  | { readonly kind: 'removed'; readonly session: string; readonly revision: number }
  /** The user's marks of a session changed. */
  | { readonly kind: 'mark'; readonly session: string }
  /** At most four in a second. */
  | { readonly kind: 'sync'; readonly state: SyncState }

export const LIVE_EVENTS = ['hello', 'change', 'removed', 'mark', 'sync'] as const
