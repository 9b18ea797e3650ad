/** Strings that many rows share, each stored once and known by its number. */
import type { Db } from '../open.ts'

export interface Numbers {
  (text: string): number
  /** Asks the database again: what was added last was taken back. */
  reset(): void
}

const MOST = 20_000

export function numbersIn(db: Db, table: 'word' | 'file', column: 'text' | 'path'): Numbers {
  const find = db.prepare(`SELECT id FROM ${table} WHERE ${column} = ?`).pluck()
  const add = db.prepare(`INSERT INTO ${table} (${column}) VALUES (?)`)
  const known = new Map<string, number>()
  const numbers = (text: string): number => {
    const seen = known.get(text)
    if (seen !== undefined) return seen
    const id = (find.get(text) as number | undefined) ?? Number(add.run(text).lastInsertRowid)
    if (known.size >= MOST) known.clear()
    known.set(text, id)
    return id
  }
  return Object.assign(numbers, { reset: () => known.clear() })
}
