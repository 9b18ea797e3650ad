/** Reads while a program writes: no wrong data, and the program is not blocked. */
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { databaseFingerprint } from '../../src/lib/sqlite/database-file.ts'
import { openSqlite } from '../../src/lib/sqlite/driver.ts'
import { openForeignDatabase } from '../../src/lib/sqlite/foreign-database.ts'
import { tempFolder } from '../support/codex-log.ts'
import { readConcurrently } from '../support/concurrent-reads.ts'
import {
  expectProblem,
  filesIn,
  generationOf,
  JOURNAL_MODES,
  startOwner,
  valueOrThrow,
} from '../support/database-owner.ts'

const VALUE = 'SELECT CAST(value AS BLOB) AS value FROM conversations WHERE key = ?'

describe.each(JOURNAL_MODES)('an owner in journal mode %s', (journal) => {
  test('commits repeatedly: 250 reads, none wrong or outdated, no commit refused', async () => {
    const { wrong, backwards, problems, busy, commits } = await readConcurrently(
      join(tempFolder(), 'data.sqlite3'),
      journal,
      250,
    )
    expect({ wrong, backwards, problems, busy }).toEqual({ wrong: 0, backwards: 0, problems: [], busy: 0 })
    expect(commits).toBeGreaterThan(0)
  })

  test('has its database open: each read shows the latest commit and changes nothing', async () => {
    const folder = tempFolder()
    const path = join(folder, 'data.sqlite3')
    const owner = await startOwner(path, journal)
    await owner.put('/a', 1)
    const before = filesIn(folder)
    const database = valueOrThrow(openForeignDatabase(path))
    expect(database.mode).toBe('in place')
    expect(generationOf(valueOrThrow(database.get(VALUE, '/a'))?.['value'])).toBe(1)
    expect(valueOrThrow(database.get(VALUE, '/none'))).toBeUndefined()
    expect(filesIn(folder)).toEqual(before)
    const fingerprint = databaseFingerprint(path)
    expect(databaseFingerprint(path)).toBe(fingerprint)
    await owner.put('/a', 2)
    expect(databaseFingerprint(path)).not.toBe(fingerprint)
    expect(generationOf(valueOrThrow(database.get(VALUE, '/a'))?.['value'])).toBe(2)
    database.close()
    await owner.close()
  })

  test('can close and remove its files while we read', async () => {
    const folder = tempFolder()
    const path = join(folder, 'data.sqlite3')
    const owner = await startOwner(path, journal)
    await owner.put('/a', 1)
    const database = valueOrThrow(openForeignDatabase(path))
    valueOrThrow(database.get(VALUE, '/a'))
    await owner.close()
    const left = filesIn(folder)
    expect(left).toHaveLength(journal === 'truncate' || journal === 'persist' ? 2 : 1)
    expect(generationOf(valueOrThrow(database.get(VALUE, '/a'))?.['value'])).toBe(1)
    database.close()
    expect(filesIn(folder)).toEqual(left)
  })

  test('is in the middle of a transaction: the last commit is read', async () => {
    const path = join(tempFolder(), 'data.sqlite3')
    const owner = await startOwner(path, journal)
    await owner.put('/a', 1)
    await owner.exec('BEGIN')
    await owner.put('/a', 2)
    const database = valueOrThrow(openForeignDatabase(path))
    expect(database.mode).toBe('in place')
    expect(generationOf(valueOrThrow(database.get(VALUE, '/a'))?.['value'])).toBe(1)
    await owner.exec('COMMIT')
    expect(generationOf(valueOrThrow(database.get(VALUE, '/a'))?.['value'])).toBe(2)
    database.close()
    await owner.close()
  })
})

test('an owner may change its journal mode between two reads', async () => {
  const folder = tempFolder()
  const path = join(folder, 'data.sqlite3')
  const owner = await startOwner(path, 'delete')
  await owner.put('/a', 1)
  const database = valueOrThrow(openForeignDatabase(path))
  expect(generationOf(valueOrThrow(database.get(VALUE, '/a'))?.['value'])).toBe(1)
  await owner.exec('PRAGMA journal_mode = wal')
  await owner.put('/a', 2)
  expect(generationOf(valueOrThrow(database.get(VALUE, '/a'))?.['value'])).toBe(2)
  await owner.close()
  expect(filesIn(folder)).toHaveLength(1)
  expect(generationOf(valueOrThrow(database.get(VALUE, '/a'))?.['value'])).toBe(2)
  database.close()
})

test('a locked database is reported after a wait', async () => {
  const path = join(tempFolder(), 'data.sqlite3')
  const owner = await startOwner(path, 'delete')
  await owner.put('/a', 1)
  const database = valueOrThrow(openForeignDatabase(path, { busyMs: 20 }))
  await owner.exec('BEGIN EXCLUSIVE')
  expectProblem(openForeignDatabase(path, { busyMs: 20 }), 'busy')
  expectProblem(database.get(VALUE, '/a'), 'busy')
  await owner.exec('ROLLBACK')
  expect(generationOf(valueOrThrow(database.get(VALUE, '/a'))?.['value'])).toBe(1)
  database.close()
  await owner.close()
})

test('inspecting a database does not release locks of a read in this process', async () => {
  const path = join(tempFolder(), 'data.sqlite3')
  const owner = await startOwner(path, 'delete', 0)
  await owner.put('/a', 1)
  const other = openSqlite(path, { readonly: true })
  other.exec('BEGIN')
  other.prepare('SELECT count(*) FROM conversations').get()
  databaseFingerprint(path)
  const database = valueOrThrow(openForeignDatabase(path))
  valueOrThrow(database.get(VALUE, '/a'))
  database.close()
  await expect(owner.put('/a', 2)).rejects.toThrow('SQLITE_BUSY')
  other.close()
  await owner.put('/a', 3)
  await owner.close()
})
