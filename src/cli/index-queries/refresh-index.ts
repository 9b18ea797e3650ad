/** Brings the index up to date before it is asked. */
import type { App } from '../../app.ts'
import { AppError } from '../../model/error.ts'
import { localize, say } from '../language.ts'
import { writeErr } from '../output.ts'
import { createSyncProgressBar } from '../progress.ts'

/**
 * Whether there is an index to ask. Where it could not be made, the logs themselves have to do; who asks the index alone
 * `needs` one, and gets what went wrong thrown.
 */
export async function refreshIndex(app: App, passes: 'first' | 'both', needs?: 'an index'): Promise<boolean> {
  const bar = await createSyncProgressBar()
  try {
    // Another process that is at it keeps it up to date: what it has written so far is there.
    const outcome = await app.sync({ passes, onProgress: bar.show })
    bar.stop()
    if (outcome.kind === 'held' && app.index.epoch === undefined) await reportIndexLocked(outcome.by?.pid)
  } catch (error) {
    bar.stop()
    if (!(error instanceof AppError) || (needs && app.index.epoch === undefined)) throw error
    await writeErr(
      `fumi: ${say('the index could not be updated, so results may be outdated', '索引を更新できないため、結果が古い可能性があります')}: ${localize(error.phrase)}\n`,
    )
  }
  return app.index.epoch !== undefined
}

const reportIndexLocked = (pid: number | undefined): Promise<void> =>
  writeErr(
    say(
      `fumi: another process ${pid === undefined ? '' : `(${pid}) `}is building the index.\n`,
      `fumi: 別のプロセス${pid === undefined ? '' : `（${pid}）`}が索引を作成中です。\n`,
    ),
  )
