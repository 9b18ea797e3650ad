/** What the backup is given and what it returns. */
import type { AgentId, Instant, SessionId } from '../model/ids.ts'

/** A row of another program's store, which its owner overwrites. */
export interface RowLocation {
  /** Path of the store. */
  readonly store: string
  /** What distinguishes the row from the others of that store. */
  readonly key: string
}

export interface RowOrigin extends RowLocation {
  /** The capture's own, where there is one. */
  readonly agent: AgentId
  /** Kept beside the row and given back by `fingerprints`: an equal one means that the row need not be read again. */
  readonly fingerprint?: string
}

export type EndReason =
  /** Its row holds another conversation. */
  | 'overwritten'
  /** Its row holds the same conversation, begun anew. */
  | 'cleared'
  /** Its row holds the same conversation, gone back to an earlier entry. */
  | 'truncated'
  /** Its row is gone. */
  | 'vanished'

export interface EndedSession {
  readonly session: SessionId
  readonly how: EndReason
}

export interface BackupResult {
  readonly session: SessionId
  readonly change: BackupChange
  /** The number of the row's first entry, counted from 1 over all kept entries of the session. */
  readonly first_number: number
  /** Entries that the session did not have before. */
  readonly new_entries: number
  /** What this added to the backup, compressed. */
  readonly stored_bytes: number
  /** Sessions that this put an end to, by their names as they are now. */
  readonly ended: readonly EndedSession[]
  /** The name that a session has now whose old one went over to `session`. */
  readonly renamed?: SessionId
}

export type BackupChange =
  /** A session that was not known. */
  | 'new'
  /** New entries at its end. */
  | 'grown'
  /** No new entries, but other bytes: a summary, a model, entries spelt anew or dropped at the front. */
  | 'changed'
  /** The very same bytes as last time. */
  | 'unchanged'
  /** It went back to an earlier entry; what it was before is a session of its own. */
  | 'branched'

/** Which session a row belongs to, told without keeping it. */
export interface SessionMatch {
  readonly session: SessionId
  readonly first_number: number
  /** Absent for a session that is not kept yet. */
  readonly first_seen?: Instant
}

export interface BackedUpSession extends RowLocation {
  readonly session: SessionId
  readonly agent: AgentId
  readonly kind: 'conversation' | 'unreadable'
  /** The agent's own id of the conversation; absent when it could not be read. */
  readonly native_id?: string
  /** All entries that are kept, those that its row has dropped included. */
  readonly entries: number
  /** The number of the first entry that its row held when it was last seen. */
  readonly first_number: number
  /** Bytes of its row. */
  readonly size: number
  /** Another number means that `bytes` and `conversation` may give something else. */
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
  /** True: only sessions that are still in their store. False: only those that are kept here alone. */
  readonly alive?: boolean
}
