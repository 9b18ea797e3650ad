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
  const opened = openDatabase(path)
  if (!opened.ok) return opened
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
