/** Values that the index stores and returns. */
import type { AgentId, Instant, SessionId } from '../model/ids.ts'
import type { Issue } from '../model/issue.ts'
import type { Role, SourceType } from '../model/normalized.ts'
import type { Session } from '../model/session.ts'
import type { EstimatedTokens, TokenEstimate } from '../model/token-estimate.ts'
import type { Usage } from '../model/usage.ts'
import type { RowBatch } from './row-batch.ts'

/** Location of a source. */
export interface SourceLocation {
  readonly agent: AgentId
  readonly path: string
  readonly key?: string
  /** The source is read from the backup. */
  readonly kept: boolean
}

/** A source as the index knows it. */
export interface KnownSource extends SourceLocation {
  readonly id: number
  readonly root?: string
  readonly fingerprint: string | undefined
  readonly version: number
  readonly gone: boolean
}

export interface SourceCounts {
  readonly lines: number
  readonly messages: number
  readonly tools: Readonly<Record<string, number>>
}

export interface ModelUsage {
  readonly quarter: number
  readonly model: string
  readonly usage: Usage
}

/** Bytes of text, for logs that do not count tokens. */
export interface ModelEstimate {
  readonly quarter: number
  readonly model: string
  readonly estimate: TokenEstimate
}

/** One session of a source that can hold several. */
export interface ScannedPart extends ScanSums {
  readonly session: Session
}

/** The least and the greatest recorded time. Null if there is none. */
export interface RecordedTimes {
  readonly first: Instant | null
  readonly last: Instant | null
}

/** Sums of the first pass over a source, or over one session in it. */
export interface ScanSums {
  readonly history?: unknown
  /** Sums up to the cursor, which later reads keep. */
  readonly sure: SourceCounts
  /** Sums up to the end of the source. */
  readonly counts: SourceCounts
  readonly usage: readonly ModelUsage[]
  /** Usage after the cursor, which the next read replaces. */
  readonly provisionalUsage: readonly ModelUsage[]
  readonly estimates: readonly ModelEstimate[]
  readonly provisionalEstimates: readonly ModelEstimate[]
  /** Of the records that were read. */
  readonly times: RecordedTimes
}

/** Result of the first pass over one source. */
export interface ScannedSource extends SourceLocation, ScanSums {
  readonly root?: string
  readonly version: number
  readonly fingerprint: string | undefined
  readonly size: number
  /** Read from the start: replaces everything stored of the source. */
  readonly fromStart: boolean
  /** Absent if the header has not changed. */
  readonly session?: Session
  /** Sessions in the source if its format can hold several; `session` is then absent. */
  readonly parts?: readonly ScannedPart[]
  readonly cursor?: unknown
  readonly titles: readonly { readonly native_id: string; readonly title: string }[]
  readonly issues: readonly Issue[]
  /** Issues after the cursor, which the next read replaces. */
  readonly provisionalIssues: readonly Issue[]
}

/** A session that the second pass still has to read, and where it continues. */
export interface ReadTask extends SourceLocation {
  readonly session: number
  readonly name: SessionId
  readonly source: number
  readonly root?: string
  readonly size: number
  readonly read: number
  readonly project?: string
  /** JSON. */
  readonly cursor?: string
  /** Unread sessions of a source that can hold several. `session` and `name` then describe the first of them. */
  readonly parts?: readonly PartTask[]
}

export interface PartTask {
  readonly session: number
  readonly source: number
  readonly size: number
  readonly name: SessionId
  /** The id by which the source itself refers to the session. */
  readonly claim: string
}

/** Part of a session up to a cursor, or up to its end. */
export interface SessionChunk {
  readonly session: number
  readonly source: number
  /** Replaces all stored rows of the session. */
  readonly fromStart: boolean
  readonly rows: RowBatch
  /** Messages of earlier chunks, by line and part, that a message of this chunk repeats. */
  readonly repeated: readonly (readonly [line: number, part: number])[]
  readonly issues: readonly Issue[]
  /** JSON. Absent in the last chunk, whose rows are therefore provisional. */
  readonly cursor?: string
  /** Bytes read so far. */
  readonly read: number
  readonly done: boolean
}

/** A session in the list. */
export interface SessionEntry {
  readonly id: SessionId
  readonly agent: AgentId
  readonly native_id: string
  readonly kind: Session['kind']
  readonly title?: string
  readonly project?: string
  readonly models: readonly string[]
  /** The first time that the log records. Null if it records none. */
  readonly started_at: Instant | null
  /** The last time that the log records. */
  readonly last_at: Instant | null
  readonly lines: number
  readonly messages: number
  readonly tools: number
  readonly usage: Usage
  /** For logs that do not count tokens. Not part of any token total. */
  readonly estimate?: EstimatedTokens
  /** What the vendor charged, where the log counts credits instead of tokens. */
  readonly credits?: number
  readonly parent?: SessionId
  readonly relation?: 'fork' | 'subagent' | 'revert'
  readonly children: number
  readonly revision: number
  readonly path: string
  readonly key?: string
  readonly kept: boolean
  /** None of its sources exists any more. */
  readonly gone: boolean
  /** All searchable text is indexed. */
  readonly indexed: boolean
  /** Bytes of the source. */
  readonly size: number
}

/** A message with the fields that the index stores. */
export interface IndexedMessage {
  readonly id: string
  readonly row: number
  readonly session: SessionId
  /** Null if the log records no time. */
  readonly timestamp: Instant | null
  readonly line: number
  readonly part: number
  readonly role: Role
  readonly source_type: SourceType
  readonly tool?: string
  readonly duplicate: boolean
  readonly replayed: boolean
  readonly injected: boolean
  readonly error: boolean
  readonly image: boolean
  readonly locator: { readonly [key: string]: unknown }
}

/** A session has a new revision or was removed. Published on the event bus. */
export interface SessionChange {
  readonly kind: 'change' | 'removed'
  readonly session: SessionId
  readonly revision: number
}
