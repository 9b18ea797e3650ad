/** Whose turn it is to write the index: takes the lock, does the work, and gives it back. */
import { removeIndex } from '../index/index-file.ts'
import { type IndexLock, type LockHolder, takeIndexLock } from '../index/lock.ts'
import type { AppError } from '../model/error.ts'
import { listAllSources } from './all-sources.ts'
import type { SyncContext } from './list-sources.ts'
import type { IndexEventBus } from './live/index-event-bus.ts'
import { type LiveSync, type LiveSyncOptions, startLiveSync } from './live/live-sync.ts'
import { Syncer, type SyncOptions, type SyncResult } from './syncer.ts'

/** Another process is at it; nobody is known where it has only just begun. */
export interface LockedByOther {
  readonly kind: 'held'
  readonly by: LockHolder | undefined
}

export type SyncOutcome = { readonly kind: 'synced'; readonly synced: SyncResult } | LockedByOther

export type WatchOutcome = ({ readonly kind: 'watching' } & LiveSync) | LockedByOther

export interface WatchIndexOptions extends Pick<SyncOptions, 'onProgress'> {
  /** Milliseconds between looks at everything, for hints that never came. */
  readonly sweepEvery?: number
  /** Something could not be done, such as writing to a full disk. It is tried again. */
  readonly onProblem?: (problem: AppError) => void
}

/** With a word to whoever listens. */
export const publishChanges = <T extends SyncOptions>(options: T, eventBus: IndexEventBus): T => ({
  ...options,
  onChanges: (changes) => {
    options.onChanges?.(changes)
    eventBus.publish(changes)
  },
})

export async function syncWithLock(
  directory: string,
  threads: number | undefined,
  context: SyncContext,
  options: SyncOptions & { readonly anew?: boolean },
): Promise<SyncOutcome> {
  const attempt = takeIndexLock(directory, 'sync')
  if (attempt.kind === 'held') return attempt
  try {
    if (options.anew) removeIndex(directory)
    const syncer = new Syncer(directory, threads)
    try {
      const synced = await syncer.syncOrRebuild(() => listAllSources(context), {
        ...options,
        isWanted: context.isWanted,
      })
      return { kind: 'synced', synced }
    } finally {
      syncer.close()
    }
  } finally {
    attempt.lock.release()
  }
}

export function watchWithLock(
  directory: string,
  threads: number | undefined,
  options: Omit<LiveSyncOptions, 'syncer'>,
): WatchOutcome {
  const attempt = takeIndexLock(directory, 'watch')
  if (attempt.kind === 'held') return attempt
  const syncer = releaseOnFailure(attempt.lock, () => new Syncer(directory, threads))
  const liveSync = startLiveSync({ ...options, syncer })
  const close = async (): Promise<void> => {
    await liveSync.close()
    syncer.close()
    attempt.lock.release()
  }
  return { kind: 'watching', ready: liveSync.ready, sync: liveSync.sync, close }
}

/** The lock is given back when the work fails. */
function releaseOnFailure<T>(lock: IndexLock, work: () => T): T {
  try {
    return work()
  } catch (error) {
    lock.release()
    throw error
  }
}
