/** Loads the bytes of a source: from a backup, a table or a file. */

import { readState } from '../../conversation/codec/state.ts'
import type { ConversationState } from '../../conversation/state.ts'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { readHead, statOf } from '../../lib/files/safe-fs.ts'
import { isSystemError, systemErrorReason } from '../../lib/files/system-error.ts'
import { type DatabaseProblem, isSqliteFile } from '../../lib/sqlite/database-file.ts'
import { decodeUtf8 } from '../../lib/text.ts'
import { describeBadTime, isInvalidTime } from '../../model/checked-numbers.ts'
import { type Instant, instantFromMs } from '../../model/ids.ts'
import type { Issue, IssueCode } from '../../model/issue.ts'
import type { Source } from '../agent.ts'
import { withStore } from '../kit/open-store.ts'
import { isDatabasePath, storeProblem } from './stores.ts'
import { MAX_ROW_BYTES, parseRowKey, type RowKey, readTableRow } from './tables.ts'

export function readRow(source: Source): SourceRow | MissingRow {
  const key = source.key === undefined ? undefined : parseRowKey(source.key)
  if (source.bytes)
    return backedUpRow(Buffer.from(source.bytes.buffer, source.bytes.byteOffset, source.bytes.length), key)
  if (key) return tableRow(source, key)
  return isDatabasePath(source.path) || isSqliteFile(readHead(source.path))
    ? unlistedStoreIssue(source)
    : fileRow(source)
}

/** A store is a source itself only if its rows could not be listed. */
function unlistedStoreIssue(source: Source): MissingRow {
  const problem = storeProblem(source.path)
  if (problem) return { issue: problemIssue(source, problem) }
  const reason = 'the database could not be listed before, and can be now; read it again'
  return { issue: { code: 'changed_while_read', reason, path: displayPath(source) } }
}

function backedUpRow(bytes: Buffer, key: RowKey | undefined): SourceRow {
  return { bytes, ...(key && { key: key.directory }) }
}

function tableRow(source: Source, key: RowKey): SourceRow | MissingRow {
  const found = withStore(source.path, (database) => readTableRow(database, key))
  if (!found.ok) return { issue: { ...problemIssue(source, found.problem), key: key.directory } }
  if (!found.value) {
    const reason = 'the row is gone, or holds no text, or more than 500 MB; it was replaced by its owner or deleted'
    return { issue: { code: 'unreadable', reason, path: displayPath(source), key: key.directory } }
  }
  const { bytes, created_at, updated_at } = found.value
  const created = created_at === undefined ? undefined : instantFromMs(created_at)
  const updated = updated_at === undefined ? undefined : instantFromMs(updated_at)
  const columns = { created_at: [created_at, created], updated_at: [updated_at, updated] }
  const faults = Object.entries(columns).flatMap(([name, [given, read]]) =>
    isInvalidTime(given, read) ? [{ code: 'bad_time' as const, reason: describeBadTime(name) }] : [],
  )
  return {
    bytes,
    key: key.directory,
    ...(faults.length > 0 && { faults }),
    ...(created && { columns: { created_at: created, updated_at: updated } }),
  }
}

function fileRow(source: Source): SourceRow | MissingRow {
  try {
    const size = statOf(source.path)?.size ?? 0
    if (size > MAX_ROW_BYTES) {
      const reason = `the file is ${size} bytes long: too long to read`
      return { issue: { code: 'line_too_long', reason, path: displayPath(source) } }
    }
    return { bytes: readRegularFile(source.path) }
  } catch (error) {
    if (!isSystemError(error)) throw error
    return { issue: { code: 'unreadable', reason: systemErrorReason(error), path: displayPath(source) } }
  }
}

/** Converts a problem of lib/sqlite to an issue. */
function problemIssue(source: Pick<Source, 'path' | 'shown'>, { kind, reason }: DatabaseProblem) {
  const code: IssueCode = kind === 'cut_short' ? 'cut_short' : 'unreadable'
  return { code, reason: `${kind.replaceAll('_', ' ')}: ${reason.en}`, path: displayPath(source) }
}

const displayPath = ({ path, shown }: Pick<Source, 'path' | 'shown'>): string => shown ?? path

export interface SourceRow {
  readonly bytes: Buffer
  /** Directory of the conversation, if it is in a table. */
  readonly key?: string
  /** Columns with unusable values. */
  readonly faults?: readonly { readonly code: IssueCode; readonly reason: string }[]
  /** Values of the table's other columns. */
  readonly columns?: { readonly created_at: Instant | undefined; readonly updated_at: Instant | undefined }
}

interface MissingRow {
  readonly issue: Issue
}

export const isSourceRow = (row: SourceRow | MissingRow): row is SourceRow => 'bytes' in row

/** @param entry 1-based, including entries that the row has dropped */
export async function stateAt(source: Source, entry: number): Promise<ConversationState | undefined> {
  const row = readRow(source)
  const read = isSourceRow(row) ? readState(decodeUtf8(row.bytes)) : undefined
  if (!read?.ok) return undefined
  const state = read.value
  const index = entry - (source.first_entry ?? 1)
  const requested = index < 0 ? undefined : state.history.at(index)
  if (!requested) return index === state.history.length && state.next_message ? state : undefined
  const start = Math.min(Number(state.valid_history_range[0]), index)
  const history = state.history.slice(0, index)
  return { ...state, history, next_message: requested.user, valid_history_range: [start, index] }
}
