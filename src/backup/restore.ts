/** Restores a conversation to its store, after saving what it replaces. */
import type { Agent, Source } from '../agents/agent.ts'
import { writeBackupFile } from '../lib/files/atomic-file.ts'
import { readRegularFile } from '../lib/files/regular-file.ts'
import { sha256 } from '../lib/hash.ts'
import { AppError } from '../model/error.ts'
import { type Instant, instantFromMs } from '../model/ids.ts'
import type { BackupDatabase } from './backup-database.ts'
import type { BackedUpSession } from './records.ts'
import type { Restored } from './restored-table.ts'

export interface RestoreOptions {
  readonly now: Date
  /** Parent folder of the file to which the replaced row is saved. */
  readonly backups: string
  readonly directory?: string
}

export interface RestoreResult {
  readonly store: string
  /** Path of the saved row, if one was replaced. */
  readonly backup: string | undefined
  readonly repairs: readonly string[]
}

export async function restoreSession(
  agent: Agent,
  session: BackedUpSession,
  database: BackupDatabase,
  options: RestoreOptions,
): Promise<RestoreResult> {
  const { volatile } = agent
  const bytes = database.bytes(session.session)
  const loadable = volatile?.loadable(bytes)
  if (!volatile || !loadable)
    throw new AppError(
      'nothing_readable',
      `${session.session} is not a conversation that its program can load.`,
      `${session.session} は、プログラムが読み込める会話ではありません。`,
    )
  const { now, directory } = options
  const source: Source = { agent: session.agent, path: session.store, key: session.key }
  let replaced: Uint8Array | undefined
  let backup: string | undefined
  const placed = await volatile.install(source, bytes, {
    now,
    ...(directory !== undefined && { directory }),
    backup(row) {
      replaced = row
      backup = writeBackupFile(options.backups, row, now)
    },
  })
  const before = replaced && (await volatile.capture({ ...source, bytes: replaced }))
  if (before?.kind === 'conversation' && directory === undefined)
    database.put(
      before.capture,
      { agent: session.agent, store: placed.path, key: placed.key ?? session.key },
      instantFromMs(now.getTime()) as Instant,
    )
  if (directory === undefined) await checkRestored(agent, placed, loadable.text)
  database.addRestored({
    at: instantFromMs(now.getTime()) as Instant,
    session: session.session,
    agent: session.agent,
    path: placed.path,
    ...(placed.key !== undefined && { key: placed.key }),
    hash: sha256((await capturedText(agent, placed)) ?? loadable.text),
    created: [],
    ...(backup !== undefined && { backup }),
  })
  return { store: placed.path, backup, repairs: loadable.repairs }
}

/** Reads the row again, as its owner will read it. */
async function checkRestored(agent: Agent, source: Source, text: string): Promise<void> {
  const now = await agent.volatile?.capture(source)
  const isSame = agent.volatile?.holds ?? ((a: Uint8Array, b: Uint8Array) => Buffer.from(a).equals(b))
  if (now?.kind === 'conversation' && isSame(now.capture.bytes, Buffer.from(text))) return
  throw new AppError(
    'busy',
    `Another program changed ${source.path} right afterwards. Run fumi list to see what it contains now.`,
    `${source.path} は直後に別のプログラムが書き換えました。今の内容は fumi list で確認してください。`,
  )
}

async function capturedText(agent: Agent, source: Source): Promise<Uint8Array | undefined> {
  const captured = await agent.volatile?.capture(source)
  return captured?.kind === 'conversation' ? captured.capture.bytes : undefined
}

/** Puts back the row that a restored one replaced. Throws AppError with nothing changed. */
export async function undoInstalledRow(agent: Agent, record: Restored, now: Date, backups: string): Promise<void> {
  const { path, key, hash, backup, session } = record
  const source: Source = { agent: record.agent, path, ...(key !== undefined && { key }) }
  if (backup === undefined)
    throw new AppError(
      'nothing_readable',
      `Restoring ${session} replaced nothing in ${path}. Delete the conversation in its program.`,
      `${session} を戻したとき、${path} で置き換えたものはありません。そのプログラムで会話を削除してください。`,
    )
  const current = await capturedText(agent, source)
  if (current === undefined || sha256(current) !== hash)
    throw new AppError(
      'busy',
      `${path} was changed after ${session} was restored, so it stays. What it replaced is in ${backup}.`,
      `${path} は ${session} を戻した後に変更されたため、そのままにします。置き換えた内容は ${backup} にあります。`,
    )
  await agent.volatile?.install(source, readRegularFile(backup), {
    now,
    backup: (row) => void writeBackupFile(backups, row, now),
  })
}
