/** Rows of other programs' stores, and the sessions (generations) that they hold or held. */
import type { Db } from '../lib/sqlite/own-database.ts'
import { getRow, getRows, getValue, getValues, insertRow, runStatement } from '../lib/sqlite/statements.ts'
import type { AgentId, Instant, SessionId } from '../model/ids.ts'
import { BEST_LAYOUT_FIRST } from './layout-table.ts'
import type { BackedUpSession, BackupFilter, EndReason, RowLocation, RowOrigin } from './records.ts'

export interface StoreRow {
  readonly id: number
  readonly generation_id: number | null
}

export interface OccupiedRow extends StoreRow {
  readonly key: string
  readonly generation_id: number
}

const SELECT_ROW = 'SELECT row.id, generation_id FROM row JOIN store ON store.id = store_id WHERE path = ? AND key = ?'

export class RowTable {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  store(path: string): number | undefined {
    return getValue(this.#db, 'SELECT id FROM store WHERE path = ?', path)
  }

  ensureStore(path: string): number {
    return this.store(path) ?? insertRow(this.#db, 'INSERT INTO store (path) VALUES (?)', path)
  }

  /** Updates the time of all rows that hold a session. */
  markSwept(store: number, at: Instant): void {
    runStatement(this.#db, 'UPDATE store SET swept_at = ? WHERE id = ?', at, store)
  }

  find({ store, key }: RowLocation): StoreRow | undefined {
    return getRow(this.#db, SELECT_ROW, store, key)
  }

  ensure(location: RowLocation): StoreRow {
    const { store, key } = location
    const add = (): number =>
      insertRow(this.#db, 'INSERT INTO row (store_id, key) VALUES (?, ?)', this.ensureStore(store), key)
    return this.find(location) ?? { id: add(), generation_id: null }
  }

  setGeneration(row: number, generation: number | null, { fingerprint }: Pick<RowOrigin, 'fingerprint'> = {}): void {
    const sql = 'UPDATE row SET generation_id = ?, fingerprint = ? WHERE id = ?'
    runStatement(this.#db, sql, generation, fingerprint ?? null, row)
  }

  occupied(store: number): readonly OccupiedRow[] {
    const sql = 'SELECT id, key, generation_id FROM row WHERE store_id = ? AND generation_id IS NOT NULL ORDER BY id'
    return getRows(this.#db, sql, store)
  }

  /** The rows that currently hold a generation. */
  rowsWith(generation: number): readonly number[] {
    return getValues(this.#db, 'SELECT id FROM row WHERE generation_id = ?', generation)
  }

  fingerprints(store: string): ReadonlyMap<string, string> {
    const rows = getRows<{ key: string; fingerprint: string }>(
      this.#db,
      `SELECT key, fingerprint FROM row JOIN store ON store.id = store_id
       WHERE path = ? AND fingerprint IS NOT NULL ORDER BY row.id`,
      store,
    )
    return new Map(rows.map(({ key, fingerprint }) => [key, fingerprint]))
  }
}

export interface Generation {
  readonly id: number
  readonly session: SessionId
  readonly conversation_id: number | null
  readonly head_id: number | null
  readonly entries: number
  readonly first_seen: Instant
}

export interface NewGeneration {
  readonly session: SessionId
  readonly store: number
  readonly agent: AgentId
  readonly conversation: number | null
  readonly head: number | null
  readonly entries: number
  readonly first_seen: Instant
  readonly at: Instant
}

interface BackedUpRow {
  readonly session: SessionId
  readonly agent: AgentId
  readonly native_id: string | null
  readonly store: string
  readonly machine: string | null
  readonly key: string
  readonly entries: number
  readonly skip: number
  readonly size: number
  readonly revision: number
  readonly first_seen: Instant
  readonly last_seen: Instant
  readonly ended_at: Instant | null
  readonly ended_how: EndReason | null
}

/** A session still in its row was last seen by the last sweep of the store. */
const LAST_SEEN_COLUMN = `CASE WHEN ended_at IS NULL THEN max(last_seen, coalesce(swept_at, '')) ELSE last_seen END`

const SELECT_GENERATION = 'SELECT id, session, conversation_id, head_id, entries, first_seen FROM generation'

const SELECT_BACKED_UP = `
  SELECT session, generation.agent, native_id, path AS store, machine, row.key, generation.entries, skip, size, revision,
         first_seen, ${LAST_SEEN_COLUMN} AS last_seen, ended_at, ended_how
  FROM generation
  JOIN store ON store.id = generation.store_id
  JOIN layout ON layout.id = (SELECT id FROM layout WHERE generation_id = generation.id ${BEST_LAYOUT_FIRST})
  JOIN row ON row.id = layout.row_id
  LEFT JOIN conversation ON conversation.id = conversation_id`

export class GenerationTable {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  conversation(store: string, agent: AgentId, native: string): number | undefined {
    const sql = `SELECT conversation.id FROM conversation JOIN store ON store.id = store_id
      WHERE path = ? AND agent = ? AND native_id = ?`
    return getValue(this.#db, sql, store, agent, native)
  }

  addConversation(store: number, agent: AgentId, native: string): number {
    const sql = 'INSERT INTO conversation (store_id, agent, native_id) VALUES (?, ?, ?)'
    return insertRow(this.#db, sql, store, agent, native)
  }

  get(id: number): Generation | undefined {
    return getRow(this.#db, `${SELECT_GENERATION} WHERE id = ?`, id)
  }

  named(session: SessionId): Generation | undefined {
    return getRow(this.#db, `${SELECT_GENERATION} WHERE session = ?`, session)
  }

  /** Latest first. */
  ofConversation(conversation: number): readonly Generation[] {
    const sql = `${SELECT_GENERATION} WHERE conversation_id = ?
      ORDER BY (SELECT max(revision) FROM layout WHERE generation_id = generation.id) DESC`
    return getRows(this.#db, sql, conversation)
  }

  /** The generation with the same bytes in the same row. */
  unreadable(row: number, hash: string): Generation | undefined {
    const sql = `${SELECT_GENERATION} WHERE conversation_id IS NULL
      AND id IN (SELECT generation_id FROM layout WHERE row_id = ? AND hash = ?)`
    return getRow(this.#db, sql, row, Buffer.from(hash, 'hex'))
  }

  add(generation: NewGeneration): number {
    const sql = `INSERT INTO generation (session, store_id, agent, conversation_id, head_id, entries, first_seen, last_seen)
      VALUES (:session, :store, :agent, :conversation, :head, :entries, :first_seen, :at)`
    return insertRow(this.#db, sql, generation)
  }

  grow(id: number, headId: number, entries: number): void {
    runStatement(this.#db, 'UPDATE generation SET head_id = ?, entries = ? WHERE id = ?', headId, entries, id)
  }

  /** Marks the generation as current, even if it had ended. */
  markSeen(id: number, at: Instant): void {
    const sql = 'UPDATE generation SET last_seen = max(last_seen, ?), ended_at = NULL, ended_how = NULL WHERE id = ?'
    runStatement(this.#db, sql, at, id)
  }

  end(id: number, at: Instant, how: EndReason): void {
    const sql = `UPDATE generation SET ended_at = :at, ended_how = :how,
        last_seen = max(last_seen, coalesce((SELECT swept_at FROM store WHERE store.id = store_id), ''))
      WHERE id = :id`
    runStatement(this.#db, sql, { id, at, how })
  }

  rename(id: number, session: SessionId): void {
    runStatement(this.#db, 'UPDATE generation SET session = ? WHERE id = ?', session, id)
  }

  backedUp(session: SessionId): BackedUpSession | undefined {
    const row = getRow<BackedUpRow>(this.#db, `${SELECT_BACKED_UP} WHERE session = ?`, session)
    return row && toBackedUpSession(row)
  }

  /** In the order of their first backup. */
  list({ store, agent, native_id, kind, alive }: BackupFilter): readonly BackedUpSession[] {
    const conditions = [
      ...(store === undefined ? [] : ['path = :store']),
      ...(agent === undefined ? [] : ['generation.agent = :agent']),
      ...(native_id === undefined ? [] : ['native_id = :native_id']),
      ...(kind === undefined ? [] : [`conversation_id IS ${kind === 'unreadable' ? '' : 'NOT '}NULL`]),
      ...(alive === undefined ? [] : [`ended_at IS ${alive ? '' : 'NOT '}NULL`]),
    ]
    const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''
    const sql = `${SELECT_BACKED_UP} ${where} ORDER BY generation.id`
    return getRows<BackedUpRow>(this.#db, sql, { store, agent, native_id }).map(toBackedUpSession)
  }
}

function toBackedUpSession(row: BackedUpRow): BackedUpSession {
  const { native_id, machine, skip, ended_at, ended_how, ...rest } = row
  return {
    ...rest,
    kind: native_id === null ? 'unreadable' : 'conversation',
    ...(native_id !== null && { native_id }),
    ...(machine !== null && { machine }),
    first_number: skip + 1,
    ...(ended_at !== null && { ended_at }),
    ...(ended_how !== null && { ended_how }),
  }
}
