/** Watches folders and hints at changes. A missed hint only delays a change until the next sweep. */
import { join } from 'node:path'
import { watch as watchFolders } from 'chokidar'
import type { Agent } from '../agents/agent.ts'
import { isFolder, statOf } from '../lib/files/safe-fs.ts'

export interface WatchHints {
  /** Files that may have been written, created or deleted. */
  readonly files: ReadonlySet<string>
  /** Stores of rows that may have changed. */
  readonly stores: ReadonlySet<string>
  /** Folders were created or deleted: run a full sweep. */
  readonly everything: boolean
}

export interface RootWatchOptions {
  /** Folders, and single files. They need not exist yet. */
  readonly roots: readonly string[]
  readonly stores: readonly { readonly agent: Agent; readonly store: string }[]
  /** Not called again until the returned promise settles. */
  onHints(hints: WatchHints): Promise<void>
}

export interface RootWatch {
  /** Watches the folders that exist now. Once resolved, all of them are watched. */
  renew(): Promise<void>
  close(): Promise<void>
}

/** Hints within this many milliseconds are delivered together. */
const COLLECT_HINTS_MS = 15
/** Interval for checking whether roots appeared or disappeared, and whether single files were written. */
const CHECK_ROOTS_MS = 2000

/**
 * Watches folders only: their events name the files in them, and a watch per file would be too expensive with a hundred
 * thousand files. On systems whose folder events do not report writes, files are watched too.
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

/** Identifies a folder across replacement. The inode alone is not enough, because systems reuse it immediately. */
function folderIdentity(path: string): string | undefined {
  const found = statOf(path)
  return found?.isDirectory() ? `${found.ino} ${found.birthtimeMs}` : undefined
}

/** Changes when the file is written. */
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

/** One watcher per folder: a watcher for several folders reports ready after the first. */
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
    // A watcher that is closed early never reports ready.
    close: () => watcher.close().finally(isReady),
  }
}

interface HintCollector {
  file(path: string): void
  store(path: string): void
  everything(): void
  close(): void
}

/** Collects hints while earlier ones are processed. */
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
