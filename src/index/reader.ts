/**
 * Reads the index: sessions as a list, messages as a window, changes since a revision. Returns empty results while
 * there is no index.
 */
import { statSync } from 'node:fs'
import { type Db, withDatabaseErrors } from '../lib/sqlite/own-database.ts'
import { prepareCached, prepareFirstColumn } from '../lib/sqlite/statements.ts'
import { AppError } from '../model/error.ts'
import type { AgentId, SessionId } from '../model/ids.ts'
import type { Issue } from '../model/issue.ts'
import type { PriceList } from '../model/prices.ts'
import type { Session } from '../model/session.ts'
import type { Totals } from '../model/totals.ts'
import type { UsageRecord } from '../model/usage-groups.ts'
import { type FileListOptions, type ListedFile, readFileList } from './file-list.ts'
import {
  IndexDamagedError,
  indexPath,
  isIndexDamage,
  markIndexSuspect,
  type OpenIndex,
  openIndexToRead,
  type ReadCache,
} from './index-file.ts'
import {
  type FilesTouched,
  MESSAGE_COLUMNS,
  type MessageRow,
  readMessageWindow,
  readTouches,
  toIndexedMessage,
  type WindowOptions,
} from './message-window.ts'
import type { IndexedMessage, SessionChange, SessionEntry } from './records.ts'
import { DUPLICATE, INJECTED, REPLAYED, ROLES, roleOfKind } from './row-encoding.ts'
import type { SessionFilter } from './session-filter.ts'
import {
  anchorBefore,
  anchorOf,
  countMessages,
  EMPTY_LAYOUT,
  readOffset,
  readSessionLayout,
  type SessionLayout,
} from './session-layout.ts'
import {
  EMPTY_INDEX_SIZE,
  type FilterChoices,
  type IndexSize,
  NO_FILTER_CHOICES,
  readFilterChoices,
  readIndexSize,
  readSessionDetails,
  readSessionEntries,
  readSessionIssues,
  readSessionPage,
  readSessionSource,
  readUnreadableSources,
  type SessionDetails,
  type SessionListOptions,
  type SessionPage,
  type SessionSource,
} from './session-list.ts'
import { EMPTY_SUMMARY, readSessionSummary, type SessionSummary, type SummaryOptions } from './session-summary.ts'
import {
  type ActivityQuarter,
  type DayUsage,
  type IndexStatistics,
  type IndexTotalsOptions,
  readActiveSessions,
  readActivity,
  readHistories,
  readSessionCalls,
  readStatistics,
  readTotals,
  readUsageRecords,
  readUsageSeries,
  type StatisticsOptions,
  type UsageSeriesOptions,
} from './statistics.ts'
import { readUnsearchableFrom, START_POSITION } from './unsearchable-rows.ts'

export class IndexReader {
  readonly #directory: string
  readonly #cache: ReadCache | undefined
  #opened: OpenIndex | undefined
  #inode = 0

  constructor(directory: string, cache?: ReadCache) {
    this.#directory = directory
    this.#cache = cache
  }

  /** Undefined while there is no index. If the epoch changes, everything read before may be out of date. */
  get epoch(): string | undefined {
    return this.#withDamageCheck(() => this.#open()?.epoch)
  }

  list(options: SessionListOptions = {}): SessionPage {
    return this.read((db) => readSessionPage(db, options), { total: 0, sessions: [] })
  }

  get(id: SessionId): SessionEntry | undefined {
    return this.read((db) => readSessionEntries(db, [id])[0], undefined)
  }

  /** Finds sessions by id, by the agent's own id, or by a prefix of either. @returns a few candidates */
  findByName(name: string): readonly SessionEntry[] {
    const ids = this.read((db) => findSessionsByName(db, name), [])
    return ids.length === 0 ? [] : this.list({ ids, kind: 'any', children: 'all' }).sessions
  }

  /** The session header of the last sync. */
  header(id: SessionId): Session | undefined {
    return this.read<Session | undefined>((db) => {
      const text = prepareFirstColumn(db, 'SELECT header FROM session WHERE name = ?').get(id) as string | undefined
      return text === undefined ? undefined : (JSON.parse(text) as Session)
    }, undefined)
  }

  messages(id: SessionId, options: WindowOptions = {}): readonly IndexedMessage[] {
    return this.read((db) => readMessageWindow(db, id, options), [])
  }

  /**
   * A window of a session, with the number of messages before it and in total.
   * @param layout the current layout of the session, if known: speeds up finding positions in a long session
   */
  window(id: SessionId, options: WindowOptions, layout?: SessionLayout): MessageWindow {
    return this.read((db) => {
      const { offset, end } = options
      const anchor = layout && offset !== undefined ? anchorBefore(layout, offset) : undefined
      const messages = readMessageWindow(db, id, anchor ? { ...options, anchor } : options)
      const [first] = messages
      const total = layout?.total ?? countMessages(db, id)
      if (!first) return { messages, offset: Math.min(offset ?? 0, total), total }
      const before =
        offset ?? (end ? total - messages.length : readOffset(db, id, first, layout && anchorOf(layout, first)))
      return { messages, offset: before, total }
    }, EMPTY_WINDOW)
  }

  /** @param before the layout returned by the previous call, to extend it */
  layout(id: SessionId, before?: SessionLayout): SessionLayout {
    return this.read((db) => readSessionLayout(db, id, before), EMPTY_LAYOUT)
  }

  /** What the list does not contain, for each session. */
  details(ids: readonly SessionId[]): ReadonlyMap<SessionId, SessionDetails> {
    return this.read((db) => readSessionDetails(db, ids), NO_DETAILS)
  }

  issues(id: SessionId, limit: number): ReturnType<typeof readSessionIssues> {
    return this.read((db) => readSessionIssues(db, id, limit), [])
  }

  choices(): FilterChoices {
    return this.read((db) => readFilterChoices(db), NO_FILTER_CHOICES)
  }

  summary(options: SummaryOptions, prices: PriceList): SessionSummary {
    return this.read((db) => readSessionSummary(db, options, prices), EMPTY_SUMMARY)
  }

  extent(): IndexSize {
    return this.read((db) => readIndexSize(db), EMPTY_INDEX_SIZE)
  }

  series(options: UsageSeriesOptions): readonly DayUsage[] {
    return this.read((db) => readUsageSeries(db, options), [])
  }

  usageRecords(filter: SessionFilter): readonly UsageRecord[] {
    return this.read((db) => readUsageRecords(db, filter), [])
  }

  activity(filter: SessionFilter): readonly ActivityQuarter[] {
    return this.read((db) => readActivity(db, filter), [])
  }

  activeSessions(filter: SessionFilter): ReturnType<typeof readActiveSessions> {
    return this.read((db) => readActiveSessions(db, filter), [])
  }

  sessionCalls(filter: SessionFilter): ReturnType<typeof readSessionCalls> {
    return this.read((db) => readSessionCalls(db, filter), [])
  }

  /** The location from which the session is read. */
  sourceOf(id: SessionId): SessionSource | undefined {
    return this.read((db) => readSessionSource(db, id), undefined)
  }

  /** All sources that contain the session, starting with the preferred one. */
  allSourcesOf(id: SessionId): readonly {
    readonly path: string
    readonly key: string | null
    readonly claim: string
    readonly first_record: string
  }[] {
    const sql = `SELECT s.path, s.key, s.claim, s.first_record FROM session t JOIN source s ON s.session_id = t.id
      WHERE t.name = ? AND s.claim IS NOT NULL ORDER BY s.id = t.source_id DESC`
    return this.read((db) => db.prepare(sql).all(id) as ReturnType<IndexReader['allSourcesOf']>, [])
  }

  /** Sessions with a higher revision, oldest change first. */
  changesSince(revision: number, limit = 1000): readonly SessionChange[] {
    return this.read((db) => {
      const sql = `SELECT 'change' AS kind, name AS session, revision FROM session WHERE revision > ?
        UNION ALL SELECT 'removed', name, revision FROM removed WHERE revision > ? ORDER BY revision LIMIT ?`
      return prepareCached(db, sql).all(revision, revision, limit) as SessionChange[]
    }, [])
  }

  stats(options: StatisticsOptions): IndexStatistics | undefined {
    return this.read<IndexStatistics | undefined>((db) => readStatistics(db, options), undefined)
  }

  totals(filter: SessionFilter, measures: IndexTotalsOptions): Totals | undefined {
    return this.read<Totals | undefined>((db) => readTotals(db, filter, measures), undefined)
  }

  /** Existing sources that could not be read. @param agent limits the result to one agent */
  unreadable(agent?: AgentId): readonly Issue[] {
    return this.read((db) => readUnreadableSources(db, agent), [])
  }

  /** All prompts of people, grouped by session. */
  prompts(): readonly IndexedMessage[] {
    return this.read((db) => readPromptRows(db), [])
  }

  histories(filter: SessionFilter = {}): readonly unknown[] {
    return this.read((db) => readHistories(db, filter), [])
  }

  /** Tool calls that touched a file, newest first. */
  touches(path: string, limit?: number): FilesTouched {
    return this.read((db) => readTouches(db, path, limit), { total: 0, touched: [] })
  }

  files(options: FileListOptions): readonly ListedFile[] {
    return this.read((db) => readFileList(db, options), [])
  }

  get revision(): number {
    return this.read(
      (db) => Number(prepareFirstColumn(db, "SELECT value FROM setting WHERE name = 'revision'").get()),
      0,
    )
  }

  /** One transaction, so that all results describe the same state. */
  read<T>(work: (db: Db) => T, fallback: T): T {
    return this.#withDamageCheck(() => {
      const opened = this.#open()
      if (!opened) return fallback
      return withDatabaseErrors(indexPath(this.#directory), () =>
        opened.db.transaction(() => work(opened.db)).deferred(),
      )
    })
  }

  #withDamageCheck<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      // Any other exception means that a row contains something no writer writes: the index is damaged.
      if (error instanceof AppError && !isIndexDamage(error, this.#directory)) throw error
      markIndexSuspect(this.#directory)
      this.close()
      throw new IndexDamagedError(indexPath(this.#directory), error)
    }
  }

  close(): void {
    this.#opened?.close()
    this.#opened = undefined
  }

  /** Opens a rebuilt index again: it is another file. */
  #open(): OpenIndex | undefined {
    const inode = inodeOf(indexPath(this.#directory))
    if (this.#opened && inode === this.#inode) return this.#opened
    this.close()
    this.#opened = inode === 0 ? undefined : openIndexToRead(this.#directory, this.#cache)
    this.#inode = inode
    return this.#opened
  }
}

export interface MessageWindow {
  readonly messages: readonly IndexedMessage[]
  readonly offset: number
  readonly total: number
}

const EMPTY_WINDOW: MessageWindow = { messages: [], offset: 0, total: 0 }
const NO_DETAILS: ReadonlyMap<SessionId, SessionDetails> = new Map()

/** Returns 0 if the file does not exist or cannot be accessed. */
function inodeOf(path: string): number {
  try {
    return statSync(path).ino
  } catch {
    return 0
  }
}

/** Shorter names match too many sessions. */
const MIN_NAME_LENGTH = 4
const MAX_NAME_MATCHES = 4

/** Exact matches if there are any, otherwise prefix matches. */
function findSessionsByName(db: Db, name: string): readonly SessionId[] {
  const exact = db
    .prepare(
      `SELECT name FROM session WHERE name = :name OR native_id = :name AND NOT EXISTS (SELECT 1 FROM session WHERE name = :name)
       ORDER BY last_at DESC, id DESC LIMIT :most`,
    )
    .pluck()
    .all({ name, most: MAX_NAME_MATCHES }) as SessionId[]
  if (exact.length > 0) return exact
  if (name.length < MIN_NAME_LENGTH) return []
  return db
    .prepare(
      `SELECT name FROM session WHERE substr(name, 1, length(:name)) = :name OR substr(native_id, 1, length(:name)) = :name
       OR instr(:name, '~') AND name = agent || ':' || :name
       ORDER BY last_at DESC, id DESC LIMIT :most`,
    )
    .pluck()
    .all({ name, most: MAX_NAME_MATCHES }) as SessionId[]
}

/** Rows of prompts, without those that programs inserted. */
const USER_ROLE = ROLES.indexOf('user')
const ASSISTANT_ROLE = ROLES.indexOf('assistant')
const NOT_TYPED = DUPLICATE | REPLAYED | INJECTED

/**
 * Grouped by session, so that each log is opened once. Prompts of sub-agents are left out: their parent wrote them. For
 * a log reduced to its events, returns all rows with text; the caller has to check the bodies for prompts.
 */
function readPromptRows(db: Db): readonly IndexedMessage[] {
  const rows = db
    .prepare(
      `SELECT t.id AS session, ${MESSAGE_COLUMNS} FROM session t CROSS JOIN message m ON m.session_id = t.id
       WHERE t.relation IS NOT 'subagent' AND m.kind & ${NOT_TYPED} = 0 AND (m.kind & 7 = ${USER_ROLE} OR NOT EXISTS
         (SELECT 1 FROM message o WHERE o.session_id = t.id AND o.kind & 7 IN (${USER_ROLE}, ${ASSISTANT_ROLE})))
       ORDER BY t.id, m.line, m.part`,
    )
    .all() as (MessageRow & { session: number })[]
  const events = new Map<number, boolean>()
  const isTrimmed = (session: number): boolean => {
    const known = events.get(session) ?? !hasReplayedMessages(db, session)
    events.set(session, known)
    return known
  }
  return rows.filter(({ kind, session }) => roleOfKind(kind) === 'user' || isTrimmed(session)).map(toIndexedMessage)
}

/** Whether the session repeats prompts and answers of its parent. These are unsearchable rows. */
function hasReplayedMessages(db: Db, session: number): boolean {
  const unsearchable = readUnsearchableFrom(db, session, START_POSITION, true, 1, Number.POSITIVE_INFINITY)
  return unsearchable.some(({ kind }) => roleOfKind(kind) === 'user' || roleOfKind(kind) === 'assistant')
}
