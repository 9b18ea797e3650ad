/** Puts a kept conversation back into the store it came from, with what stood there safe beforehand. */
import type { Agent, Source } from '../../agents/agent.ts'
import type { Kept } from '../../archive/keep/record.ts'
import type { Keep } from '../../archive/keep.ts'
import { writeBackup } from '../../lib/disk/backup.ts'
import { AppError } from '../../model/error.ts'
import { type Instant, instantOf } from '../../model/ids.ts'

export interface RestoreOptions {
  readonly now: Date
  /** Below it the replaced row is written to a file of its own. */
  readonly backups: string
  readonly directory?: string
}

export interface Restored {
  readonly store: string
  /** What stood there before, where something did. */
  readonly backup: string | undefined
  readonly repairs: readonly string[]
}

export async function installKept(agent: Agent, kept: Kept, keep: Keep, options: RestoreOptions): Promise<Restored> {
  const { volatile } = agent
  const bytes = keep.bytes(kept.session)
  const ready = volatile?.loadable(bytes)
  if (!volatile || !ready)
    throw new AppError(
      'nothing_readable',
      `${kept.session} is nothing that its program would load`,
      `${kept.session} は、プログラムが読み込める会話ではありません。`,
    )
  const { now, directory } = options
  const source: Source = { agent: kept.agent, path: kept.store, key: kept.key }
  let replaced: Uint8Array | undefined
  let backup: string | undefined
  await volatile.install(source, bytes, {
    now,
    ...(directory !== undefined && { directory }),
    backup(row) {
      replaced = row
      backup = writeBackup(options.backups, row, now)
    },
  })
  const before = replaced && (await volatile.capture({ ...source, bytes: replaced }))
  if (before?.kind === 'conversation' && directory === undefined)
    keep.put(
      before.capture,
      { agent: kept.agent, store: kept.store, key: kept.key },
      instantOf(now.getTime()) as Instant,
    )
  if (directory === undefined) await compare(agent, source, ready.text)
  return { store: kept.store, backup, repairs: ready.repairs }
}

/** Read anew, as its owner will read it. */
async function compare(agent: Agent, source: Source, text: string): Promise<void> {
  const now = await agent.volatile?.capture(source)
  if (now?.kind === 'conversation' && Buffer.from(text).equals(now.capture.bytes)) return
  throw new AppError(
    'busy',
    `${source.path} was written by another program right afterwards; see what it holds now with fumi list`,
    `${source.path} は直後に別のプログラムが書き換えました。今の内容は fumi list で確認してください。`,
  )
}
