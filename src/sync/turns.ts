/** Whose turn it is to write the index: takes the lock, does the work, and gives it back. */
import { removeIndex } from '../archive/index-file.ts'
import { type Holder, type Lock, takeLock } from '../archive/lock.ts'
import type { AppError } from '../model/error.ts'
import { allSources } from './keep/policy.ts'
import type { Scene } from './list.ts'
import type { Feed } from './live/feed.ts'
import { goLive, type Live, type LiveOptions } from './live/live.ts'
import { type Synced, Syncer, type SyncOptions } from './sync.ts'

/** Another process is at it; nobody is known where it has only just begun. */
export interface Held {
  readonly kind: 'held'
  readonly by: Holder | undefined
}

export type SyncOutcome = { readonly kind: 'synced'; readonly synced: Synced } | Held

export type WatchOutcome = ({ readonly kind: 'watching' } & Live) | Held

export interface WatchOptions extends Pick<SyncOptions, 'onProgress'> {
  /** Milliseconds between looks at everything, for hints that never came. */
  readonly sweepEvery?: number
  /** Something could not be done, such as writing to a full disk. It is tried again. */
  readonly onProblem?: (problem: AppError) => void
}

/** With a word to whoever listens. */
export const published = <T extends SyncOptions>(options: T, feed: Feed): T => ({
  ...options,
  onChanges: (changes) => {
    options.onChanges?.(changes)
    feed.publish(changes)
  },
})

export async function syncOnce(
  directory: string,
  threads: number | undefined,
  scene: Scene,
  options: SyncOptions & { readonly anew?: boolean },
): Promise<SyncOutcome> {
  const taken = takeLock(directory, 'sync')
  if (taken.kind === 'held') return taken
  try {
    if (options.anew) removeIndex(directory)
    const syncer = new Syncer(directory, threads)
    try {
      const synced = await syncer.syncSound(() => allSources(scene), { ...options, isWanted: scene.isWanted })
      return { kind: 'synced', synced }
    } finally {
      syncer.close()
    }
  } finally {
    taken.lock.release()
  }
}

export function watchOn(
  directory: string,
  threads: number | undefined,
  options: Omit<LiveOptions, 'syncer'>,
): WatchOutcome {
  const taken = takeLock(directory, 'watch')
  if (taken.kind === 'held') return taken
  const syncer = released(taken.lock, () => new Syncer(directory, threads))
  const live = goLive({ ...options, syncer })
  const close = async (): Promise<void> => {
    await live.close()
    syncer.close()
    taken.lock.release()
  }
  return { kind: 'watching', ready: live.ready, sync: live.sync, close }
}

/** The lock is given back when the work fails. */
function released<T>(lock: Lock, work: () => T): T {
  try {
    return work()
  } catch (error) {
    lock.release()
    throw error
  }
}
