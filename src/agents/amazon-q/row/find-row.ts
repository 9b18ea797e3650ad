/** Fetches the bytes of a source: from a kept copy, from its table, or from its file. */
import { headOf, statOf } from '../../../lib/files/look.ts'
import { readRegular } from '../../../lib/files/regular-file.ts'
import { isSystemError, reasonOf } from '../../../lib/files/system-error.ts'
import { isSqliteFile } from '../../../lib/sqlite/header.ts'
import type { Problem } from '../../../lib/sqlite/problem.ts'
import { type Instant, instantOf } from '../../../model/ids.ts'
import type { IssueCode } from '../../../model/issue.ts'
import { badTime, isRefused } from '../../../model/numbers.ts'
import type { Source } from '../../agent.ts'
import { LONGEST_ROW, parseKey, type RowKey } from '../store/key.ts'
import { isDatabase, storeProblem } from '../store/list-store.ts'
import { withStore } from '../store/open-stores.ts'
import { rowAt } from '../store/table.ts'
import type { NoRow, Row } from './row.ts'

export function rowOf(source: Source): Row | NoRow {
  const key = source.key === undefined ? undefined : parseKey(source.key)
  if (source.bytes)
    return keptRow(source, Buffer.from(source.bytes.buffer, source.bytes.byteOffset, source.bytes.length), key)
  if (key) return tableRow(source, key)
  return isDatabase(source.path) || isSqliteFile(headOf(source.path)) ? unlistedStore(source) : fileRow(source)
}

/** A store is a source of its own only where its rows could not be listed. */
function unlistedStore(source: Source): NoRow {
  const problem = storeProblem(source.path)
  if (problem) return { issue: problemIssue(source, problem) }
  const reason = 'the database could not be listed before, and can be now; read it again'
  return { issue: { code: 'changed_while_read', reason, path: shownPath(source) } }
}

function keptRow(source: Source, bytes: Buffer, key: RowKey | undefined): Row {
  return { bytes, firstSeen: source.first_seen ?? modifiedAt(source.path), ...(key && { key: key.directory }) }
}

function tableRow(source: Source, key: RowKey): Row | NoRow {
  const found = withStore(source.path, (database) => rowAt(database, key))
  if (!found.ok) return { issue: { ...problemIssue(source, found.problem), key: key.directory } }
  if (!found.value) {
    const reason = 'the row is gone, or holds no text, or more than 500 MB; it was replaced by its owner or deleted'
    return { issue: { code: 'unreadable', reason, path: shownPath(source), key: key.directory } }
  }
  const { bytes, created_at, updated_at } = found.value
  const created = created_at === undefined ? undefined : instantOf(created_at)
  const updated = updated_at === undefined ? undefined : instantOf(updated_at)
  const columns = { created_at: [created_at, created], updated_at: [updated_at, updated] }
  const faults = Object.entries(columns).flatMap(([name, [given, read]]) =>
    isRefused(given, read) ? [{ code: 'bad_time' as const, reason: badTime(name) }] : [],
  )
  return {
    bytes,
    firstSeen: source.first_seen ?? created ?? modifiedAt(source.path),
    key: key.directory,
    ...(faults.length > 0 && { faults }),
    ...(created && { columns: { created_at: created, updated_at: updated } }),
  }
}

function fileRow(source: Source): Row | NoRow {
  try {
    const size = statOf(source.path)?.size ?? 0
    if (size > LONGEST_ROW) {
      const reason = `the file is ${size} bytes long, too long to be read`
      return { issue: { code: 'line_too_long', reason, path: shownPath(source) } }
    }
    return { bytes: readRegular(source.path), firstSeen: source.first_seen ?? modifiedAt(source.path) }
  } catch (error) {
    if (!isSystemError(error)) throw error
    return { issue: { code: 'unreadable', reason: reasonOf(error), path: shownPath(source) } }
  }
}

/** What the database room says, in the words of a reader. */
export function problemIssue(source: Pick<Source, 'path' | 'shown'>, { kind, reason }: Problem) {
  const code: IssueCode = kind === 'cut_short' ? 'cut_short' : 'unreadable'
  return { code, reason: `${kind.replaceAll('_', ' ')}: ${reason.en}`, path: shownPath(source) }
}

const shownPath = ({ path, shown }: Pick<Source, 'path' | 'shown'>): string => shown ?? path

const modifiedAt = (path: string): Instant =>
  instantOf(Math.trunc(statOf(path)?.mtimeMs ?? 0)) ?? ('1970-01-01T00:00:00.000Z' as Instant)
