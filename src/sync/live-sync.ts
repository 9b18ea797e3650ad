/**
 * Writes the index under the lock, once or continuously. The watcher only hints at changes; the sweep decides what to
 * read.
 */
import { sep } from 'node:path'
import type { Agent, Source } from '../agents/agent.ts'
import { backUpSources } from '../backup/backup-service.ts'
import { removeIndex } from '../index/index-file.ts'
import { type IndexLock, type LockHolder, takeIndexLock } from '../index/lock.ts'
import { readHead, statOf } from '../lib/files/safe-fs.ts'
import { debug } from '../lib/logger.ts'
import { AppError } from '../model/error.ts'
import type { EventBus } from './event-bus.ts'
import { backUpFiles, listAllSources, listBackedUpSources, type SyncContext } from './list-sources.ts'
import type { FoundSource } from './sweep.ts'
import { Syncer, type SyncOptions, type SyncResult } from './syncer.ts'
import { type WatchHints, watchRoots } from './watch-roots.ts'

export interface LiveSyncOptions extends SyncContext, Pick<SyncOptions, 'onProgress'> {
  readonly stores: readonly { readonly agent: Agent; readonly store: string }[]
  readonly syncer: Syncer
  readonly events: EventBus
  /** Milliseconds between full sweeps. */
  readonly sweepEvery?: number
  readonly onProblem?: (problem: AppError) => void
}

export interface LiveSync {
  /** Resolves after the first full sweep. */
  readonly ready: Promise<SyncResult>
  /** Runs a full sweep now. */
  sync(): Promise<SyncResult>
  close(): Promise<void>
}

const STOPPED: SyncResult = { sources: 0, scanned: 0, gone: 0, read: 0, stopped: true }
const SWEEP_INTERVAL_MS = 600_000
/** Delay before an operation that failed is retried. */
const RETRY_AFTER_MS = 15_000

export function startLiveSync(options: LiveSyncOptions): LiveSync {
  const { places, syncer, events } = options
  const stop = new AbortController()
  const shared: SyncOptions = {
    ...(options.onProgress && { onProgress: options.onProgress }),
    onChanges: (changes) => events.publish(changes),
    signal: stop.signal,
    isWanted: options.isWanted,
  }
  /** Queue of operations: only one may write at a time. */
  let work: Promise<unknown> = Promise.resolve()
  const next = <T>(job: () => Promise<T>): Promise<T> => {
    const done = work.then(job)
    work = done.catch(() => undefined)
    return done
  }
  /** Nothing starts after `close`, which waits for running operations. */
  const synced = (...parameters: Parameters<Syncer['syncOrRebuild']>): Promise<SyncResult> =>
    next(async () => (stop.signal.aborted ? STOPPED : syncer.syncOrRebuild(...parameters)))
  const all = () => listAllSources(options)
  const everything = async (): Promise<SyncResult> => {
    if (!stop.signal.aborted) await watch.renew()
    return synced(all, shared)
  }
  let again: NodeJS.Timeout | undefined
  /** Reports errors and retries later. */
  const reportErrors = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      options.onProblem?.(toAppError(error))
      clearTimeout(again)
      if (!stop.signal.aborted) again = setTimeout(() => void reportErrors(everything), RETRY_AFTER_MS).unref()
    }
  }

  const handleHints = async (hints: WatchHints): Promise<unknown> => {
    if (hints.everything) return everything()
    if (hints.files.size > 0) {
      const found = [...hints.files].flatMap((path) => findAgentsForFile(path, options))
      await synced(() => backUpFiles(listFileSources(found), options), { ...shared, paths: hints.files }, all)
    }
    for (const path of hints.stores)
      for (const { agent, store } of options.stores)
        if (store === path) await synced(() => listStoreRows(agent, store, options), { ...shared, paths: [store] }, all)
    return undefined
  }

  const watch = watchRoots({
    roots: [...new Set(places.map(({ root }) => root))],
    stores: options.stores,
    onHints: (hints) => reportErrors(() => handleHints(hints)),
  })
  const ready = everything()
  const timer = setInterval(() => void reportErrors(everything), options.sweepEvery ?? SWEEP_INTERVAL_MS).unref()
  return {
    ready,
    sync: everything,
    async close() {
      clearInterval(timer)
      clearTimeout(again)
      stop.abort()
      await watch.close()
      await work
    },
  }
}

/** A bug in a sync must not end the process, which also serves other requests. */
function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error)
  debug(what)
  const [first = ''] = what.split('\n')
  return new AppError(
    'unusable_data',
    `Internal error: ${first}; please report it`,
    `fumibako の不具合です。報告してください（${first}）`,
  )
}

export interface FoundFile {
  readonly agent: Agent
  readonly root: string
  readonly path: string
}

/** Agents that may own a file. A wrong guess is corrected by the next full sweep. */
export function findAgentsForFile(
  path: string,
  { places, isWanted }: Pick<SyncContext, 'places' | 'isWanted'>,
): readonly FoundFile[] {
  const file = statOf(path)
  if (!file?.isFile()) return []
  const near = places.filter(({ root }) => path === root || path.startsWith(root.endsWith(sep) ? root : root + sep))
  if (near.length === 0) return []
  const head = readHead(path)
  return near.flatMap(({ agent, root }) =>
    agent.recognize(head, path) && isWanted({ agent: agent.id, path }) ? { agent, root, path } : [],
  )
}

/** Rows from the backup, or from the store itself. */
async function* listStoreRows(agent: Agent, store: string, context: SyncContext): AsyncGenerator<FoundSource> {
  const { policy, backup } = context
  const rows: Source[] = []
  for await (const source of agent.find(store)) rows.push(source)
  const kept: Source[] = []
  for (const source of rows)
    if ((await policy.decideFor(agent, source)).kept) kept.push(source)
    else yield { agent, source }
  if (kept.length > 0 || policy.decide(agent).kept)
    await backUpSources(agent, store, kept, backup, { now: context.now, existing: rows })
  for (const found of listBackedUpSources(context, { store }))
    if (found.isEnded || policy.decide(agent, found.source.agent).kept) yield found
}

/** Files only: rows of stores have their own watch. */
export async function* listFileSources(foundFiles: readonly FoundFile[]): AsyncGenerator<FoundSource> {
  for (const { agent, root, path } of foundFiles)
    for await (const source of agent.find(path))
      if (source.key === undefined) yield { agent, source: { ...source, root } }
}

/** Another process holds the lock. `by` is undefined if it has only just started. */
export interface LockedByOther {
  readonly kind: 'held'
  readonly by: LockHolder | undefined
}

export type SyncOutcome = { readonly kind: 'synced'; readonly synced: SyncResult } | LockedByOther

export type WatchOutcome = ({ readonly kind: 'watching' } & LiveSync) | LockedByOther

export interface WatchIndexOptions extends Pick<SyncOptions, 'onProgress'> {
  /** Milliseconds between full sweeps, for missed hints. */
  readonly sweepEvery?: number
  /** Called when an operation fails, such as a write to a full disk. It is retried later. */
  readonly onProblem?: (problem: AppError) => void
}

export async function syncWithLock(
  directory: string,
  threads: number | undefined,
  context: SyncContext,
  events: EventBus,
  options: SyncOptions & { readonly full?: boolean },
): Promise<SyncOutcome> {
  const attempt = takeIndexLock(directory, 'sync')
  if (attempt.kind === 'held') return attempt
  try {
    if (options.full) removeIndex(directory)
    const syncer = new Syncer(directory, threads)
    try {
      const synced = await syncer.syncOrRebuild(() => listAllSources(context), {
        ...options,
        onChanges: (changes) => events.publish(changes),
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

/** Releases the lock if `work` throws. */
function releaseOnFailure<T>(lock: IndexLock, work: () => T): T {
  try {
    return work()
  } catch (error) {
    lock.release()
    throw error
  }
}
