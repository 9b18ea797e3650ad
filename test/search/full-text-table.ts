/** A real full-text table, filled and queried with the word analysis of the search. */

import { openSqlite } from '../../src/lib/sqlite/driver.ts'
import { parseQuery } from '../../src/search/query/parse-query.ts'
import type { ParsedQuery, ScopedFields } from '../../src/search/query/query.ts'
import { exclusionExpression, matchExpression } from '../../src/search/text-index/find-rows.ts'
import { analyse, TOKENIZER } from '../../src/search/words/analyse.ts'

const COLUMNS = { prompt: 'prompt', answer: 'answer', output: 'tool output' } as const

export class Table {
  readonly #db = openSqlite(':memory:')
  readonly #put
  readonly #ask
  readonly #askExcept
  readonly #words

  constructor() {
    const columns = Object.values(COLUMNS).map((name) => `"${name}"`)
    this.#db.exec(
      `CREATE VIRTUAL TABLE t USING fts5(${columns}, content='', contentless_delete=1, tokenize="${TOKENIZER}");
       CREATE VIRTUAL TABLE words USING fts5vocab(t, 'instance');
       CREATE TABLE message (id INTEGER PRIMARY KEY)`,
    )
    this.#put = this.#db.prepare(`INSERT OR REPLACE INTO t (rowid, ${columns}) VALUES (?, ?, ?, ?)`)
    this.#ask = this.#db.prepare<[string], number>('SELECT rowid FROM t WHERE t MATCH ? ORDER BY rowid').pluck()
    this.#askExcept = this.#db
      .prepare<[string], number>('SELECT id FROM message WHERE id NOT IN (SELECT rowid FROM t WHERE t MATCH ?)')
      .pluck()
    this.#words = this.#db.prepare<[], string>('SELECT term FROM words ORDER BY doc, col, offset').pluck()
  }

  put(id: number, fields: ScopedFields): void {
    const texts = (Object.keys(COLUMNS) as (keyof typeof COLUMNS)[]).map((scope) => fields[scope])
    this.#put.run(id, ...texts.map((text) => (text === undefined ? null : analyse(text))))
    this.#db.prepare('INSERT OR IGNORE INTO message VALUES (?)').run(id)
  }

  /** Ids that match the query's words, or that do not if it only excludes. */
  find(query: ParsedQuery): readonly number[] {
    const except = exclusionExpression(query, COLUMNS)
    return except === undefined ? this.#ask.all(matchExpression(query, COLUMNS) ?? '""') : this.#askExcept.all(except)
  }

  /** All indexed words, in order. */
  words(): readonly string[] {
    return this.#words.all()
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
