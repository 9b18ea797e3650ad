/** Reads the index: sessions as a list, messages as a window, what has changed. Empty while there is no index. */
import { statSync } from 'node:fs'
import { AppError } from '../model/error.ts'
import type { SessionId } from '../model/ids.ts'
import type { Session } from '../model/session.ts'
import { type FileTouched, touchesOf } from './files.ts'
import type { SessionFilter } from './get/filter.ts'
import { type WindowOptions, windowOf } from './get/messages.ts'
import { type Listing, type ListOptions, listSessions } from './get/sessions.ts'
import { doubt, indexPath, isDamage, type Opened, openToRead } from './index-file.ts'
import { type Db, explained } from './open.ts'
import type { Change, Entry, Known, Where } from './record.ts'
import { historiesOf, type Stats, type StatsOptions, statsOf } from './stats.ts'

export interface Found extends Where {
  readonly root?: string
}

export class IndexReader {
  readonly #directory: string
  #opened: Opened | undefined
  #inode = 0

  constructor(directory: string) {
    this.#directory = directory
  }

  /** Nothing while there is no index. Another one means that all that was read before may be different now. */
  get epoch(): string | undefined {
    return this.#told(() => this.#open()?.epoch)
  }

  list(options: ListOptions = {}): Listing {
    return this.read((db) => listSessions(db, options), { total: 0, sessions: [] })
  }

  get(id: SessionId): Entry | undefined {
    return this.list({ ids: [id], kind: 'any', children: 'all' }).sessions[0]
  }

  /** The header as it was last read. */
  header(id: SessionId): Session | undefined {
    const text = this.read<string | undefined>(
      (db) => db.prepare('SELECT header FROM session WHERE name = ?').pluck().get(id) as string | undefined,
      undefined,
    )
    return text === undefined ? undefined : (JSON.parse(text) as Session)
  }

  messages(id: SessionId, options: WindowOptions = {}): readonly Known[] {
    return this.read((db) => windowOf(db, id, options), [])
  }

  /** Where a session is read. */
  sourceOf(id: SessionId): (Found & { readonly gone: boolean }) | undefined {
    return this.read((db) => {
      const row = db
        .prepare(
          'SELECT s.agent, s.path, s.key, s.root, s.kept, s.gone FROM session t JOIN source s ON s.id = t.source_id WHERE t.name = ?',
        )
        .get(id) as
        | { agent: string; path: string; key: string; root: string | null; kept: number; gone: number }
        | undefined
      if (!row) return undefined
      const { agent, path, key, root, kept, gone } = row
      return {
        agent,
        path,
        kept: kept === 1,
        gone: gone === 1,
        ...(key !== '' && { key }),
        ...(root !== null && { root }),
      }
    }, undefined)
  }

  /** Every source that tells a session, the one that stands for it first. */
  tellersOf(
    id: SessionId,
  ): readonly { readonly path: string; readonly claim: string; readonly first_record: string }[] {
    const sql = `SELECT s.path, s.claim, s.first_record FROM session t JOIN source s ON s.session_id = t.id
      WHERE t.name = ? AND s.claim IS NOT NULL ORDER BY s.id = t.source_id DESC`
    return this.read((db) => db.prepare(sql).all(id) as { path: string; claim: string; first_record: string }[], [])
  }

  /** Sessions with a revision above this one, oldest change first. */
  changesSince(revision: number, limit = 1000): readonly Change[] {
    return this.read((db) => {
      const sql = `SELECT name AS session, revision, 0 AS removed FROM session WHERE revision > ?
        UNION ALL SELECT name, revision, 1 FROM removed WHERE revision > ? ORDER BY revision LIMIT ?`
      const rows = db.prepare(sql).all(revision, revision, limit) as {
        session: SessionId
        revision: number
        removed: number
      }[]
      return rows.map(({ removed, ...change }) => (removed ? { ...change, removed: true } : change))
    }, [])
  }

  stats(options: StatsOptions): Stats | undefined {
    return this.read<Stats | undefined>((db) => statsOf(db, options), undefined)
  }

  histories(filter: SessionFilter = {}): readonly string[] {
    return this.read((db) => historiesOf(db, filter), [])
  }

  /** Every tool call that spoke of a file, newest first. */
  touches(path: string, limit?: number): readonly FileTouched[] {
    return this.read((db) => touchesOf(db, path, limit), [])
  }

  get revision(): number {
    return this.read((db) => Number(db.prepare("SELECT value FROM setting WHERE name = 'revision'").pluck().get()), 0)
  }

  /** In one transaction, so that all of it is of one moment. */
  read<T>(work: (db: Db) => T, without: T): T {
    return this.#told(() => {
      const opened = this.#open()
      if (!opened) return without
      return explained(indexPath(this.#directory), () => opened.db.transaction(() => work(opened.db)).deferred())
    })
  }

  #told<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      if (!isDamage(error, this.#directory)) throw error
      doubt(this.#directory)
      this.close()
      const path = indexPath(this.#directory)
      throw new AppError('unusable_data', `${path} is damaged. Run fumi sync: it makes the index again from the logs.`)
    }
  }

  close(): void {
    this.#opened?.close()
    this.#opened = undefined
  }

  /** An index that was made anew is another file. */
  #open(): Opened | undefined {
    const inode = statSync(indexPath(this.#directory), { throwIfNoEntry: false })?.ino ?? 0
    if (this.#opened && inode === this.#inode) return this.#opened
    this.close()
    this.#opened = inode === 0 ? undefined : openToRead(this.#directory)
    this.#inode = inode
    return this.#opened
  }
}
