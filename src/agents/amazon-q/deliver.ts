/** Writes a converted conversation or a backup to the store of Amazon Q or Kiro. */
import { readAs } from '../../conversation/codec/codec.ts'
import { conversationState, readState, writeState } from '../../conversation/codec/state.ts'
import { instantIfSet } from '../../conversation/to-messages/entry-clock.ts'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import type { DatabaseOutcome } from '../../lib/sqlite/database-file.ts'
import { type LockedDatabase, withWriteLock } from '../../lib/sqlite/locks.ts'
import { decodeUtf8 } from '../../lib/text.ts'
import { fieldsOf, numberOf } from '../../lib/unknown-values.ts'
import { AppError } from '../../model/error.ts'
import { type Instant, instantFromMs, toInstant } from '../../model/ids.ts'
import type { DeliverOptions, Delivery, InstallOptions, LoadableConversation, Source } from '../agent.ts'
import { withStore } from '../kit/open-store.ts'
import { openDocument } from './state-document.ts'
import { KIRO, storePathOf } from './stores.ts'
import {
  deleteRow,
  formatRowKey,
  listTables,
  parseRowKey,
  type RowKey,
  readStoredRow,
  readTableRow,
  type StoredRow,
  storeError,
  writeRow,
} from './tables.ts'

export async function deliver(file: string, options: DeliverOptions): Promise<Delivery> {
  const ready = makeLoadable(readRegularFile(file))
  if (!ready)
    throw new AppError(
      'nothing_readable',
      `${file} is not a conversation that the program can load.`,
      `${file} は、プログラムが読み込める会話ではありません。`,
    )
  const store = storePathOf(options.to, options.environment)
  const key = rowKeyIn(store, ready, options)
  const source: Source = { agent: options.to, path: store, key: formatRowKey(key) }
  const before = options.isDry
    ? checkStoredRow(store, key, options)
    : replaceRow(store, key, ready.text, source, options)
  return {
    source,
    isReplacement: before !== undefined,
    repairs: ready.repairs,
    warnings: [],
    undo: async () => undo(store, key, ready.text, before, options),
  }
}

/** Kiro keeps several conversations per directory, Amazon Q one. */
function rowKeyIn(store: string, { text }: LoadableConversation, { to, cwd }: DeliverOptions): RowKey {
  const tables = unwrapOutcome(
    store,
    withStore(store, (database) => listTables(database)),
  )
  if (to === KIRO && tables.includes('conversations_v2')) {
    const state = readAs(conversationState, text)
    if (state.ok) return { table: 'conversations_v2', directory: cwd, conversation: state.value.conversation_id }
  }
  if (tables.includes('conversations')) return { table: 'conversations', directory: cwd }
  throw new AppError(
    'not_found',
    `${store} has no conversations yet. Start the program once, then try again.`,
    `${store} にはまだ会話がありません。プログラムを一度起動してから、もう一度実行してください。`,
  )
}

function checkStoredRow(store: string, key: RowKey, options: DeliverOptions): StoredRow | undefined {
  const found = unwrapOutcome(
    store,
    withStore(store, (database) => readTableRow(database, key)),
  )
  const times = found?.updated_at === undefined ? undefined : { created: 0, updated: found.updated_at }
  const before = found && { bytes: found.bytes, times }
  if (before) assertReplaceable(key, before, options)
  return before
}

/** One transaction: earlier changes are seen, and later writers wait. */
function replaceRow(
  store: string,
  key: RowKey,
  text: string,
  source: Source,
  options: DeliverOptions,
): StoredRow | undefined {
  const now = options.now.getTime()
  return withLock(store, (database) => {
    const before = readStoredRow(database, key)
    if (before) {
      assertReplaceable(key, before, options)
      options.backup.row(source, before.bytes)
    }
    writeRow(database, key, text, { created: now, updated: now })
    return before
  })
}

function assertReplaceable(key: RowKey, { bytes, times }: StoredRow, { lastAt, mayReplace }: DeliverOptions): void {
  const current = lastMessageTime(bytes) ?? (times && instantFromMs(times.updated))
  const { directory } = key
  if (current !== undefined && (lastAt === undefined || current > lastAt))
    throw new AppError(
      'busy',
      `${directory} has a newer conversation, last used at ${current}. Continue that one, or choose another directory with --cwd.`,
      `${directory} にはもっと新しい会話があります（最後の発言は ${current}）。その会話を続けるか、--cwd で別のディレクトリーを指定してください。`,
    )
  if (!mayReplace)
    throw new AppError(
      'bad_usage',
      `${directory} already has a conversation, and the program stores one per directory. Choose another directory with --cwd, or pass --replace, which backs it up first.`,
      `${directory} にはすでに会話があり、プログラムはディレクトリーごとに 1 つだけ保存します。--cwd で別のディレクトリーを指定するか、--replace で置き換えてください（先にバックアップを取ります）。`,
    )
}

/** As far as the last entries contain it. */
function lastMessageTime(bytes: Uint8Array): Instant | undefined {
  const history = openDocument(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))?.history
  for (let at = (history?.length ?? 0) - 1; history && at >= 0; at--) {
    const entry = history.at(at)
    const user = Array.isArray(entry) ? entry[0] : fieldsOf(entry)?.['user']
    const request = fieldsOf(fieldsOf(entry)?.['request_metadata'])
    const time =
      instantIfSet(numberOf(request?.['stream_end_timestamp_ms'])) ??
      toInstant(fieldsOf(user)?.['timestamp'] ?? undefined)
    if (time !== undefined) return time
  }
  return undefined
}

function undo(
  store: string,
  key: RowKey,
  text: string,
  before: StoredRow | undefined,
  { isDry, now }: DeliverOptions,
): void {
  if (isDry) return
  withLock(store, (database) => {
    const current = readStoredRow(database, key)
    if (!current || !Buffer.from(text).equals(current.bytes))
      throw new AppError(
        'busy',
        `Another program changed ${key.directory} in the meantime, so it was left unchanged. Run fumi list ${store} to see it.`,
        `${key.directory} の会話はその間に別のプログラムが書き換えたため、そのままにしました。fumi list ${store} で確認してください。`,
      )
    if (!before) deleteRow(database, key)
    else {
      const then = now.getTime()
      writeRow(database, key, Buffer.from(before.bytes).toString(), before.times ?? { created: then, updated: then })
    }
  })
}

function withLock<T>(store: string, work: (database: LockedDatabase) => T): T {
  return unwrapOutcome(store, withWriteLock(store, work))
}

function unwrapOutcome<T>(store: string, outcome: DatabaseOutcome<T>): T {
  if (outcome.ok) return outcome.value
  if (outcome.problem.kind === 'missing')
    throw new AppError(
      'not_found',
      `${store} does not exist: the program has not been used on this machine yet.`,
      `${store} がありません。このマシンではまだプログラムが使われていません。`,
    )
  throw storeError(store, outcome.problem)
}

/** The bytes unchanged if the program loads them; otherwise repaired and without unknown fields. */
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

export async function install(source: Source, bytes: Uint8Array, options: InstallOptions): Promise<Source> {
  const sourceKey = source.key === undefined ? undefined : parseRowKey(source.key)
  const ready = makeLoadable(bytes)
  if (!sourceKey)
    throw new AppError(
      'bad_usage',
      `${source.path} is not a store. Restore to a file instead, with --to.`,
      `${source.path} は会話の保存先ではありません。ファイルに復元してください。`,
    )
  if (!ready)
    throw new AppError(
      'nothing_readable',
      'The backup is not a conversation that the program can load.',
      'バックアップの内容は、プログラムが読み込める会話ではありません。',
    )
  const key = options.directory === undefined ? sourceKey : { ...sourceKey, directory: options.directory }
  const done = withWriteLock(source.path, (database) => replaceWithBackup(database, key, ready.text, options))
  if (!done.ok) throw storeError(source.path, done.problem)
  return { ...source, key: formatRowKey(key) }
}

/** One transaction, under the lock that the owner needs for writing. */
function replaceWithBackup(
  database: LockedDatabase,
  key: RowKey,
  text: string,
  { now, keepTimes, backup }: InstallOptions,
): void {
  const before = readStoredRow(database, key)
  if (before) backup(before.bytes)
  const used = { created: now.getTime(), updated: now.getTime() }
  writeRow(database, key, text, (keepTimes && before?.times) || used)
}
