/** Reads the index: sessions as a list, messages as a window, what has changed. Empty while there is no index. */
import { statSync } from 'node:fs'
import { AppError } from '../model/error.ts'
import type { AgentId, SessionId } from '../model/ids.ts'
import type { Issue } from '../model/issue.ts'
import type { Session } from '../model/session.ts'
import type { Totals } from '../model/totals.ts'
import { type FilesTouched, touchesOf } from './files.ts'
import { type Choices, choicesOf, type Extent, extentOf, NO_CHOICES, NO_EXTENT } from './get/choices.ts'
import { type Details, detailsOf } from './get/details.ts'
import type { SessionFilter } from './get/filter.ts'
import { issuesOf, unreadableIn } from './get/issues.ts'
import { anchorBefore, anchorOf, countOf, type Layout, layoutOf, NO_LAYOUT, offsetOf } from './get/layout.ts'
import { type WindowOptions, windowOf } from './get/messages.ts'
import { namesLike } from './get/names.ts'
import { promptsOf } from './get/prompts.ts'
import { entriesOf, type Listing, type ListOptions, listSessions } from './get/sessions.ts'
import { type Standing, standingOf } from './get/standing.ts'
import { plucked, prepared } from './get/statements.ts'
import { doubt, IndexDamagedError, indexPath, isDamage, type Opened, openToRead } from './index-file.ts'
import { type Db, explained } from './open.ts'
import type { Change, Entry, Known } from './record.ts'
import { activityOf, type DaySum, type Moment, type SeriesOptions, seriesOf } from './stats/series.ts'
import { type Measures, totalsOf } from './stats/totals.ts'
import { historiesOf, type Stats, type StatsOptions, statsOf } from './stats.ts'

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
    return this.read((db) => entriesOf(db, [id])[0], undefined)
  }

  /** By its id, by the agent's own, or by the beginning of either. @returns a few of those that it may mean */
  named(name: string): readonly Entry[] {
    const ids = this.read((db) => namesLike(db, name), [])
    return ids.length === 0 ? [] : this.list({ ids, kind: 'any', children: 'all' }).sessions
  }

  /** The header as it was last read. */
  header(id: SessionId): Session | undefined {
    return this.read<Session | undefined>((db) => {
      const text = plucked(db, 'SELECT header FROM session WHERE name = ?').get(id) as string | undefined
      return text === undefined ? undefined : (JSON.parse(text) as Session)
    }, undefined)
  }

  messages(id: SessionId, options: WindowOptions = {}): readonly Known[] {
    return this.read((db) => windowOf(db, id, options), [])
  }

  /**
   * A stretch of a session with its place: how many messages stand before it, and how many there are.
   * @param layout of the session as it is now, where it is known: places in a long one are found sooner
   */
  window(id: SessionId, options: WindowOptions, layout?: Layout): Window {
    return this.read((db) => {
      const { offset, end } = options
      const anchor = layout && offset !== undefined ? anchorBefore(layout, offset) : undefined
      const messages = windowOf(db, id, anchor ? { ...options, anchor } : options)
      const [first] = messages
      const total = layout?.total ?? countOf(db, id)
      if (!first) return { messages, offset: Math.min(offset ?? 0, total), total }
      const before =
        offset ?? (end ? total - messages.length : offsetOf(db, id, first, layout && anchorOf(layout, first)))
      return { messages, offset: before, total }
    }, NO_WINDOW)
  }

  /** @param before the layout that it had when it was asked for last */
  layout(id: SessionId, before?: Layout): Layout {
    return this.read((db) => layoutOf(db, id, before), NO_LAYOUT)
  }

  /** Beside what the list tells of each. */
  details(ids: readonly SessionId[]): ReadonlyMap<SessionId, Details> {
    return this.read((db) => detailsOf(db, ids), NO_DETAILS)
  }

  issues(id: SessionId, limit: number): ReturnType<typeof issuesOf> {
    return this.read((db) => issuesOf(db, id, limit), [])
  }

  choices(): Choices {
    return this.read((db) => choicesOf(db), NO_CHOICES)
  }

  extent(): Extent {
    return this.read((db) => extentOf(db), NO_EXTENT)
  }

  series(options: SeriesOptions): readonly DaySum[] {
    return this.read((db) => seriesOf(db, options), [])
  }

  activity(filter: SessionFilter): readonly Moment[] {
    return this.read((db) => activityOf(db, filter), [])
  }

  /** Where a session is read. */
  sourceOf(id: SessionId): Standing | undefined {
    return this.read((db) => standingOf(db, id), undefined)
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
      const rows = prepared(db, sql).all(revision, revision, limit) as {
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

  totals(filter: SessionFilter, measures: Measures): Totals | undefined {
    return this.read<Totals | undefined>((db) => totalsOf(db, filter, measures), undefined)
  }

  /** Sources that are there and could not be read. @param agent only this one's */
  unreadable(agent?: AgentId): readonly Issue[] {
    return this.read((db) => unreadableIn(db, agent), [])
  }

  /** What people asked, session by session. */
  prompts(): readonly Known[] {
    return this.read((db) => promptsOf(db), [])
  }

  histories(filter: SessionFilter = {}): readonly unknown[] {
    return this.read((db) => historiesOf(db, filter).map((text) => JSON.parse(text) as unknown), [])
  }

  /** Every tool call that spoke of a file, newest first. */
  touches(path: string, limit?: number): FilesTouched {
    return this.read((db) => touchesOf(db, path, limit), { total: 0, touched: [] })
  }

  get revision(): number {
    return this.read((db) => Number(plucked(db, "SELECT value FROM setting WHERE name = 'revision'").get()), 0)
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
      // What is neither expected nor SQLite's is a row that holds what no writer wrote.
      if (error instanceof AppError && !isDamage(error, this.#directory)) throw error
      doubt(this.#directory)
      this.close()
      throw new IndexDamagedError(indexPath(this.#directory), error)
    }
  }

  close(): void {
    this.#opened?.close()
    this.#opened = undefined
  }

  /** An index that was made anew is another file. */
  #open(): Opened | undefined {
    const inode = inodeOf(indexPath(this.#directory))
    if (this.#opened && inode === this.#inode) return this.#opened
    this.close()
    this.#opened = inode === 0 ? undefined : openToRead(this.#directory)
    this.#inode = inode
    return this.#opened
  }
}

export interface Window {
  readonly messages: readonly Known[]
  readonly offset: number
  readonly total: number
}

const NO_WINDOW: Window = { messages: [], offset: 0, total: 0 }
const NO_DETAILS: ReadonlyMap<SessionId, Details> = new Map()

/** 0 also where its folder is none, or may not be looked into. */
function inodeOf(path: string): number {
  try {
    return statSync(path).ino
  } catch {
    return 0
  }
}
