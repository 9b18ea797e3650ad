/** Gives a kept conversation back to the program that lost it: as a file it loads, or as the row it was. */
import { readState } from '../../conversation/codec/read.ts'
import { writeState } from '../../conversation/codec/write.ts'
import { type LockedDatabase, withWriteLock } from '../../lib/sqlite/write.ts'
import { textOf } from '../../lib/text.ts'
import { AppError } from '../../model/error.ts'
import type { InstallOptions, Loadable, Source } from '../agent.ts'
import { parseKey, type RowKey } from './store/key.ts'
import { putRow, refused, storedRow } from './store/put-row.ts'

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
  if (!kept)
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
  const key = options.directory === undefined ? kept : { ...kept, directory: options.directory }
  const done = withWriteLock(source.path, (database) => replaceRow(database, key, ready.text, options))
  if (!done.ok) throw refused(source.path, done.problem)
}

/** In one transaction, under the lock that its owner needs for writing. */
function replaceRow(database: LockedDatabase, key: RowKey, text: string, { now, backup }: InstallOptions): void {
  const before = storedRow(database, key)
  if (before) backup(before.bytes)
  putRow(database, key, text, { created: now.getTime(), updated: now.getTime() })
}
