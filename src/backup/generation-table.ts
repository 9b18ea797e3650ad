/** Rows of other programs' stores, and the sessions (generations) that they hold and held. */
import type { Statement } from 'better-sqlite3'
import type { Db } from '../lib/sqlite/own-database.ts'
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

export class RowTable {
  readonly #store: Statement<[string], { id: number }>
  readonly #addStore: Statement<[string]>
  readonly #swept: Statement<[Instant, number]>
  readonly #row: Statement<[string, string], StoreRow>
  readonly #addRow: Statement<[number, string]>
  readonly #hold: Statement<[number | null, string | null, number]>
  readonly #held: Statement<[number], OccupiedRow>
  readonly #holders: Statement<[number], { id: number }>
  readonly #fingerprints: Statement<[string], { key: string; fingerprint: string }>

  constructor(db: Db) {
    this.#store = db.prepare('SELECT id FROM store WHERE path = ?')
    this.#addStore = db.prepare('INSERT INTO store (path) VALUES (?)')
    this.#swept = db.prepare('UPDATE store SET swept_at = ? WHERE id = ?')
    this.#row = db.prepare(
      'SELECT row.id, generation_id FROM row JOIN store ON store.id = store_id WHERE path = ? AND key = ?',
    )
    this.#addRow = db.prepare('INSERT INTO row (store_id, key) VALUES (?, ?)')
    this.#hold = db.prepare('UPDATE row SET generation_id = ?, fingerprint = ? WHERE id = ?')
    this.#held = db.prepare(
      'SELECT id, key, generation_id FROM row WHERE store_id = ? AND generation_id IS NOT NULL ORDER BY id',
    )
    this.#holders = db.prepare('SELECT id FROM row WHERE generation_id = ?')
    this.#fingerprints = db.prepare(
      `SELECT key, fingerprint FROM row JOIN store ON store.id = store_id
       WHERE path = ? AND fingerprint IS NOT NULL ORDER BY row.id`,
    )
  }

  store(path: string): number | undefined {
    return this.#store.get(path)?.id
  }

  ensureStore(path: string): number {
    return this.store(path) ?? Number(this.#addStore.run(path).lastInsertRowid)
  }

  /** Every row that holds something was seen at that moment. */
  markSwept(store: number, at: Instant): void {
    this.#swept.run(at, store)
  }

  find(location: RowLocation): StoreRow | undefined {
    return this.#row.get(location.store, location.key)
  }

  ensure(location: RowLocation): StoreRow {
    const id = (): number => Number(this.#addRow.run(this.ensureStore(location.store), location.key).lastInsertRowid)
    return this.find(location) ?? { id: id(), generation_id: null }
  }

  setGeneration(row: number, generation: number, from: RowOrigin): void {
    this.#hold.run(generation, from.fingerprint ?? null, row)
  }

  clearGeneration(row: number): void {
    this.#hold.run(null, null, row)
  }

  occupied(store: number): readonly OccupiedRow[] {
    return this.#held.all(store)
  }

  /** The rows that hold a generation now. */
  rowsWith(generation: number): readonly number[] {
    return this.#holders.all(generation).map((row) => row.id)
  }

  fingerprints(store: string): ReadonlyMap<string, string> {
    return new Map(this.#fingerprints.all(store).map((row) => [row.key, row.fingerprint]))
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

/** Who is still in its row was seen when the store was last swept. */
const LAST_SEEN_COLUMN = `CASE WHEN ended_at IS NULL THEN max(last_seen, coalesce(swept_at, '')) ELSE last_seen END`

const SELECT_GENERATION = 'SELECT id, session, conversation_id, head_id, entries, first_seen FROM generation'

const SELECT_BACKED_UP = `
  SELECT session, generation.agent, native_id, path AS store, row.key, generation.entries, skip, size, revision,
         first_seen, ${LAST_SEEN_COLUMN} AS last_seen, ended_at, ended_how
  FROM generation
  JOIN store ON store.id = generation.store_id
  JOIN layout ON layout.id = (SELECT id FROM layout WHERE generation_id = generation.id ${BEST_LAYOUT_FIRST})
  JOIN row ON row.id = layout.row_id
  LEFT JOIN conversation ON conversation.id = conversation_id`

export class GenerationTable {
  readonly #db: Db
  readonly #findConversation: Statement<[string, AgentId, string], { id: number }>
  readonly #addConversation: Statement<[number, AgentId, string]>
  readonly #byId: Statement<[number], Generation>
  readonly #bySession: Statement<[SessionId], Generation>
  readonly #ofConversation: Statement<[number], Generation>
  readonly #unreadable: Statement<[number, Buffer], Generation>
  readonly #add: Statement<NewGeneration>
  readonly #grow: Statement<[number | null, number, number]>
  readonly #seen: Statement<[Instant, number]>
  readonly #end: Statement<{ id: number; at: Instant; how: EndReason }>
  readonly #rename: Statement<[SessionId, number]>
  readonly #kept: Statement<[SessionId], BackedUpRow>

  constructor(db: Db) {
    this.#db = db
    this.#findConversation = db.prepare(
      `SELECT conversation.id FROM conversation JOIN store ON store.id = store_id
       WHERE path = ? AND agent = ? AND native_id = ?`,
    )
    this.#addConversation = db.prepare('INSERT INTO conversation (store_id, agent, native_id) VALUES (?, ?, ?)')
    this.#byId = db.prepare(`${SELECT_GENERATION} WHERE id = ?`)
    this.#bySession = db.prepare(`${SELECT_GENERATION} WHERE session = ?`)
    this.#ofConversation = db.prepare(
      `${SELECT_GENERATION} WHERE conversation_id = ?
       ORDER BY (SELECT max(revision) FROM layout WHERE generation_id = generation.id) DESC`,
    )
    this.#unreadable = db.prepare(
      `${SELECT_GENERATION} WHERE conversation_id IS NULL
       AND id IN (SELECT generation_id FROM layout WHERE row_id = ? AND hash = ?)`,
    )
    this.#add = db.prepare(
      `INSERT INTO generation (session, store_id, agent, conversation_id, head_id, entries, first_seen, last_seen)
       VALUES (:session, :store, :agent, :conversation, :head, :entries, :first_seen, :at)`,
    )
    this.#grow = db.prepare('UPDATE generation SET head_id = ?, entries = ? WHERE id = ?')
    this.#seen = db.prepare(
      'UPDATE generation SET last_seen = max(last_seen, ?), ended_at = NULL, ended_how = NULL WHERE id = ?',
    )
    this.#end = db.prepare(
      `UPDATE generation SET ended_at = :at, ended_how = :how,
         last_seen = max(last_seen, coalesce((SELECT swept_at FROM store WHERE store.id = store_id), ''))
       WHERE id = :id`,
    )
    this.#rename = db.prepare('UPDATE generation SET session = ? WHERE id = ?')
    this.#kept = db.prepare(`${SELECT_BACKED_UP} WHERE session = ?`)
  }

  conversation(store: string, agent: AgentId, native: string): number | undefined {
    return this.#findConversation.get(store, agent, native)?.id
  }

  addConversation(store: number, agent: AgentId, native: string): number {
    return Number(this.#addConversation.run(store, agent, native).lastInsertRowid)
  }

  get(id: number): Generation | undefined {
    return this.#byId.get(id)
  }

  named(session: SessionId): Generation | undefined {
    return this.#bySession.get(session)
  }

  /** The latest first. */
  ofConversation(conversation: number): readonly Generation[] {
    return this.#ofConversation.all(conversation)
  }

  /** The same bytes in the same row. */
  unreadable(row: number, hash: string): Generation | undefined {
    return this.#unreadable.get(row, Buffer.from(hash, 'hex'))
  }

  add(generation: NewGeneration): number {
    return Number(this.#add.run(generation).lastInsertRowid)
  }

  grow(id: number, headId: number, entries: number): void {
    this.#grow.run(headId, entries, id)
  }

  /** It is in its row, whatever was thought of it before. */
  markSeen(id: number, at: Instant): void {
    this.#seen.run(at, id)
  }

  end(id: number, at: Instant, reason: EndReason): void {
    this.#end.run({ id, at, how: reason })
  }

  rename(id: number, session: SessionId): void {
    this.#rename.run(session, id)
  }

  backedUp(session: SessionId): BackedUpSession | undefined {
    const row = this.#kept.get(session)
    return row && toBackedUpSession(row)
  }

  /** In the order in which they were first kept. */
  list(filter: BackupFilter): readonly BackedUpSession[] {
    const conditions = [
      ...(filter.store === undefined ? [] : ['path = :store']),
      ...(filter.agent === undefined ? [] : ['generation.agent = :agent']),
      ...(filter.native_id === undefined ? [] : ['native_id = :native_id']),
      ...(filter.kind === undefined ? [] : [`conversation_id IS ${filter.kind === 'unreadable' ? '' : 'NOT '}NULL`]),
      ...(filter.alive === undefined ? [] : [`ended_at IS ${filter.alive ? '' : 'NOT '}NULL`]),
    ]
    const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''
    const { store, agent, native_id } = filter
    const rows = this.#db.prepare<unknown[], BackedUpRow>(`${SELECT_BACKED_UP} ${where} ORDER BY generation.id`)
    return rows.all({ store, agent, native_id }).map(toBackedUpSession)
  }
}

function toBackedUpSession(row: BackedUpRow): BackedUpSession {
  const { native_id, skip, ended_at, ended_how, ...rest } = row
  return {
    ...rest,
    kind: native_id === null ? 'unreadable' : 'conversation',
    ...(native_id !== null && { native_id }),
    first_number: skip + 1,
    ...(ended_at !== null && { ended_at }),
    ...(ended_how !== null && { ended_how }),
  }
}
