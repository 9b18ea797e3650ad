/** Fetches the bytes of a source: from a kept copy, from its table, or from its file. */
import { readFileSync } from 'node:fs'
import { statOf } from '../../../lib/files/look.ts'
import type { Problem } from '../../../lib/sqlite/problem.ts'
import { type Instant, instantOf } from '../../../model/ids.ts'
import type { IssueCode } from '../../../model/issue.ts'
import type { Source } from '../../agent.ts'
import { parseKey, type RowKey } from '../store/key.ts'
import { withStore } from '../store/open-stores.ts'
import { rowAt } from '../store/table.ts'
import type { NoRow, Row } from './row.ts'

export function rowOf(source: Source): Row | NoRow {
  const key = source.key === undefined ? undefined : parseKey(source.key)
  if (source.bytes)
    return keptRow(source, Buffer.from(source.bytes.buffer, source.bytes.byteOffset, source.bytes.length), key)
  return key ? tableRow(source, key) : fileRow(source)
}

function keptRow(source: Source, bytes: Buffer, key: RowKey | undefined): Row {
  return { bytes, firstSeen: source.first_seen ?? modifiedAt(source.path), ...(key && { key: key.directory }) }
}

function tableRow(source: Source, key: RowKey): Row | NoRow {
  const found = withStore(source.path, (database) => rowAt(database, key))
  if (!found.ok) return { issue: { ...problemIssue(source, found.problem), key: key.directory } }
  if (!found.value) {
    const reason = 'the row is gone, or holds no text; it was replaced by its owner or deleted'
    return { issue: { code: 'unreadable', reason, path: shownPath(source), key: key.directory } }
  }
  const { bytes, created_at, updated_at } = found.value
  const created = created_at === undefined ? undefined : instantOf(created_at)
  const updated = updated_at === undefined ? undefined : instantOf(updated_at)
  return {
    bytes,
    firstSeen: source.first_seen ?? created ?? modifiedAt(source.path),
    key: key.directory,
    ...(created && { columns: { created_at: created, updated_at: updated } }),
  }
}

function fileRow(source: Source): Row | NoRow {
  try {
    return { bytes: readFileSync(source.path), firstSeen: source.first_seen ?? modifiedAt(source.path) }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    const reason = error.code === 'ENOENT' ? 'no such file' : `cannot be read (${String(error.code)})`
    return { issue: { code: 'unreadable', reason, path: shownPath(source) } }
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
