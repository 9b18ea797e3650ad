/** Hints that something may have changed. A hint that is missed costs time until the next sweep, never a message. */
import { join } from 'node:path'
import { watch as watchFolders } from 'chokidar'
import type { Agent } from '../agents/agent.ts'
import { isFolder, statOf } from '../lib/files/safe-fs.ts'

export interface WatchHints {
  /** Files in which something may have been written, which may have come or gone. */
  readonly files: ReadonlySet<string>
  /** Stores of rows. */
  readonly stores: ReadonlySet<string>
  /** Folders came or went: look at everything. */
  readonly everything: boolean
}

export interface RootWatchOptions {
  /** Folders, and files that were named themselves. They need not exist. */
  readonly roots: readonly string[]
  readonly stores: readonly { readonly agent: Agent; readonly store: string }[]
  /** Not called again before it is done. */
  onHints(hints: WatchHints): Promise<void>
}

export interface RootWatch {
  /** Watches the folders that exist now. When it is done, hints come from all of them. */
  renew(): Promise<void>
  close(): Promise<void>
}

/** What comes within so many milliseconds comes together. */
const COLLECT_HINTS_MS = 15
/** So often it is looked whether roots have come or gone, and whether files that are roots were written. */
const CHECK_ROOTS_MS = 2000

/**
 * Watches folders alone: their events name the files in them, and a watch on each of a hundred thousand files would cost
 * more than it tells. Where a folder's events do not speak of what is written to its files, files are watched too.
 */
export function watchRoots(options: RootWatchOptions): RootWatch {
  const collector = collectHints(options.onHints)
  const folders = new Map<string, WatchedFolder>()
  const renew = async (): Promise<void> => {
    for (const path of options.roots) {
      const identity = folderIdentity(path)
      const before = folders.get(path)
      if (before?.identity === identity) continue
      folders.delete(path)
      void before?.close()
      if (identity !== undefined) folders.set(path, { identity, ...watchFolder(path, collector) })
    }
    await Promise.all([...folders.values()].map(({ ready }) => ready))
  }
  const stores = options.stores.flatMap(
    ({ agent, store }) => agent.volatile?.watch(store, () => collector.store(store)) ?? [],
  )
  const files = new Map(options.roots.map((path) => [path, fileStamp(path)]))
  const timer = setInterval(() => {
    for (const path of options.roots) {
      if (folders.get(path)?.identity !== folderIdentity(path)) collector.everything()
      const stamp = fileStamp(path)
      if (files.get(path) === stamp) continue
      files.set(path, stamp)
      collector.file(path)
    }
  }, CHECK_ROOTS_MS).unref()
  return {
    renew,
    async close() {
      clearInterval(timer)
      for (const store of stores) store.close()
      collector.close()
      await Promise.all([...folders.values()].map((folder) => folder.close()))
    },
  }
}

/** Of a folder: another one in its place has another. Its number alone is given to the next one at once. */
function folderIdentity(path: string): string | undefined {
  const found = statOf(path)
  return found?.isDirectory() ? `${found.ino} ${found.birthtimeMs}` : undefined
}

/** Of a file. */
function fileStamp(path: string): string | undefined {
  const found = statOf(path)
  return found?.isFile() ? `${found.size} ${found.mtimeMs} ${found.ino}` : undefined
}

interface WatchedFolder extends FolderWatch {
  readonly identity: string
}

interface FolderWatch {
  readonly ready: Promise<void>
  close(): Promise<void>
}

/** A watcher for each: one for several is ready when the first of them is. */
function watchFolder(root: string, collector: HintCollector): FolderWatch {
  const watchesFiles = process.platform === 'darwin'
  const watcher = watchFolders(root, {
    ignoreInitial: true,
    followSymlinks: false,
    ignored: (_, stats) => !watchesFiles && stats?.isFile() === true,
  })
  watcher.on('raw', (_event, name, details) => {
    const { watchedPath } = details as { watchedPath?: string }
    if (watchedPath !== undefined) collector.file(typeof name === 'string' ? join(watchedPath, name) : watchedPath)
  })
  watcher.on('addDir', collector.everything)
  watcher.on('unlinkDir', collector.everything)
  if (watchesFiles) for (const event of ['add', 'change', 'unlink'] as const) watcher.on(event, collector.file)
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

interface HintCollector {
  file(path: string): void
  store(path: string): void
  everything(): void
  close(): void
}

/** Gathers hints until the last ones are dealt with. */
function collectHints(onHints: (hints: WatchHints) => Promise<void>): HintCollector {
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
      if (files.size + stores.size > 0 || everything) scheduleFlush()
    }
  }
  const scheduleFlush = (): void => {
    timer ??= setTimeout(() => void flush(), COLLECT_HINTS_MS)
  }
  return {
    file(path: string): void {
      if (isFolder(path)) return
      files.add(path)
      scheduleFlush()
    },
    store(path: string): void {
      stores.add(path)
      scheduleFlush()
    },
    everything(): void {
      everything = true
      scheduleFlush()
    },
    close(): void {
      closed = true
      clearTimeout(timer)
    },
  }
}
