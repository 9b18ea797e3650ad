/** Databases that were just read stay open for a moment: opening one costs as much as reading some rows, copying one far more. */
import { databaseFingerprint } from '../../../lib/sqlite/fingerprint.ts'
import { type OpenDatabase, openDatabase } from '../../../lib/sqlite/open.ts'
import type { Outcome } from '../../../lib/sqlite/problem.ts'

interface OpenStore {
  readonly database: OpenDatabase
  readonly fingerprint: string | undefined
  timer: NodeJS.Timeout
}

const stores = new Map<string, OpenStore>()
const REST_MS = 300

/** A store that was just found locked is waited for only briefly by the next step of the same work. */
const locked = new Map<string, Locked>()
const LOCKED_MS = 500
const GLANCE_MS = 20

interface Locked {
  readonly fingerprint: string | undefined
  readonly at: number
}

/** The work is done at once: no statement outlives it. What it learns is from after this call. */
export function withStore<T>(path: string, work: (database: OpenDatabase) => Outcome<T>): Outcome<T> {
  const fingerprint = databaseFingerprint(path)
  const known = stores.get(path)
  // A copy shows the moment of copying only, and so does a file that was put in the place of another.
  if (known && known.fingerprint === fingerprint) {
    known.timer.refresh()
    return work(known.database)
  }
  closeStore(path)
  const refused = locked.get(path)
  const wasLocked = refused?.fingerprint === fingerprint && performance.now() - (refused?.at ?? 0) < LOCKED_MS
  locked.delete(path)
  const opened = openDatabase(path, wasLocked ? { busyMs: GLANCE_MS } : {})
  if (!opened.ok) {
    if (opened.problem.kind === 'busy') locked.set(path, { fingerprint, at: performance.now() })
    return opened
  }
  const timer = setTimeout(() => closeStore(path), REST_MS).unref()
  stores.set(path, { database: opened.value, fingerprint, timer })
  return work(opened.value)
}

function closeStore(path: string): void {
  const store = stores.get(path)
  if (!store) return
  stores.delete(path)
  clearTimeout(store.timer)
  store.database.close()
}
