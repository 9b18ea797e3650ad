/** Backs up files as they change, without an index. */
import { hasSessionFiles, isSessionFileOf } from '../agents/agent-roots.ts'
import { statOf } from '../lib/files/safe-fs.ts'
import { backUpFiles, type SyncContext } from './list-sources.ts'
import { findAgentsForFile, listFileSources } from './live-sync.ts'
import type { FoundSource } from './sweep.ts'
import { type WatchHints, watchRoots } from './watch-roots.ts'

export interface BackupWatch {
  /** Resolves when all folders are watched and their files are backed up. */
  readonly ready: Promise<void>
  close(): Promise<void>
}

export interface BackupWatchOptions {
  readonly onProblem: (error: unknown) => void
  /** Milliseconds between full sweeps, for missed hints. */
  readonly sweepEvery?: number
}

const SWEEP_INTERVAL_MS = 600_000

/** Files of rows are left out; rows have their own watch. */
export async function* backUpAllFiles(context: SyncContext): AsyncGenerator<FoundSource> {
  yield* backUpFiles(filesInPlaces(context), context)
}

async function* filesInPlaces({ places, isWanted }: SyncContext): AsyncGenerator<FoundSource> {
  for (const { agent, root } of places) {
    if (!hasSessionFiles(agent) || !statOf(root)) continue
    for await (const source of agent.find(root))
      if (source.key === undefined && isSessionFileOf(agent, source.path) && isWanted(source)) yield { agent, source }
  }
}

/** Only files that the settings and agents say are to be backed up. */
export function watchFileBackups(context: SyncContext, options: BackupWatchOptions): BackupWatch {
  const places = context.places.filter(({ agent }) => hasSessionFiles(agent))
  let isClosed = false
  let work: Promise<void> = Promise.resolve()
  const next = (found: () => AsyncIterable<FoundSource>): Promise<void> => {
    work = work.then(async () => {
      try {
        for await (const _ of found()) if (isClosed) return
      } catch (error) {
        options.onProblem(error)
      }
    })
    return work
  }
  const everything = async (): Promise<void> => {
    if (!isClosed) await watch.renew()
    await next(() => backUpAllFiles(context))
  }
  const handleHints = async ({ everything: isAll, files }: WatchHints): Promise<void> => {
    if (isAll) return everything()
    const found = [...files].flatMap((path) => findAgentsForFile(path, { ...context, places }))
    await next(() => backUpFiles(listFileSources(found), context))
  }
  const watch = watchRoots({
    roots: [...new Set(places.map(({ root }) => root))],
    stores: [],
    onHints: handleHints,
  })
  const timer = setInterval(() => void everything(), options.sweepEvery ?? SWEEP_INTERVAL_MS).unref()
  return {
    ready: everything(),
    async close() {
      isClosed = true
      clearInterval(timer)
      await watch.close()
      await work
    },
  }
}
