/** What goes into the index and what comes out of it. */
import type { AgentId, Instant, SessionId } from '../model/ids.ts'
import type { Issue } from '../model/issue.ts'
import type { Role, SourceType } from '../model/normalized.ts'
import type { Session } from '../model/session.ts'
import type { EstimatedTokens, TokenEstimate } from '../model/tokens/token-estimate.ts'
import type { Usage } from '../model/usage.ts'
import type { RowBatch } from './row-batch.ts'

/** Where a source lies. */
export interface SourceLocation {
  readonly agent: AgentId
  readonly path: string
  readonly key?: string
  /** It is read from the backup. */
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

/** Bytes of what was said, where a log counts no tokens. */
export interface ModelEstimate {
  readonly quarter: number
  readonly model: string
  readonly estimate: TokenEstimate
}

/** One session of a source that holds several. */
export interface ScannedPart extends ScanSums {
  readonly session: Session
}

/** What the first pass adds up, of a source or of one session in it. */
export interface ScanSums {
  readonly history?: unknown
  /** Up to the cursor. */
  readonly sure: SourceCounts
  /** Up to the end. */
  readonly counts: SourceCounts
  readonly usage: readonly ModelUsage[]
  /** After the cursor. */
  readonly provisionalUsage: readonly ModelUsage[]
  readonly estimates: readonly ModelEstimate[]
  readonly provisionalEstimates: readonly ModelEstimate[]
}

/** What the first pass over one source found. */
export interface ScannedSource extends SourceLocation, ScanSums {
  readonly root?: string
  readonly version: number
  readonly fingerprint: string | undefined
  readonly size: number
  /** Milliseconds. */
  readonly modified: number
  /** It was read from its start: all that is known of it goes. */
  readonly fromStart: boolean
  /** Absent when nothing new is known. */
  readonly session?: Session
  /** Its sessions, where it may hold several: then it is none itself. */
  readonly parts?: readonly ScannedPart[]
  readonly cursor?: unknown
  readonly titles: readonly { readonly native_id: string; readonly title: string }[]
  readonly issues: readonly Issue[]
  /** After the cursor. */
  readonly provisionalIssues: readonly Issue[]
}

/** Where the second pass over a session goes on. */
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
  /** The sessions that are not read yet, of a source that may hold several. Then `session` and `name` are of the first. */
  readonly parts?: readonly PartTask[]
}

export interface PartTask {
  readonly session: number
  readonly source: number
  readonly size: number
  readonly name: SessionId
  /** What the source itself calls it. */
  readonly claim: string
}

/** A stretch of a session, up to a cursor or to the end. */
export interface SessionChunk {
  readonly session: number
  readonly source: number
  /** What was there of the session goes. */
  readonly fromStart: boolean
  readonly rows: RowBatch
  /** Messages of earlier stretches, by line and part, that repeat one of these. */
  readonly repeated: readonly (readonly [line: number, part: number])[]
  /** When it was last that somebody spoke. */
  readonly spoke?: number
  /** Bytes of text that are not in the index. */
  readonly cut: number
  readonly issues: readonly Issue[]
  /** JSON. Absent after the last one: then the rows are provisional. */
  readonly cursor?: string
  /** Bytes read so far. */
  readonly read: number
  readonly done: boolean
}

/** A session of the list. */
export interface SessionEntry {
  readonly id: SessionId
  readonly agent: AgentId
  readonly native_id: string
  readonly kind: Session['kind']
  readonly title?: string
  readonly project?: string
  readonly models: readonly string[]
  readonly started_at: Instant
  readonly last_at: Instant
  readonly lines: number
  readonly messages: number
  readonly tools: number
  readonly usage: Usage
  /** Where its log counts no tokens. In no total of those that do. */
  readonly estimate?: EstimatedTokens
  readonly parent?: SessionId
  readonly relation?: 'fork' | 'subagent'
  readonly children: number
  readonly revision: number
  readonly path: string
  readonly key?: string
  readonly kept: boolean
  /** No source of it is there any more. */
  readonly gone: boolean
  /** All of it can be searched but for what was left out on purpose. */
  readonly indexed: boolean
  /** Bytes of the source. */
  readonly size: number
}

/** A message as far as the index knows it. */
export interface IndexedMessage {
  readonly id: string
  readonly row: number
  readonly session: SessionId
  readonly timestamp: Instant
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

/** A session has a new revision, or was removed from the index. An event of the event bus. */
export interface SessionChange {
  readonly kind: 'change' | 'removed'
  readonly session: SessionId
  readonly revision: number
}
