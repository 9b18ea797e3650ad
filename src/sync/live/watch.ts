/** Hints that something may have changed. A hint that is missed costs time until the next sweep, never a message. */
import { join } from 'node:path'
import { watch as watchFolders } from 'chokidar'
import type { Agent } from '../../agents/agent.ts'
import { isFolder, statOf } from '../../lib/files/look.ts'

export interface Hints {
  /** Files in which something may have been written, which may have come or gone. */
  readonly files: ReadonlySet<string>
  /** Stores of rows. */
  readonly stores: ReadonlySet<string>
  /** Folders came or went: look at everything. */
  readonly everything: boolean
}

export interface WatchOptions {
  /** Folders, and files that were named themselves. They need not exist. */
  readonly roots: readonly string[]
  readonly stores: readonly { readonly agent: Agent; readonly store: string }[]
  /** Not called again before it is done. */
  onHints(hints: Hints): Promise<void>
}

export interface Watch {
  /** Watches the folders that exist now. When it is done, hints come from all of them. */
  renew(): Promise<void>
  close(): Promise<void>
}

/** What comes within so many milliseconds comes together. */
const TOGETHER = 15
/** So often it is looked whether roots have come or gone, and whether files that are roots were written. */
const ROOTS_EVERY = 2000

/**
 * Watches folders alone: their events name the files in them, and a watch on each of a hundred thousand files would cost
 * more than it tells. Where a folder's events do not speak of what is written to its files, files are watched too.
 */
export function watchPlaces(options: WatchOptions): Watch {
  const gather = gatherer(options.onHints)
  const folders = new Map<string, Folder>()
  const renew = async (): Promise<void> => {
    for (const path of options.roots) {
      const identity = identityOf(path)
      const before = folders.get(path)
      if (before?.identity === identity) continue
      folders.delete(path)
      void before?.close()
      if (identity !== undefined) folders.set(path, { identity, ...watchFolder(path, gather) })
    }
    await Promise.all([...folders.values()].map(({ ready }) => ready))
  }
  const stores = options.stores.flatMap(
    ({ agent, store }) => agent.volatile?.watch(store, () => gather.store(store)) ?? [],
  )
  const files = new Map(options.roots.map((path) => [path, stampOf(path)]))
  const timer = setInterval(() => {
    for (const path of options.roots) {
      if (folders.get(path)?.identity !== identityOf(path)) gather.everything()
      const stamp = stampOf(path)
      if (files.get(path) === stamp) continue
      files.set(path, stamp)
      gather.file(path)
    }
  }, ROOTS_EVERY).unref()
  return {
    renew,
    async close() {
      clearInterval(timer)
      for (const store of stores) store.close()
      gather.close()
      await Promise.all([...folders.values()].map((folder) => folder.close()))
    },
  }
}

/** Of a folder: another one in its place has another. Its number alone is given to the next one at once. */
function identityOf(path: string): string | undefined {
  const found = statOf(path)
  return found?.isDirectory() ? `${found.ino} ${found.birthtimeMs}` : undefined
}

/** Of a file. */
function stampOf(path: string): string | undefined {
  const found = statOf(path)
  return found?.isFile() ? `${found.size} ${found.mtimeMs} ${found.ino}` : undefined
}

interface Folder extends Watching {
  readonly identity: string
}

interface Watching {
  readonly ready: Promise<void>
  close(): Promise<void>
}

/** A watcher for each: one for several is ready when the first of them is. */
function watchFolder(root: string, gather: Gatherer): Watching {
  const watchesFiles = process.platform === 'darwin'
  const watcher = watchFolders(root, {
    ignoreInitial: true,
    followSymlinks: false,
    ignored: (_, stats) => !watchesFiles && stats?.isFile() === true,
  })
  watcher.on('raw', (_event, name, details) => {
    const { watchedPath } = details as { watchedPath?: string }
    if (watchedPath !== undefined) gather.file(typeof name === 'string' ? join(watchedPath, name) : watchedPath)
  })
  watcher.on('addDir', gather.everything)
  watcher.on('unlinkDir', gather.everything)
  if (watchesFiles) for (const event of ['add', 'change', 'unlink'] as const) watcher.on(event, gather.file)
  let isReady = (): void => {}
  const ready = new Promise<void>((done) => {
    isReady = done
  })
  watcher.once('ready', isReady)
  return {
    ready,
    // One that is closed before never says so.
    close: () => watcher.close().finally(isReady),
  }
}

interface Gatherer {
  file(path: string): void
  store(path: string): void
  everything(): void
  close(): void
}

/** Gathers hints until the last ones are dealt with. */
function gatherer(onHints: (hints: Hints) => Promise<void>): Gatherer {
  let files = new Set<string>()
  let stores = new Set<string>()
  let everything = false
  let timer: NodeJS.Timeout | undefined
  let isBusy = false
  let closed = false

  const flush = async (): Promise<void> => {
    timer = undefined
    if (isBusy || closed) return
    isBusy = true
    const hints = { files, stores, everything }
    files = new Set()
    stores = new Set()
    everything = false
    try {
      await onHints(hints)
    } finally {
      isBusy = false
      if (files.size + stores.size > 0 || everything) soon()
    }
  }
  const soon = (): void => {
    timer ??= setTimeout(() => void flush(), TOGETHER)
  }
  return {
    file(path: string): void {
      if (isFolder(path)) return
      files.add(path)
      soon()
    },
    store(path: string): void {
      stores.add(path)
      soon()
    },
    everything(): void {
      everything = true
      soon()
    },
    close(): void {
      closed = true
      clearTimeout(timer)
    },
  }
}
