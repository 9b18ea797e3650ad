/** A walk sees every row once, whatever its key and however long a page. */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openDatabase } from '../../src/lib/sqlite/open.ts'
import { rowsInPages } from '../../src/lib/sqlite/pages.ts'
import { given } from '../support/database-owner.ts'
import { tempFolder } from '../support/log.ts'

const number = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(2n ** 53n, 2n ** 53n + 1n, 2n ** 53n + 2n),
  fc.double({ noNaN: true }),
)
/** Text is made of any bytes, as a database may hold it, or of digits, which is not the number that they spell. */
const key = fc.oneof(
  fc.record({
    sql: fc.constant('CAST(? AS TEXT)'),
    value: fc.oneof(fc.uint8Array({ maxLength: 4 }), fc.integer().map(String)).map((one) => Buffer.from(one as string)),
  }),
  fc.record({
    sql: fc.constant('?'),
    value: fc.oneof(
      number,
      fc.uint8Array({ maxLength: 3 }).map((one) => Buffer.from(one)),
    ),
  }),
)

test('every row once, in the order of its key', () => {
  const path = join(tempFolder(), 'data.sqlite3')
  const owner = new Database(path)
  owner.pragma('synchronous = off')
  owner.exec('CREATE TABLE "odd ""name" (a, b, n INTEGER, PRIMARY KEY (a, b))')
  fc.assert(
    fc.property(fc.array(fc.tuple(key, key), { maxLength: 30 }), fc.integer({ min: 1, max: 7 }), (keys, pageSize) => {
      owner.exec('DELETE FROM "odd ""name"')
      for (const [n, [a, b]] of keys.entries())
        owner.prepare(`INSERT OR IGNORE INTO "odd ""name" VALUES (${a.sql}, ${b.sql}, ${n})`).run(a.value, b.value)
      const expected = owner.prepare('SELECT n FROM "odd ""name" ORDER BY a, b').pluck().all()
      const database = given(openDatabase(path))
      const walk = { table: 'odd "name', key: ['a', 'b'], columns: { n: 'n' }, pageSize }
      const pages = [...rowsInPages(database, walk)].map(given)
      database.close()
      expect(pages.flat().map((row) => row['n'])).toEqual(expected)
      expect(pages.slice(0, -1).every((page) => page.length === pageSize)).toBe(true)
      expect(pages.flat().every((row) => Object.keys(row).join() === 'a,b,n')).toBe(true)
    }),
    { numRuns: 200 },
  )
  owner.close()
})

test('rows that change while others are used', () => {
  const path = join(tempFolder(), 'data.sqlite3')
  const owner = new Database(path)
  owner.exec('CREATE TABLE t (key TEXT PRIMARY KEY, value TEXT)')
  const put = owner.prepare('INSERT OR REPLACE INTO t VALUES (?, ?)')
  for (const name of 'abcdef') put.run(name, name)
  const database = given(openDatabase(path))
  const seen: unknown[] = []
  for (const page of rowsInPages(database, { table: 't', key: ['key'], columns: { value: 'value' }, pageSize: 2 })) {
    seen.push(...given(page).map((row) => row['value']))
    if (seen.length === 2) {
      for (const name of 'af') put.run(name, `${name} again`)
      owner.exec("DELETE FROM t WHERE key = 'd'")
    }
  }
  expect(seen).toEqual(['a', 'b', 'c', 'e', 'f again'])
  database.close()
  owner.close()
})

test('the row number may be the key', () => {
  const path = join(tempFolder(), 'data.sqlite3')
  const owner = new Database(path)
  owner.exec("CREATE TABLE t (value TEXT); INSERT INTO t VALUES ('a'), ('b'), ('c')")
  const database = given(openDatabase(path))
  const pages = [...rowsInPages(database, { table: 't', key: ['rowid'], columns: { value: 'value' }, pageSize: 2 })]
  expect(pages.flatMap(given).map((row) => row['value'])).toEqual(['a', 'b', 'c'])
  database.close()
  owner.close()
})
