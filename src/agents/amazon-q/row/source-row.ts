/** Where a source's bytes come from and what is known beside them. */
import type { Instant } from '../../../model/ids.ts'
import type { Issue, IssueCode } from '../../../model/issue.ts'

export interface SourceRow {
  readonly bytes: Buffer
  /** For entries that tell no time. */
  readonly firstSeen: Instant
  /** The directory whose conversation it is, where it stands in a table. */
  readonly key?: string
  /** Columns that cannot be used. */
  readonly faults?: readonly { readonly code: IssueCode; readonly reason: string }[]
  /** What the table tells beside the state. */
  readonly columns?: { readonly created_at: Instant | undefined; readonly updated_at: Instant | undefined }
}

export interface MissingRow {
  readonly issue: Issue
}

export const isSourceRow = (row: SourceRow | MissingRow): row is SourceRow => 'bytes' in row
