/** What was put back where, so that it can be undone. */
import type { Db } from '../lib/sqlite/own-database.ts'
import { getRow, getValues, runStatement } from '../lib/sqlite/statements.ts'
import type { AgentId, Instant } from '../model/ids.ts'

export interface Restored {
  readonly at: Instant
  readonly session: string
  readonly agent: AgentId
  /** A file, or the store of a row. */
  readonly path: string
  /** Key of the row. Absent for a file. */
  readonly key?: string
  /** SHA-256 of what was put there, hex. */
  readonly hash: string
  /** Side files that did not exist before. */
  readonly created: readonly string[]
  /** A copy of what was replaced. Absent if nothing was. */
  readonly backup?: string
}

interface RestoredRow extends Omit<Restored, 'key' | 'created' | 'backup'> {
  readonly id: number
  readonly key: string | null
  readonly created: string
  readonly backup: string | null
}

export class RestoredTable {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  add({ created, ...record }: Restored): void {
    const sql = `INSERT INTO restored (at, session, agent, path, key, hash, created, backup)
      VALUES (:at, :session, :agent, :path, :key, :hash, :created, :backup)`
    runStatement(this.#db, sql, { key: null, backup: null, ...record, created: JSON.stringify(created) })
  }

  /** @param session the complete id; default: any */
  last(session?: string): (Restored & { readonly id: number }) | undefined {
    const sql = 'SELECT * FROM restored WHERE :session IS NULL OR session = :session ORDER BY id DESC LIMIT 1'
    const row = getRow<RestoredRow>(this.#db, sql, { session: session ?? null })
    if (!row) return undefined
    const { key, backup, created, ...rest } = row
    return {
      ...rest,
      created: JSON.parse(created) as readonly string[],
      ...(key !== null && { key }),
      ...(backup !== null && { backup }),
    }
  }

  /** @returns the copies of what was replaced */
  take(session: string): readonly string[] {
    const backups = getValues<string | null>(this.#db, 'SELECT backup FROM restored WHERE session = ?', session)
    runStatement(this.#db, 'DELETE FROM restored WHERE session = ?', session)
    return backups.filter((one) => one !== null)
  }

  remove(id: number): void {
    runStatement(this.#db, 'DELETE FROM restored WHERE id = ?', id)
  }
}
