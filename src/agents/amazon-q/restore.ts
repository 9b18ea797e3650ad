/** Gives a kept conversation back to the program that lost it: as a file it loads, or as the row it was. */
import { readState } from '../../conversation/codec/read-state.ts'
import { writeState } from '../../conversation/codec/write-state.ts'
import { type LockedDatabase, withWriteLock } from '../../lib/sqlite/write-lock.ts'
import { decodeUtf8 } from '../../lib/text.ts'
import { AppError } from '../../model/error.ts'
import type { InstallOptions, LoadableConversation, Source } from '../agent.ts'
import { parseRowKey, type RowKey } from './store/row-key.ts'
import { readStoredRow, storeError, writeRow } from './store/write-row.ts'

/** As it is, where the program loads it so; otherwise mended, and without what the program does not know. */
export function makeLoadable(bytes: Uint8Array): LoadableConversation | undefined {
  const text = decodeUtf8(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))
  if (readState(text, { mode: 'strict' }).ok) return { text, repairs: [] }
  const read = readState(text)
  if (!read.ok) return undefined
  const repaired = writeState(read.value, { keep: 'known' })
  return readState(repaired, { mode: 'strict' }).ok
    ? { text: repaired, repairs: read.repairs.map(({ path, reason }) => `${path}: ${reason}`) }
    : undefined
}

export async function install(source: Source, bytes: Uint8Array, options: InstallOptions): Promise<void> {
  const sourceKey = source.key === undefined ? undefined : parseRowKey(source.key)
  const ready = makeLoadable(bytes)
  if (!sourceKey)
    throw new AppError(
      'bad_usage',
      `${source.path} is no store. Restore it to a file instead.`,
      `${source.path} は会話の保存先ではありません。ファイルに復元してください。`,
    )
  if (!ready)
    throw new AppError(
      'nothing_readable',
      'the kept bytes are no conversation that the program would load',
      '控えの内容は、プログラムが読み込める会話ではありません。',
    )
  const key = options.directory === undefined ? sourceKey : { ...sourceKey, directory: options.directory }
  const done = withWriteLock(source.path, (database) => replaceRow(database, key, ready.text, options))
  if (!done.ok) throw storeError(source.path, done.problem)
}

/** In one transaction, under the lock that its owner needs for writing. */
function replaceRow(database: LockedDatabase, key: RowKey, text: string, { now, backup }: InstallOptions): void {
  const before = readStoredRow(database, key)
  if (before) backup(before.bytes)
  writeRow(database, key, text, { created: now.getTime(), updated: now.getTime() })
}
