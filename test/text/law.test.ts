/** Whatever the text and the query: FTS5 finds it in the index exactly when it is found without one. */
import Database from 'better-sqlite3'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { analyse, TOKENIZER } from '../../src/archive/text/analyse.ts'
import { matchExpression } from '../../src/archive/text/expression.ts'
import { matches } from '../../src/archive/text/matches.ts'
import { parseQuery } from '../../src/archive/text/parse-query.ts'

const db = new Database(':memory:')
db.exec(`CREATE VIRTUAL TABLE t USING fts5(prompt, answer, content='', contentless_delete=1, tokenize="${TOKENIZER}")`)
const put = db.prepare('INSERT OR REPLACE INTO t (rowid, prompt, answer) VALUES (1, ?, ?)')
const ask = db.prepare<[string], { rowid: number }>('SELECT rowid FROM t WHERE t MATCH ?')
const COLUMNS = { prompt: 'prompt', answer: 'answer' }

const character = fc.constantFrom(...'aAbB19_-. ,"éÉ東京都あアｱー한글𠮷🚀️\u0301\u3099ไท\u0e34', '\ud83d', '\0')
const text = fc.oneof(fc.string({ unit: character, maxLength: 12 }), fc.string({ unit: 'binary', maxLength: 8 }))

test('the index and the plain text agree', () => {
  fc.assert(
    fc.property(text, text, fc.string({ unit: character, minLength: 1, maxLength: 5 }), (prompt, answer, input) => {
      const query = parseQuery(input)
      if (query.kind === 'problem') return
      const expression = matchExpression(query, COLUMNS)
      if (expression === undefined) return
      put.run(analyse(prompt), analyse(answer))
      expect(ask.all(expression).length > 0).toBe(matches(query, { prompt, answer }))
    }),
    { numRuns: 20_000 },
  )
})
