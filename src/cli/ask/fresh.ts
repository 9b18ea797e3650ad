/** Brings the index up to date before it is asked. */
import type { House } from '../../app.ts'
import { AppError } from '../../model/error.ts'
import { inWords, say } from '../language.ts'
import { writeErr } from '../output.ts'
import { syncBar } from './sync-bar.ts'

/**
 * Whether there is an index to ask. Where it could not be made, the logs themselves have to do; who asks the index alone
 * `needs` one, and gets what went wrong thrown.
 */
export async function freshen(house: House, passes: 'first' | 'both', needs?: 'an index'): Promise<boolean> {
  const bar = await syncBar()
  try {
    // Another process that is at it keeps it up to date: what it has written so far is there.
    const outcome = await house.sync({ passes, onProgress: bar.show })
    bar.stop()
    if (outcome.kind === 'held' && house.index.epoch === undefined) await tellHeld(outcome.by?.pid)
  } catch (error) {
    bar.stop()
    if (!(error instanceof AppError) || (needs && house.index.epoch === undefined)) throw error
    await writeErr(
      `fumi: ${say('the index is not up to date', '索引が最新ではありません')}: ${inWords(error.phrase)}\n`,
    )
  }
  return house.index.epoch !== undefined
}

const tellHeld = (pid: number | undefined): Promise<void> =>
  writeErr(
    say(
      `fumi: another process ${pid === undefined ? '' : `(${pid}) `}is making the index just now.\n`,
      `fumi: 別のプロセス${pid === undefined ? '' : `（${pid}）`}が索引を作成中です。\n`,
    ),
  )
