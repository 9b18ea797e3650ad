/** Updates the index before a command reads it. */
import type { App } from '../../app.ts'
import { AppError } from '../../model/error.ts'
import { fullBackupLine } from '../backup/status.ts'
import { localize, say } from '../language.ts'
import { writeErr } from '../output.ts'
import { createSyncProgressBar } from '../progress.ts'

/**
 * Returns whether there is an index to read. If there is none and the command can read logs instead, failures are
 * only reported; with `needs`, they are thrown.
 */
export async function refreshIndex(app: App, passes: 'first' | 'both', needs?: 'an index'): Promise<boolean> {
  const bar = await createSyncProgressBar()
  try {
    // Another process that holds the lock is already updating the index; its results so far are usable.
    const outcome = await app.sync({ passes, onProgress: bar.show })
    bar.stop()
    await reportFullBackup(app)
    if (outcome.kind === 'held' && app.index.epoch === undefined) await reportIndexLocked(outcome.by?.pid)
  } catch (error) {
    bar.stop()
    if (!(error instanceof AppError) || (needs && app.index.epoch === undefined)) throw error
    await writeErr(
      `fumi: ${say('The index could not be updated, so results may be outdated', '索引を更新できないため、結果が古い可能性があります')}: ${localize(error.phrase)}\n`,
    )
  }
  return app.index.epoch !== undefined
}

/** What the last sync could not back up. */
export async function reportFullBackup({ filesWithoutBackup }: App): Promise<void> {
  if (filesWithoutBackup.length > 0) await writeErr(`fumi: ${fullBackupLine(filesWithoutBackup.length)}`)
}

const reportIndexLocked = (pid: number | undefined): Promise<void> =>
  writeErr(
    say(
      `fumi: Another process ${pid === undefined ? '' : `(${pid}) `}is building the index.\n`,
      `fumi: 別のプロセス${pid === undefined ? '' : `（${pid}）`}が索引を作成中です。\n`,
    ),
  )
