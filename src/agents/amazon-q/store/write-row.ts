/** Writes one row, under the lock that its owner needs for writing. */
import type { DatabaseProblem } from '../../../lib/sqlite/database-problem.ts'
import type { LockedDatabase } from '../../../lib/sqlite/write-lock.ts'
import { AppError } from '../../../model/error.ts'
import { type RowKey, rowQuery } from './row-key.ts'

/** Times of a row, in milliseconds, where its table has them. */
export interface RowTimes {
  readonly created: number
  readonly updated: number
}

export interface StoredRow {
  readonly bytes: Uint8Array
  readonly times: RowTimes | undefined
}

export function writeRow(database: LockedDatabase, key: RowKey, text: string, { created, updated }: RowTimes): void {
  if (key.table === 'conversations')
    database.run('INSERT OR REPLACE INTO conversations (key, value) VALUES (?, ?)', key.directory, text)
  else
    database.run(
      `INSERT INTO conversations_v2 (key, conversation_id, value, created_at, updated_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (key, conversation_id) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
      key.directory,
      key.conversation,
      text,
      created,
      updated,
    )
  const after = readStoredRow(database, key)
  if (!after || !Buffer.from(text).equals(after.bytes)) throw new Error('the row that was written reads otherwise')
}

export function deleteRow(database: LockedDatabase, key: RowKey): void {
  if (key.table === 'conversations') database.run('DELETE FROM conversations WHERE key = ?', key.directory)
  else
    database.run('DELETE FROM conversations_v2 WHERE key = ? AND conversation_id = ?', key.directory, key.conversation)
}

export function readStoredRow(database: LockedDatabase, key: RowKey): StoredRow | undefined {
  const row = database.get(...rowQuery(key))
  const bytes = row?.['value']
  if (!(bytes instanceof Uint8Array)) return undefined
  const times = { created: Number(row?.['created_at']), updated: Number(row?.['updated_at']) }
  return { bytes, times: key.table === 'conversations' ? undefined : times }
}

export function storeError(path: string, { kind, reason }: DatabaseProblem): AppError {
  if (kind === 'busy')
    return new AppError(
      'busy',
      `${path} is being written by another program, so nothing was changed. End that session and try again.`,
      `${path} は別のプログラムが書き込み中のため、何も変更していません。その会話を終了してから、もう一度実行してください。`,
    )
  const code = kind === 'no_permission' ? 'no_permission' : 'not_found'
  return new AppError(code, `${path}: ${reason.en}`, `${path}: ${reason.ja}`)
}
