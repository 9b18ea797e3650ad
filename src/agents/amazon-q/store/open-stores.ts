/** Databases that were just read stay open for a moment: opening one costs as much as reading some rows, copying one far more. */

import type { DatabaseOutcome } from '../../../lib/sqlite/database-problem.ts'
import { databaseFingerprint } from '../../../lib/sqlite/fingerprint.ts'
import { type ForeignDatabase, openForeignDatabase } from '../../../lib/sqlite/foreign-database.ts'

interface OpenStore {
  readonly database: ForeignDatabase
  readonly fingerprint: string | undefined
  timer: NodeJS.Timeout
}

const openStores = new Map<string, OpenStore>()
const IDLE_CLOSE_MS = 300

/** A store that was just found locked is waited for only briefly by the next step of the same work. */
const lockedStores = new Map<string, LockedStore>()
const LOCK_MEMORY_MS = 500
const RETRY_BUSY_MS = 20

interface LockedStore {
  readonly fingerprint: string | undefined
  readonly at: number
}

/** The work is done at once: no statement outlives it. What it learns is from after this call. */
export function withStore<T>(
  path: string,
  work: (database: ForeignDatabase) => DatabaseOutcome<T>,
): DatabaseOutcome<T> {
  const fingerprint = databaseFingerprint(path)
  const known = openStores.get(path)
  // A copy shows the moment of copying only, and so does a file that was put in the place of another.
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
