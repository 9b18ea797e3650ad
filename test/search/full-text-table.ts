/** A text index, filled and queried as the index of the program is. */
import { join } from 'node:path'
import { segmentMerger } from '../../src/index/merge-segments.ts'
import { INDEX_FORMAT } from '../../src/index/schema.ts'
import { NO_SCOPE, newDocuments, traitsOf } from '../../src/index/segment-documents.ts'
import { segmentWriter } from '../../src/index/text-segments.ts'
import { openSqlite } from '../../src/lib/sqlite/driver.ts'
import { TEXT_SCOPES } from '../../src/model/searchable-text.ts'
import { matchesQuery } from '../../src/search/matching.ts'
import { parseQuery } from '../../src/search/query/parse-query.ts'
import type { ParsedQuery, ScopedFields } from '../../src/search/query/query.ts'
import { TermBuilder } from '../../src/search/segments/term-builder.ts'
import { findRows } from '../../src/search/text-index/find-rows.ts'
import { tempFolder } from '../support/codex-log.ts'

/** Ids of messages begin here. */
const FIRST = 2 ** 32

export class Table {
  readonly #db
  readonly #reader
  readonly #writer
  readonly #merger
  readonly #terms = new TermBuilder()
  readonly #texts = new Map<number, ScopedFields>()

  constructor() {
    const path = join(tempFolder(), 'index.sqlite3')
    this.#db = openSqlite(path)
    this.#db.pragma('journal_mode = WAL')
    this.#db.pragma('synchronous = OFF')
    for (const migration of INDEX_FORMAT.migrations)
      if (typeof migration === 'string') this.#db.exec(migration)
      else migration(this.#db)
    this.#reader = openSqlite(path, { readonly: true })
    this.#writer = segmentWriter(this.#db)
    this.#merger = segmentMerger(this.#db)
  }

  /** Replaces the message, without a trace of the one before. */
  put(id: number, fields: ScopedFields): void {
    const isKnown = this.#texts.has(FIRST + id)
    this.putAll([[id, fields]])
    if (isKnown) this.erase()
  }

  /** Writes one segment. A message that is there already is replaced. */
  putAll(messages: readonly (readonly [id: number, fields: ScopedFields])[]): void {
    this.#db.transaction(() => this.#putAll(messages))()
  }

  #putAll(messages: readonly (readonly [id: number, fields: ScopedFields])[]): void {
    const rows: number[] = []
    const traits: number[] = []
    for (const [id, fields] of messages) {
      const row = FIRST + id
      if (this.#texts.has(row)) this.delete(id)
      this.#texts.set(row, fields)
      this.#db.prepare("INSERT INTO message VALUES (?, 1, ?, 1, 0, NULL, 0, NULL, '0{}')").run(row, id)
      const texts = TEXT_SCOPES.flatMap((name, scope) => {
        const text = fields[name]
        return text === undefined ? [] : [{ text, scope }]
      })
      for (const { text, scope } of texts.length > 0 ? texts : [{ text: '', scope: NO_SCOPE }]) {
        this.#terms.add(text)
        rows.push(row)
        traits.push(traitsOf(scope, 0))
      }
    }
    const terms = this.#terms.take()
    const { sessions, tools } = newDocuments(rows.length)
    this.#writer.add(terms, {
      rows: Float64Array.from(rows),
      sessions: sessions.fill(1),
      tools,
      traits: Uint8Array.from(traits),
      lengths: terms.lengths,
    })
  }

  delete(id: number): void {
    this.#writer.remove(FIRST + id)
    this.#texts.delete(FIRST + id)
    this.#db.prepare('DELETE FROM message WHERE id = ?').run(FIRST + id)
  }

  merge(): boolean {
    return this.#db.transaction(() => this.#merger.step())()
  }

  erase(): void {
    this.#db.transaction(() => this.#merger.erase())()
  }

  get segments(): number {
    return this.#db.prepare('SELECT count(*) FROM text_segment').pluck().get() as number
  }

  /** All bytes of the blocks. */
  bytes(): string {
    return this.#db
      .prepare<[], Buffer>('SELECT bytes FROM text_block')
      .pluck()
      .all()
      .map((one) => one.toString('latin1'))
      .join('')
  }

  /** What the index alone says: rows that may match, without those that cannot, and whether each is certain. */
  lookUp(query: ParsedQuery): ReadonlyMap<number, 'sure' | 'doubtful'> {
    const read = this.#reader.transaction(() => findRows(this.#reader, query, { limit: 1_000_000 }))
    const { rows, doubtful } = read()
    return new Map(rows.map((row) => [row - FIRST, doubtful.has(row) ? 'doubtful' : 'sure']))
  }

  /** Ids of matching messages. Doubtful ones are checked against their text, as the search does. */
  find(query: ParsedQuery): readonly number[] {
    return [...this.lookUp(query)]
      .filter(([id, how]) => how === 'sure' || matchesQuery(query, this.#texts.get(FIRST + id) ?? {}))
      .map(([id]) => id)
      .sort((a, b) => a - b)
  }
}

/** A table with one text, to be queried in search syntax. */
export function tableOf(text: string): { readonly has: (input: string) => boolean } {
  const table = new Table()
  table.put(1, { prompt: text })
  return { has: (input) => table.find(queryOf(input)).length > 0 }
}

export function queryOf(input: string, now?: Date): ParsedQuery {
  const query = parseQuery(input, now)
  if (query.kind === 'problem') throw new Error(`${input}: ${query.what}`)
  return query
}
