/** Gives a kept conversation back to the program that lost it: as a file it loads, or as the row it was. */
import { readState } from '../../conversation/codec/read.ts'
import { writeState } from '../../conversation/codec/write.ts'
import type { Problem } from '../../lib/sqlite/problem.ts'
import { type LockedDatabase, withWriteLock } from '../../lib/sqlite/write.ts'
import { textOf } from '../../lib/text.ts'
import { AppError } from '../../model/error.ts'
import type { InstallOptions, Loadable, Source } from '../agent.ts'
import { parseKey, type RowKey } from './store/key.ts'

/** As it is, where the program loads it so; otherwise mended, and without what the program does not know. */
export function loadable(bytes: Uint8Array): Loadable | undefined {
  const text = textOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))
  if (readState(text, { mode: 'strict' }).ok) return { text, repairs: [] }
  const read = readState(text)
  if (!read.ok) return undefined
  const mended = writeState(read.value, { keep: 'known' })
  return readState(mended, { mode: 'strict' }).ok
    ? { text: mended, repairs: read.repairs.map(({ path, reason }) => `${path}: ${reason}`) }
    : undefined
}

export async function install(source: Source, bytes: Uint8Array, options: InstallOptions): Promise<void> {
  const kept = source.key === undefined ? undefined : parseKey(source.key)
  const ready = loadable(bytes)
  if (!kept) throw new AppError('bad_usage', `${source.path} is no store. Restore it to a file instead.`)
  if (!ready) throw new AppError('nothing_readable', 'the kept bytes are no conversation that the program would load')
  const key = options.directory === undefined ? kept : { ...kept, directory: options.directory }
  const done = withWriteLock(source.path, (database) => replaceRow(database, key, ready.text, options))
  if (!done.ok) throw refused(source.path, done.problem)
}

/** In one transaction, under the lock that its owner needs for writing. */
function replaceRow(database: LockedDatabase, key: RowKey, text: string, { now, backup }: InstallOptions): void {
  const before = storedText(database, key)
  if (before) backup(before)
  if (key.table === 'conversations')
    database.run('INSERT OR REPLACE INTO conversations (key, value) VALUES (?, ?)', key.directory, text)
  else
    database.run(
      `INSERT INTO conversations_v2 (key, conversation_id, value, created_at, updated_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (key, conversation_id) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
      key.directory,
      key.conversation,
      text,
      now.getTime(),
      now.getTime(),
    )
  const after = storedText(database, key)
  if (!after || !Buffer.from(text).equals(after)) throw new Error('the row that was written reads otherwise')
}

function storedText(database: LockedDatabase, key: RowKey): Uint8Array | undefined {
  const row =
    key.table === 'conversations'
      ? database.get('SELECT CAST(value AS BLOB) AS value FROM conversations WHERE key = ?', key.directory)
      : database.get(
          'SELECT CAST(value AS BLOB) AS value FROM conversations_v2 WHERE key = ? AND conversation_id = ?',
          key.directory,
          key.conversation,
        )
  return row?.['value'] instanceof Uint8Array ? row['value'] : undefined
}

function refused(path: string, { kind, reason }: Problem): AppError {
  if (kind === 'busy')
    return new AppError(
      'busy',
      `${path} is being written by another program, so nothing was changed. End that session and try again.`,
    )
  if (kind === 'no_permission') return new AppError('no_permission', `${path}: ${reason}`)
  return new AppError('not_found', `${path}: ${reason}`)
}
