/** Tells when another program has committed to its database, without opening it as one. */
import { type FSWatcher, statSync, watch } from 'node:fs'
import { basename, dirname, relative, sep } from 'node:path'
import { type DatabaseFileState, databaseFilesAt, readDatabaseFileState } from './database-file.ts'

export interface DatabaseWatchOptions {
  /** How often to look where the file system tells nothing. */
  readonly pollMs?: number
}

export interface DatabaseWatch {
  close(): void
}

const DEFAULT_POLL_MS = 2000
/** What looks the same this long is at rest: more than a tick of a file system's clock. */
const REST_MS = 30
/** An owner that does not rest is told of this often. */
const MAX_NOTIFY_DELAY_MS = 100

/**
 * `onChange` is called after commits, one call for several close together, the last one always followed by a call; also
 * when the file comes, goes or is replaced. A call may turn out to be for nothing. Reading causes none. Does not keep
 * the process alive.
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

/** Compares the files with what was last told, until they are at rest. */
function createChangeDetector(path: string, onChange: () => void): ChangeDetector {
  let reported: DatabaseFileState = readDatabaseFileState(path)
  /** What was told while the owner was at work is told again when it rests: it may have been too early. */
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
    // A transaction writes to the file before it commits; only the count says that one did, or is about to.
    const hasNews = state.inTransaction
      ? state.commits !== reported.commits
      : state.fingerprint !== reported.fingerprint
    if (hasNews && time - waitingSince >= MAX_NOTIFY_DELAY_MS) report(state, false)
    // The end of a transaction is an event, so there is no need to wait for it here.
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
  /** The folder may have come, gone or been replaced. */
  renew(): void
  close(): void
}

/** File events of the nearest folder that exists. A hint only: some file systems give none. */
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
        // The folder itself is gone; the next one may have its number.
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
  } catch {
    // Not there, or not to be seen.
  }
  return dirname(folder) === folder ? { folder, id: folder } : findNearestFolder(dirname(folder))
}

/** What may be the database's doing. Not the shared memory: readers write to it, so that reading would wake us. */
function relevantNames(folder: string, main: string): ReadonlySet<string> {
  const [next = ''] = relative(folder, main).split(sep)
  return new Set([next, `${next}-wal`, `${next}-journal`, basename(folder)])
}
