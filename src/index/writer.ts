/** Writes the index. Each public method is one transaction. */

import { type Db, withDatabaseErrors } from '../lib/sqlite/own-database.ts'
import { getRow, getRows, getValue } from '../lib/sqlite/statements.ts'
import type { SessionId } from '../model/ids.ts'
import type { Issue } from '../model/issue.ts'
import type { BuiltTerms } from '../search/segments/term-builder.ts'
import { indexPath, type OpenIndex, openIndexToWrite, sealIndex } from './index-file.ts'
import { segmentMerger } from './merge-segments.ts'
import { ProjectPaths } from './project-paths.ts'
import type {
  KnownSource,
  ReadTask,
  ScannedSource,
  SessionChange,
  SessionChunk,
  SourceCounts,
  SourceLocation,
} from './records.ts'
import { decompressText } from './row-encoding.ts'
import { type ChunkWriter, chunkWriter } from './write-chunks.ts'
import { type SessionWriter, sessionWriter } from './write-sessions.ts'
import {
  issueWriter,
  partsAsSources,
  type SourceParts,
  type SourceWriter,
  type StringIds,
  sourcePartsIn,
  sourceWriter,
  stringIdsIn,
} from './write-sources.ts'

const SELECT_SOURCES =
  'SELECT id, agent, path, key, root, kept, version, fingerprint, gone FROM source WHERE whole IS NULL'

/** Limit of `tidy`. */
const MAX_MERGES = 8

export class IndexWriter {
  readonly path: string
  readonly epoch: string
  /** New path of the damaged index that this one replaced. */
  readonly setAside: string | undefined
  readonly #db: Db
  readonly #projects: ProjectPaths
  readonly #directory: string
  readonly #unsealed: number
  readonly #numbers: readonly StringIds[]
  readonly #sources: SourceWriter
  readonly #sessions: SessionWriter
  readonly #chunks: ChunkWriter
  readonly #parts: SourceParts

  constructor(directory: string, opened: OpenIndex = openIndexToWrite(directory)) {
    this.path = indexPath(directory)
    this.#directory = directory
    this.#unsealed = opened.sealMismatches ?? 0
    this.epoch = opened.epoch
    this.setAside = opened.setAside
    this.#db = opened.db
    this.#projects = new ProjectPaths(directory)
    try {
      const words = stringIdsIn(this.#db, 'word', 'text')
      this.#parts = sourcePartsIn(this.#db)
      const files = stringIdsIn(this.#db, 'file', 'path')
      const shapes = stringIdsIn(this.#db, 'locator_shape', 'text')
      this.#numbers = [words, files, shapes]
      this.#sources = sourceWriter(this.#db, words)
      this.#sessions = sessionWriter(this.#db, words, this.#projects)
      this.#chunks = chunkWriter(this.#db, { words, files, shapes }, issueWriter(this.#db))
    } catch (error) {
      this.#db.close()
      throw error
    }
  }

  /** All sources ever found. */
  sources(): readonly KnownSource[] {
    return withDatabaseErrors(this.path, () => this.#db.prepare(SELECT_SOURCES).raw().all() as SourceColumns[]).map(
      toKnownSource,
    )
  }

  source({ agent, path, key, kept }: SourceLocation): KnownSource | undefined {
    const sql = `${SELECT_SOURCES} AND path = ? AND key = ? AND agent = ? AND kept = ?`
    const row = getRow<SourceRow>(this.#db, sql, path, key ?? '', agent, kept ? 1 : 0)
    return row && rowToKnownSource(row)
  }

  /** Where the first pass over a source continues. */
  resume(source: number): { readonly cursor: unknown; readonly sure: SourceCounts } | undefined {
    const sql = 'SELECT cursor, sure FROM source WHERE id = ?'
    const row = getRow<{ cursor: Uint8Array | null; sure: string | null }>(this.#db, sql, source)
    if (!row || row.cursor === null || row.sure === null) return undefined
    return { cursor: JSON.parse(decompressText(row.cursor)), sure: JSON.parse(row.sure) as SourceCounts }
  }

  /** Stores results of the first pass. */
  putScanned(scannedSources: readonly ScannedSource[]): readonly SessionChange[] {
    return this.#write((revision) => {
      const unreadSessions = new Set<number>()
      const unchangedSessions = new Set<number>()
      const putOne = (scanned: ScannedSource, container?: number): number => {
        const { source, before, claims, unreadable, named } = this.#sources(scanned, container)
        for (const session of named) unchangedSessions.add(session)
        if (claims) {
          if (before !== null) unchangedSessions.add(before)
          if (before !== null && scanned.fromStart && !scanned.session) this.#unassign(source)
          const claim = this.#claimOf(source)
          for (const session of claim === null ? [] : this.#sessions.settle(claim)) unchangedSessions.add(session)
        }
        const session = this.#sessionOf(source)
        if (session !== null) (unreadable ? unchangedSessions : unreadSessions).add(session)
        return source
      }
      for (const scanned of scannedSources) {
        const container = putOne(scanned)
        if (!scanned.parts) continue
        for (const session of this.#parts.markGone(container)) unchangedSessions.add(session)
        for (const part of partsAsSources(scanned)) putOne(part, container)
      }
      for (const session of unchangedSessions)
        if (!unreadSessions.has(session)) this.#sessions.chooseSource(session, revision, false)
      for (const session of unreadSessions) this.#sessions.chooseSource(session, revision, true)
    })
  }

  /** Marks sources as gone or as found again. */
  putGone(gone: readonly KnownSource[], back: readonly KnownSource[]): readonly SessionChange[] {
    if (gone.length + back.length === 0) return []
    return this.#write((revision) => {
      const setGone = this.#db.prepare('UPDATE source SET gone = :flag WHERE id = :id OR whole = :id')
      const sessions = new Set<number>()
      for (const [ids, flag] of [
        [gone, 1],
        [back, 0],
      ] as const)
        for (const { id } of ids) {
          setGone.run({ flag, id })
          for (const session of this.#parts.sessions(id)) sessions.add(session)
        }
      for (const session of sessions) this.#sessions.chooseSource(session, revision, false)
    })
  }

  /** Removes excluded sources. A session is removed with its last source. */
  putUnwanted(unwanted: readonly KnownSource[]): readonly SessionChange[] {
    if (unwanted.length === 0) return []
    const removed: SessionChange[] = []
    const remaining = this.#write((revision) => {
      for (const id of unwanted.flatMap((one) => this.#parts.rows(one.id))) {
        const session = this.#sessionOf(id)
        this.#dropSource(id)
        if (session === null) continue
        const others = this.#db.prepare('SELECT 1 FROM source WHERE session_id = ?').get(session)
        const name = this.#db.prepare('SELECT name FROM session WHERE id = ?').pluck().get(session) as SessionId
        if (others) this.#sessions.chooseSource(session, revision, false)
        else if (this.#forget(name)) removed.push({ kind: 'removed', session: name, revision })
      }
    })
    return [...remaining, ...removed]
  }

  /** Sessions that are not completely read, newest first. */
  tasks(): readonly ReadTask[] {
    const rows = getRows<TaskRow>(
      this.#db,
      `SELECT t.id AS session, t.name, t.source_id AS source, s.agent, s.path, s.key, s.root, s.kept, s.size, t.read_bytes AS read, t.cursor, t.project
       FROM session t JOIN source s ON s.id = t.source_id
       WHERE t.indexed = 0 AND s.gone = 0 AND s.whole IS NULL ORDER BY t.last_at DESC, t.id DESC`,
    )
    return [...rows.map(toReadTask), ...this.#parts.tasks()]
  }

  /** @param terms the words of these chunks */
  putChunks(chunks: readonly SessionChunk[], terms: BuiltTerms): readonly SessionChange[] {
    return this.#write((revision) => this.#chunks.put(chunks, terms, revision))
  }

  /** Records that the second pass over a session failed. Its rows stay, and the next sync tries again. */
  putFailed(session: number, source: number, issue: Issue): readonly SessionChange[] {
    return this.#write((revision) => {
      this.#db.prepare(`DELETE FROM issue WHERE source_id = ? AND pass = 2 AND code = ?`).run(source, issue.code)
      issueWriter(this.#db)(source, 2, 1, issue)
      this.#db.prepare('UPDATE session SET revision = ? WHERE id = ?').run(revision, session)
    })
  }

  /**
   * Merges small segments of the text index, one transaction each. Every step is short, and the work is bounded. Call
   * it when nothing else is to be done.
   */
  tidy(): void {
    withDatabaseErrors(this.path, () => {
      const merger = segmentMerger(this.#db)
      const step = this.#db.transaction(() => merger.step())
      for (let steps = 0; steps < MAX_MERGES && step.immediate(); steps++);
    })
  }

  /** Removes a session and all its sources from the index, and overwrites its words on disk. */
  forget(name: SessionId): boolean {
    this.#db.pragma('secure_delete = ON')
    const forget = this.#db.transaction(() => {
      if (!this.#forget(name)) return false
      segmentMerger(this.#db).erase()
      this.#sessions.eraseTitles()
      return true
    })
    return withDatabaseErrors(this.path, () => {
      if (!forget.immediate()) return false
      // Pages that were freed before still contain what was on them.
      this.#db.exec('VACUUM')
      this.#db.pragma('wal_checkpoint(TRUNCATE)')
      return true
    })
  }

  /** Returns unused space to the disk. */
  shrink(): void {
    withDatabaseErrors(this.path, () => this.#db.pragma('incremental_vacuum'))
  }

  close(): void {
    this.#db.close()
    sealIndex(this.#directory, this.path, this.#unsealed)
  }

  /** Runs SQLite's integrity check, which reads the complete file. */
  isSound(): boolean {
    try {
      return this.#db.pragma('quick_check(1)', { simple: true }) === 'ok'
    } catch {
      return false
    }
  }

  /** Assigns all sessions to the projects that their directories belong to now. */
  moveProjects(): readonly SessionChange[] {
    this.#projects.refresh()
    return this.#write((revision) => this.#sessions.moveProjects(revision))
  }

  #write(work: (revision: number) => void): readonly SessionChange[] {
    this.#projects.refresh()
    const write = this.#db.transaction(() => {
      const revision = this.#nextRevision()
      work(revision)
      // A move that was noticed on the way concerns earlier sessions too.
      if (this.#projects.save()) this.#sessions.moveProjects(revision)
      return getRows<SessionChange>(
        this.#db,
        "SELECT 'change' AS kind, name AS session, revision FROM session WHERE revision = ?",
        revision,
      )
    })
    try {
      return withDatabaseErrors(this.path, () => write.immediate())
    } catch (error) {
      // Ids assigned in the transaction that was rolled back are invalid.
      for (const numbers of this.#numbers) numbers.reset()
      throw error
    }
  }

  #nextRevision(): number {
    const sql = "UPDATE setting SET value = CAST(value AS INTEGER) + 1 WHERE name = 'revision' RETURNING value"
    return Number(getValue(this.#db, sql))
  }

  #claimOf(source: number): string | null {
    return getValue<string>(this.#db, 'SELECT claim FROM source WHERE id = ?', source) ?? null
  }

  #sessionOf(source: number): number | null {
    return getValue<number>(this.#db, 'SELECT session_id FROM source WHERE id = ?', source) ?? null
  }

  #unassign(source: number): void {
    this.#db.prepare('UPDATE source SET session_id = NULL WHERE id = ?').run(source)
  }

  #forget(name: SessionId): boolean {
    const session = this.#db.prepare('SELECT id FROM session WHERE name = ?').pluck().get(name) as number | undefined
    if (session === undefined) return false
    this.#chunks.forget(session)
    const sources = this.#db.prepare('SELECT id FROM source WHERE session_id = ?').pluck().all(session) as number[]
    for (const source of sources) this.#dropSource(source)
    for (const [table, column] of [
      ['titled', 'rowid'],
      ['model_of', 'session_id'],
      ['session', 'id'],
    ])
      this.#db.prepare(`DELETE FROM ${table} WHERE ${column} = ?`).run(session)
    this.#db.prepare('INSERT OR REPLACE INTO removed VALUES (?, ?)').run(name, this.#nextRevision())
    return true
  }

  #dropSource(source: number): void {
    for (const [table, column] of [
      ['usage', 'source_id'],
      ['estimate', 'source_id'],
      ['issue', 'source_id'],
      ['source', 'id'],
    ])
      this.#db.prepare(`DELETE FROM ${table} WHERE ${column} = ?`).run(source)
  }
}

interface SourceRow {
  readonly id: number
  readonly agent: string
  readonly path: string
  readonly key: string
  readonly root: string | null
  readonly kept: number
  readonly version: number
  readonly fingerprint: string | null
  readonly gone: number
}

type SourceColumns = readonly [number, string, string, string, string | null, number, number, string | null, number]

/** A sweep loads all sources, so this creates as few objects as possible. */
function toKnownSource([id, agent, path, key, root, kept, version, fingerprint, gone]: SourceColumns): KnownSource {
  const source = { id, agent, path, kept: kept === 1, version, fingerprint: fingerprint ?? undefined, gone: gone === 1 }
  if (key === '') return root === null ? source : { ...source, root }
  return root === null ? { ...source, key } : { ...source, key, root }
}

const rowToKnownSource = ({ key, root, kept, fingerprint, gone, ...rest }: SourceRow): KnownSource => ({
  ...rest,
  ...(key !== '' && { key }),
  ...(root !== null && { root }),
  kept: kept === 1,
  fingerprint: fingerprint ?? undefined,
  gone: gone === 1,
})

interface TaskRow {
  readonly session: number
  readonly name: SessionId
  readonly source: number
  readonly agent: string
  readonly path: string
  readonly key: string
  readonly root: string | null
  readonly kept: number
  readonly size: number
  readonly read: number
  readonly cursor: Uint8Array | null
  readonly project: string | null
}

const toReadTask = ({ key, root, kept, cursor, project, ...rest }: TaskRow): ReadTask => ({
  ...rest,
  ...(key !== '' && { key }),
  ...(root !== null && { root }),
  kept: kept === 1,
  ...(cursor !== null && { cursor: decompressText(cursor) }),
  ...(project !== null && { project }),
})
