/** Keeps the index up to date while the agents write: the watcher hints, the sweep decides. */
import { sep } from 'node:path'
import type { Agent } from '../../agents/agent.ts'
import { headOf, statOf } from '../../lib/files/look.ts'
import { debug } from '../../lib/log.ts'
import { AppError } from '../../model/error.ts'
import { allSources, copied } from '../keep/policy.ts'
import { keepStore } from '../keep/rows.ts'
import { keptSources, type Scene } from '../list.ts'
import type { Found } from '../sweep.ts'
import type { Synced, Syncer, SyncOptions } from '../sync.ts'
import type { Feed } from './feed.ts'
import { type Hints, watchPlaces } from './watch.ts'

export interface LiveOptions extends Scene, Pick<SyncOptions, 'onProgress'> {
  readonly stores: readonly { readonly agent: Agent; readonly store: string }[]
  readonly syncer: Syncer
  readonly feed: Feed
  /** Milliseconds between looks at everything. */
  readonly sweepEvery?: number
  readonly onProblem?: (problem: AppError) => void
}

export interface Live {
  /** The first look at everything is done. */
  readonly ready: Promise<Synced>
  /** Looks at everything now. */
  sync(): Promise<Synced>
  close(): Promise<void>
}

const NOTHING: Synced = { sources: 0, scanned: 0, gone: 0, read: 0, stopped: true }
const SWEEP_EVERY = 600_000
/** After something that could not be done. */
const AGAIN_AFTER = 15_000

export function goLive(options: LiveOptions): Live {
  const { places, syncer, feed } = options
  const stop = new AbortController()
  const shared: SyncOptions = {
    ...(options.onProgress && { onProgress: options.onProgress }),
    onChanges: (changes) => feed.publish(changes),
    signal: stop.signal,
    isWanted: options.isWanted,
  }
  /** One after another: there is one writer. */
  let work: Promise<unknown> = Promise.resolve()
  const next = <T>(job: () => Promise<T>): Promise<T> => {
    const done = work.then(job)
    work = done.catch(() => undefined)
    return done
  }
  /** Nothing is begun after `close`, which waits for what was. */
  const synced = (...given: Parameters<Syncer['syncSound']>): Promise<Synced> =>
    next(async () => (stop.signal.aborted ? NOTHING : syncer.syncSound(...given)))
  const all = () => allSources(options)
  const everything = async (): Promise<Synced> => {
    if (!stop.signal.aborted) await watch.renew()
    return synced(all, shared)
  }
  let again: NodeJS.Timeout | undefined
  /** What cannot be done now is told, and tried again later. */
  const told = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      options.onProblem?.(problemOf(error))
      clearTimeout(again)
      if (!stop.signal.aborted) again = setTimeout(() => void told(everything), AGAIN_AFTER).unref()
    }
  }

  const look = async (hints: Hints): Promise<unknown> => {
    if (hints.everything) return everything()
    if (hints.files.size > 0) {
      const found = [...hints.files].flatMap((path) => foundAt(path, options))
      await synced(() => copied(sourcesOf(found), options), { ...shared, paths: hints.files }, all)
    }
    for (const path of hints.stores)
      for (const { agent, store } of options.stores)
        if (store === path) await synced(() => rowsOf(agent, store, options), { ...shared, paths: [store] }, all)
    return undefined
  }

  const watch = watchPlaces({
    roots: [...new Set(places.map(({ root }) => root))],
    stores: options.stores,
    onHints: (hints) => told(() => look(hints)),
  })
  const ready = everything()
  const timer = setInterval(() => void told(everything), options.sweepEvery ?? SWEEP_EVERY).unref()
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

/** A bug must not end the process that serves everything else. */
function problemOf(error: unknown): AppError {
  if (error instanceof AppError) return error
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error)
  debug(what)
  const [first = ''] = what.split('\n')
  return new AppError(
    'unusable_data',
    `internal error: ${first}; please report it`,
    `fumibako の不具合です。報告してください（${first}）`,
  )
}

interface Spot {
  readonly agent: Agent
  readonly root: string
  readonly path: string
}

/** Which agents would find a file. What they would not find after all is gone with the next look at everything. */
function foundAt(path: string, { places, isWanted }: Scene): readonly Spot[] {
  const file = statOf(path)
  if (!file?.isFile()) return []
  const near = places.filter(({ root }) => path === root || path.startsWith(root.endsWith(sep) ? root : root + sep))
  if (near.length === 0) return []
  const head = headOf(path)
  return near.flatMap(({ agent, root }) =>
    agent.recognise(head, path) && isWanted({ agent: agent.id, path }) ? { agent, root, path } : [],
  )
}

/** From the keep, or where they lie. */
async function* rowsOf(agent: Agent, store: string, scene: Scene): AsyncGenerator<Found> {
  const { policy, keep } = scene
  if (policy === 'none') for await (const source of agent.find(store)) yield { agent, source }
  else await keepStore(agent, store, keep, scene)
  yield* keptSources(scene, policy === 'none' ? { store, alive: false } : { store })
}

/** Rows of stores are not for this: their watch tells of them. */
async function* sourcesOf(spots: readonly Spot[]): AsyncGenerator<Found> {
  for (const { agent, root, path } of spots)
    for await (const source of agent.find(path))
      if (source.key === undefined) yield { agent, source: { ...source, root } }
}
