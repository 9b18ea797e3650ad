/** Caches query results until the next write. */
import type { Db } from '../lib/sqlite/own-database.ts'
import { prepareFirstColumn } from '../lib/sqlite/statements.ts'

const MAX_CACHED_ANSWERS = 64

interface QueryCache {
  version: number
  readonly answers: Map<string, unknown>
}

const caches = new WeakMap<Db, QueryCache>()

/** Call it on a read-only connection, inside a transaction. @param key identifies the query */
export function cachedQuery<T>(db: Db, key: string, runQuery: () => T): T {
  const version = prepareFirstColumn(db, 'PRAGMA data_version').get() as number
  let cache = caches.get(db)
  if (!cache) {
    cache = { version, answers: new Map() }
    caches.set(db, cache)
  }
  const { answers } = cache
  if (cache.version !== version || answers.size >= MAX_CACHED_ANSWERS) answers.clear()
  cache.version = version
  if (answers.has(key)) return answers.get(key) as T
  const answer = runQuery()
  answers.set(key, answer)
  return answer
}
