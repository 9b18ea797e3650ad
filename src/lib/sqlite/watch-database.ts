/** Watches another program's database for commits without opening it. */
import { type FSWatcher, statSync, watch } from 'node:fs'
import { basename, dirname, relative, sep } from 'node:path'
import { type DatabaseFileState, databaseFilesAt, readDatabaseFileState } from './database-file.ts'

export interface DatabaseWatchOptions {
  /** Interval for file systems without events. */
  readonly pollMs?: number
}

export interface DatabaseWatch {
  close(): void
}

const DEFAULT_POLL_MS = 2000
/** Unchanged for this long counts as at rest; longer than a clock tick of the file system. */
const REST_MS = 30
/** Maximum delay of a call while the owner keeps writing. */
const MAX_NOTIFY_DELAY_MS = 100

/**
 * Calls `onChange` after commits, once for several in a row and always after the last; also when the file appears,
 * disappears or is replaced. A call may be unnecessary. Reading causes none. Does not keep the process alive.
 */
export function watchDatabase(path: string, onChange: () => void, options: DatabaseWatchOptions = {}): DatabaseWatch {
  const detector = createChangeDetector(path, onChange)
  const folder = watchFolder(path, detector.checkSoon)
  detector.checkSoon()
  const poll = setInterval(() => {
    folder.renew()
    detector.checkNow()
  }, options.pollMs ?? DEFAULT_POLL_MS).unref()
  return {
    close() {
      clearInterval(poll)
      folder.close()
      detector.close()
    },
  }
}

interface ChangeDetector {
  checkNow(): void
  checkSoon(): void
  close(): void
}

/** Compares the files with their last reported state until they rest. */
function createChangeDetector(path: string, onChange: () => void): ChangeDetector {
  let reported: DatabaseFileState = readDatabaseFileState(path)
  /** A report while the owner was writing is repeated when it rests: it may have been too early. */
  let isFinal = true
  let last = reported.fingerprint
  let changedAt = 0
  let waitingSince: number | undefined
  let timer: NodeJS.Timeout | undefined
  let closed = false

  const report = (state: DatabaseFileState, isResting: boolean): void => {
    reported = state
    isFinal = isResting
    waitingSince = undefined
    onChange()
  }

  const now = (): void => {
    if (closed) return
    const state = readDatabaseFileState(path)
    const time = performance.now()
    if (state.fingerprint !== last) changedAt = time
    last = state.fingerprint
    if (isFinal && state.fingerprint === reported.fingerprint) {
      waitingSince = undefined
      return
    }
    waitingSince ??= time
    if (!state.inTransaction && time - changedAt >= REST_MS) return report(state, true)
    // A transaction writes before it commits; only the commit count shows a commit.
    const hasNews = state.inTransaction
      ? state.commits !== reported.commits
      : state.fingerprint !== reported.fingerprint
    if (hasNews && time - waitingSince >= MAX_NOTIFY_DELAY_MS) report(state, false)
    // The end of a transaction causes an event.
    if (hasNews || !state.inTransaction) soon()
  }

  const soon = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined
      now()
    }, REST_MS).unref()
  }

  const close = (): void => {
    closed = true
    clearTimeout(timer)
  }

  return { checkNow: now, checkSoon: soon, close }
}

interface FolderWatch {
  /** Watches the folder again if it was created, removed or replaced. */
  renew(): void
  close(): void
}

/** Watches the nearest existing folder. Only a hint: some file systems send no events. */
function watchFolder(path: string, hint: () => void): FolderWatch {
  let watcher: FSWatcher | undefined
  let watched = ''

  const close = (): void => {
    watcher?.close()
    watcher = undefined
  }

  const renew = (): void => {
    const { main } = databaseFilesAt(path)
    const { folder, id } = findNearestFolder(dirname(main))
    if (watcher && watched === id) return
    close()
    watched = id
    try {
      const names = relevantNames(folder, main)
      watcher = watch(folder, { persistent: false }, (_, name) => {
        if (name !== null && !names.has(name)) return
        // The folder is gone; a new one may reuse its inode.
        if (name === basename(folder)) close()
        renew()
        hint()
      })
      watcher.on('error', close)
    } catch {
      close()
    }
  }

  renew()
  return { renew, close }
}

function findNearestFolder(folder: string): { readonly folder: string; readonly id: string } {
  try {
    const stat = statSync(folder, { bigint: true })
    if (stat.isDirectory()) return { folder, id: `${folder} ${stat.dev} ${stat.ino}` }
  } catch {}
  return dirname(folder) === folder ? { folder, id: folder } : findNearestFolder(dirname(folder))
}

/** Ignores the shared memory file: readers write to it, so our own reads would trigger the watcher. */
function relevantNames(folder: string, main: string): ReadonlySet<string> {
  const [next = ''] = relative(folder, main).split(sep)
  return new Set([next, `${next}-wal`, `${next}-journal`, basename(folder)])
}
