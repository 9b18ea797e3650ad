/** The rows of other programs' stores, and which generation each of them holds now. */
import type { Statement } from 'better-sqlite3'
import type { Db } from '../../lib/sqlite/own-database.ts'
import type { Instant } from '../../model/ids.ts'
import type { RowLocation, RowOrigin } from '../records.ts'

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
