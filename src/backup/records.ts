/** Arguments and results of the backup. */
import type { AgentId, Instant, SessionId } from '../model/ids.ts'

/** A row of another program's store, which that program overwrites. */
export interface RowLocation {
  /** Path of the store. */
  readonly store: string
  /** Identifies the row in its store. */
  readonly key: string
}

export interface RowOrigin extends RowLocation {
  /** The agent named by the row itself, if any. */
  readonly agent: AgentId
  /** Stored with the row and returned by `fingerprints`. If it is equal, the row need not be read. */
  readonly fingerprint?: string
}

export type EndReason =
  /** Its row holds another conversation. */
  | 'overwritten'
  /** Its row holds the same conversation, started again. */
  | 'cleared'
  /** Its row holds the same conversation, rolled back to an earlier entry. */
  | 'truncated'
  /** Its row was deleted. */
  | 'vanished'

export interface EndedSession {
  readonly session: SessionId
  readonly how: EndReason
}

export interface BackupResult {
  readonly session: SessionId
  readonly change: BackupChange
  /** Number of the row's first entry, counted from 1 over all backed-up entries of the session. */
  readonly first_number: number
  /** Entries that are new to the session. */
  readonly new_entries: number
  /** Compressed bytes added to the backup. */
  readonly stored_bytes: number
  /** Sessions that ended with this state, by their new names. */
  readonly ended: readonly EndedSession[]
  /** New name of the session whose old name `session` has taken over. */
  readonly renamed?: SessionId
}

export type BackupChange =
  /** The session is new. */
  | 'new'
  /** Entries were added at its end. */
  | 'grown'
  /** No new entries, but other bytes: a summary, a model, entries spelled differently or dropped from the front. */
  | 'changed'
  /** The same bytes as last time. */
  | 'unchanged'
  /** Rolled back to an earlier entry. The longer version is a session of its own. */
  | 'branched'

/** The session a row belongs to, determined without a backup. */
export interface SessionMatch {
  readonly session: SessionId
  readonly first_number: number
  /** Absent if the session is not backed up yet. */
  readonly first_seen?: Instant
}

export interface BackedUpSession extends RowLocation {
  readonly session: SessionId
  readonly agent: AgentId
  readonly kind: 'conversation' | 'unreadable'
  /** The other machine that it came from; the store's path begins with the machine's name. Absent: this one. */
  readonly machine?: string
  /** The agent's own id of the conversation. Absent if the row is unreadable. */
  readonly native_id?: string
  /** Number of backed-up entries, including those that the row has dropped. */
  readonly entries: number
  /** Number of the first entry in the last state of the row. */
  readonly first_number: number
  /** Size of the row in bytes. */
  readonly size: number
  /** Changes whenever `bytes` or `conversation` may return something else. */
  readonly revision: number
  readonly first_seen: Instant
  readonly last_seen: Instant
  readonly ended_at?: Instant
  readonly ended_how?: EndReason
}

export interface BackupFilter {
  readonly store?: string
  readonly agent?: AgentId
  readonly native_id?: string
  readonly kind?: BackedUpSession['kind']
  /** True: only sessions still in their store. False: only sessions that exist nowhere else. */
  readonly alive?: boolean
}
