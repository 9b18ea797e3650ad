/** Keeps databases of other programs open for a moment, because several reads usually follow each other. */
import { type DatabaseOutcome, databaseFingerprint } from '../../lib/sqlite/database-file.ts'
import { type ForeignDatabase, openForeignDatabase } from '../../lib/sqlite/foreign-database.ts'

interface OpenStore {
  readonly database: ForeignDatabase
  readonly fingerprint: string | undefined
  timer: NodeJS.Timeout
}

const openStores = new Map<string, OpenStore>()
const IDLE_CLOSE_MS = 300

/** Stores recently found locked. The next steps of the same operation wait for them only briefly. */
const lockedStores = new Map<string, LockedStore>()
const LOCK_MEMORY_MS = 500
const RETRY_BUSY_MS = 20

interface LockedStore {
  readonly fingerprint: string | undefined
  readonly at: number
}

/** `work` is synchronous, and no statement outlives it. It sees the state after this call. */
export function withStore<T>(
  path: string,
  work: (database: ForeignDatabase) => DatabaseOutcome<T>,
): DatabaseOutcome<T> {
  const fingerprint = databaseFingerprint(path)
  const known = openStores.get(path)
  // A copy is a snapshot, and a replaced file stays open under its old inode: both must be opened again.
  if (known && known.fingerprint === fingerprint) {
    known.timer.refresh()
    return work(known.database)
  }
  closeStore(path)
  const refused = lockedStores.get(path)
  const wasLocked = refused?.fingerprint === fingerprint && performance.now() - (refused?.at ?? 0) < LOCK_MEMORY_MS
  lockedStores.delete(path)
  const opened = openForeignDatabase(path, wasLocked ? { busyMs: RETRY_BUSY_MS } : {})
  if (!opened.ok) {
    if (opened.problem.kind === 'busy') lockedStores.set(path, { fingerprint, at: performance.now() })
    return opened
  }
  const timer = setTimeout(() => closeStore(path), IDLE_CLOSE_MS).unref()
  openStores.set(path, { database: opened.value, fingerprint, timer })
  return work(opened.value)
}

function closeStore(path: string): void {
  const store = openStores.get(path)
  if (!store) return
  openStores.delete(path)
  clearTimeout(store.timer)
  store.database.close()
}
