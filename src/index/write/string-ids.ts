/** Strings that many rows share, each stored once and known by its number. */
import type { Db } from '../../lib/sqlite/own-database.ts'

export interface StringIds {
  (text: string): number
  /** Asks the database again: what was added last was taken back. */
  reset(): void
}

const MAX_CACHED_STRINGS = 20_000

export function stringIdsIn(db: Db, table: 'word' | 'file', column: 'text' | 'path'): StringIds {
  const find = db.prepare(`SELECT id FROM ${table} WHERE ${column} = ?`).pluck()
  const add = db.prepare(`INSERT INTO ${table} (${column}) VALUES (?)`)
  const cache = new Map<string, number>()
  const idOf = (text: string): number => {
    const cached = cache.get(text)
    if (cached !== undefined) return cached
    const id = (find.get(text) as number | undefined) ?? Number(add.run(text).lastInsertRowid)
    if (cache.size >= MAX_CACHED_STRINGS) cache.clear()
    cache.set(text, id)
    return id
  }
  return Object.assign(idOf, { reset: () => cache.clear() })
}
