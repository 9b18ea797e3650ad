/** Damaged and missing databases give results, not exceptions, and lose no more than necessary. */
import { copyFileSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { databaseFingerprint, isSqliteFile } from '../../src/lib/sqlite/database-file.ts'
import { openSqlite } from '../../src/lib/sqlite/driver.ts'
import { openForeignDatabase } from '../../src/lib/sqlite/foreign-database.ts'
import { tempFolder } from '../support/codex-log.ts'
import { expectProblem, TABLE, valueOrThrow } from '../support/database-owner.ts'

const VALUE = 'SELECT CAST(value AS BLOB) AS value FROM conversations WHERE key = ?'
const bodyOf = (row: number): string => `${'x'.repeat(20_000)}middle of ${row}.${'y'.repeat(20_000)}`
const ROWS = 12

/** Rows of ten pages each. */
function created(): string {
  const path = join(tempFolder(), 'data.sqlite3')
  const database = openSqlite(path)
  database.pragma('synchronous = off')
  database.exec(TABLE)
  const put = database.prepare('INSERT INTO conversations VALUES (?, ?)')
  for (let row = 0; row < ROWS; row++) put.run(`/${row}`, bodyOf(row))
  database.close()
  return path
}

function written(content: string | Uint8Array): string {
  const path = join(tempFolder(), 'data.sqlite3')
  writeFileSync(path, content)
  return path
}

/** Overwrites the beginning of the page that contains these bytes. */
function damagePageOf(path: string, bytes: string, damage: Uint8Array): void {
  const content = readFileSync(path)
  const at = content.indexOf(bytes)
  expect(at).toBeGreaterThan(0)
  content.set(damage, at - (at % 4096))
  writeFileSync(path, content)
}

describe('a file that is not a database', () => {
  test.each([
    ['text', 'Dear diary,\n'.repeat(1000), 'not_a_database'],
    ['noise, as an encrypted one is', Uint8Array.from({ length: 9000 }, (_, n) => (n * 7919) % 251), 'not_a_database'],
    ['a header and nothing sensible after it', `SQLite format 3\0${'z'.repeat(9000)}`, 'not_a_database'],
    ['the beginning of a header', 'SQLite format 3\0', 'cut_short'],
    ['nothing at all', '', 'empty'],
  ] as const)('%s', (_, content, kind) => {
    const path = written(content)
    expectProblem(openForeignDatabase(path), kind)
    expect(readFileSync(path).equals(Buffer.from(content as string))).toBe(true)
    expect(databaseFingerprint(path)).toBeDefined()
  })

  test('a folder, and a missing file', () => {
    const folder = tempFolder()
    expectProblem(openForeignDatabase(folder), 'not_a_database')
    expectProblem(openForeignDatabase(join(folder, 'none.sqlite3')), 'missing')
    expectProblem(openForeignDatabase(join(folder, 'none', 'none.sqlite3')), 'missing')
    expectProblem(openForeignDatabase(join(created(), 'inside.sqlite3')), 'missing')
    expect(databaseFingerprint(join(folder, 'none.sqlite3'))).toBeUndefined()
  })
})

test('a header identifies a database', () => {
  const head = readFileSync(created()).subarray(0, 4096)
  expect(isSqliteFile(head)).toBe(true)
  expect(isSqliteFile(head.subarray(0, 16))).toBe(true)
  expect(isSqliteFile(head.subarray(0, 15))).toBe(false)
  expect(isSqliteFile(head.subarray(1))).toBe(false)
  expect(isSqliteFile(new Uint8Array())).toBe(false)
})

describe('a damaged database', () => {
  test('cut short', () => {
    const path = created()
    truncateSync(path, 100_000)
    expectProblem(openForeignDatabase(path), 'cut_short')
  })

  test('one page of one row: all keys are found, all other rows are read', () => {
    const path = created()
    damagePageOf(path, 'middle of 5.', Uint8Array.of(255, 255, 255, 255))
    const database = valueOrThrow(openForeignDatabase(path))
    expect(valueOrThrow(database.all('SELECT key FROM conversations ORDER BY key'))).toHaveLength(ROWS)
    expectProblem(database.get(VALUE, '/5'), 'corrupt')
    for (let row = 0; row < ROWS; row++)
      if (row !== 5) expect(String(valueOrThrow(database.get(VALUE, `/${row}`))?.['value'])).toBe(bodyOf(row))
    database.close()
  })

  test('the root page of the table', () => {
    const path = created()
    const content = readFileSync(path)
    content.fill(0xa5, 4096, 8192)
    writeFileSync(path, content)
    const database = valueOrThrow(openForeignDatabase(path))
    expectProblem(database.get(VALUE, '/5'), 'corrupt')
    expectProblem(database.all('SELECT key, value FROM conversations ORDER BY key'), 'corrupt')
    database.close()
  })

  test('of another program, or another version of it', () => {
    const path = created()
    const database = valueOrThrow(openForeignDatabase(path))
    expectProblem(database.get('SELECT value FROM sessions'), 'other_schema')
    expectProblem(database.get('SELECT updated_at FROM conversations'), 'other_schema')
    expect(database.all('SELECT key FROM sessions')).toEqual({
      ok: false,
      problem: expect.objectContaining({
        reason: expect.objectContaining({ en: expect.stringContaining('no such table: sessions') }),
      }),
    })
    database.close()
  })
})

describe('while it is read', () => {
  test('the file vanishes, with its folder or alone', () => {
    const path = created()
    const database = valueOrThrow(openForeignDatabase(path))
    rmSync(path)
    expectProblem(database.get(VALUE, '/1'), 'missing')
    rmSync(join(path, '..'), { recursive: true })
    expectProblem(database.get(VALUE, '/1'), 'missing')
    database.close()
  })

  test('the file is replaced by another one', () => {
    const path = created()
    const other = created()
    const database = valueOrThrow(openForeignDatabase(path))
    const before = databaseFingerprint(path)
    renameSync(other, path)
    expectProblem(database.get(VALUE, '/1'), 'replaced')
    expect(databaseFingerprint(path)).not.toBe(before)
    database.close()
    const again = valueOrThrow(openForeignDatabase(path))
    expect(String(valueOrThrow(again.get(VALUE, '/1'))?.['value'])).toBe(bodyOf(1))
    again.close()
  })

  test('the file is overwritten with something else', () => {
    const path = created()
    const database = valueOrThrow(openForeignDatabase(path))
    copyFileSync(written('no database\n'.repeat(400)), path)
    expectProblem(database.get(VALUE, '/1'), 'not_a_database')
    database.close()
  })
})

describe('values', () => {
  test('are returned as bytes, even if they are not UTF-8', () => {
    const path = created()
    const owner = openSqlite(path)
    const unusual = Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0xc3, 0x7d])
    owner.prepare('INSERT INTO conversations VALUES (?, CAST(? AS TEXT))').run('/odd', unusual)
    owner.close()
    const database = valueOrThrow(openForeignDatabase(path))
    expect(Buffer.from(valueOrThrow(database.get(VALUE, '/odd'))?.['value'] as Uint8Array)).toEqual(unusual)
    database.close()
  })

  test('SQL that is wrong or would write is a bug', () => {
    const path = created()
    const before = readFileSync(path)
    const database = valueOrThrow(openForeignDatabase(path))
    expect(() => database.get('SELEC 1')).toThrow('syntax error')
    expect(() => database.get('DELETE FROM conversations RETURNING key')).toThrow('readonly')
    expect(readFileSync(path).equals(before)).toBe(true)
    database.close()
    expect(() => database.get(VALUE, '/1')).toThrow('closed')
  })
})
