/** Reading beside a program that is at work: nothing wrong is read, and the program is not held up. */
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openSqlite } from '../../src/lib/sqlite/driver.ts'
import { databaseFingerprint } from '../../src/lib/sqlite/fingerprint.ts'
import { openDatabase } from '../../src/lib/sqlite/open.ts'
import { readBeside } from '../support/busy-owner.ts'
import {
  everythingIn,
  expectProblem,
  generationOf,
  given,
  JOURNAL_MODES,
  startOwner,
} from '../support/database-owner.ts'
import { tempFolder } from '../support/log.ts'

const VALUE = 'SELECT CAST(value AS BLOB) AS value FROM conversations WHERE key = ?'

describe.each(JOURNAL_MODES)('an owner in journal mode %s', (journal) => {
  test('commits again and again: 250 readings, none wrong, none goes back, no commit refused', async () => {
    const { wrong, backwards, problems, busy, commits } = await readBeside(
      join(tempFolder(), 'data.sqlite3'),
      journal,
      250,
    )
    expect({ wrong, backwards, problems, busy }).toEqual({ wrong: 0, backwards: 0, problems: [], busy: 0 })
    expect(commits).toBeGreaterThan(0)
  })

  test('has its database open: each reading shows its latest commit, in place, and leaves everything as it is', async () => {
    const folder = tempFolder()
    const path = join(folder, 'data.sqlite3')
    const owner = await startOwner(path, journal)
    await owner.put('/a', 1)
    const before = everythingIn(folder)
    const database = given(openDatabase(path))
    expect(database.mode).toBe('in place')
    expect(generationOf(given(database.get(VALUE, '/a'))?.['value'])).toBe(1)
    expect(given(database.get(VALUE, '/none'))).toBeUndefined()
    expect(everythingIn(folder)).toEqual(before)
    const fingerprint = databaseFingerprint(path)
    expect(databaseFingerprint(path)).toBe(fingerprint)
    await owner.put('/a', 2)
    expect(databaseFingerprint(path)).not.toBe(fingerprint)
    expect(generationOf(given(database.get(VALUE, '/a'))?.['value'])).toBe(2)
    database.close()
    await owner.close()
  })

  test('does not see us when it closes: what it clears away stays away', async () => {
    const folder = tempFolder()
    const path = join(folder, 'data.sqlite3')
    const owner = await startOwner(path, journal)
    await owner.put('/a', 1)
    const database = given(openDatabase(path))
    given(database.get(VALUE, '/a'))
    await owner.close()
    const left = everythingIn(folder)
    expect(left).toHaveLength(journal === 'truncate' || journal === 'persist' ? 2 : 1)
    expect(generationOf(given(database.get(VALUE, '/a'))?.['value'])).toBe(1)
    database.close()
    expect(everythingIn(folder)).toEqual(left)
  })

  test('is in the middle of a transaction: the last commit is read', async () => {
    const path = join(tempFolder(), 'data.sqlite3')
    const owner = await startOwner(path, journal)
    await owner.put('/a', 1)
    await owner.exec('BEGIN')
    await owner.put('/a', 2)
    const database = given(openDatabase(path))
    expect(database.mode).toBe('in place')
    expect(generationOf(given(database.get(VALUE, '/a'))?.['value'])).toBe(1)
    await owner.exec('COMMIT')
    expect(generationOf(given(database.get(VALUE, '/a'))?.['value'])).toBe(2)
    database.close()
    await owner.close()
  })
})

test('an owner may change its journal mode between two readings: nothing is held that keeps it from clearing up', async () => {
  const folder = tempFolder()
  const path = join(folder, 'data.sqlite3')
  const owner = await startOwner(path, 'delete')
  await owner.put('/a', 1)
  const database = given(openDatabase(path))
  expect(generationOf(given(database.get(VALUE, '/a'))?.['value'])).toBe(1)
  await owner.exec('PRAGMA journal_mode = wal')
  await owner.put('/a', 2)
  expect(generationOf(given(database.get(VALUE, '/a'))?.['value'])).toBe(2)
  await owner.close()
  expect(everythingIn(folder)).toHaveLength(1)
  expect(generationOf(given(database.get(VALUE, '/a'))?.['value'])).toBe(2)
  database.close()
})

test('an owner that keeps its database locked is waited for and then reported', async () => {
  const path = join(tempFolder(), 'data.sqlite3')
  const owner = await startOwner(path, 'delete')
  await owner.put('/a', 1)
  const database = given(openDatabase(path, { busyMs: 20 }))
  await owner.exec('BEGIN EXCLUSIVE')
  expectProblem(openDatabase(path, { busyMs: 20 }), 'busy')
  expectProblem(database.get(VALUE, '/a'), 'busy')
  await owner.exec('ROLLBACK')
  expect(generationOf(given(database.get(VALUE, '/a'))?.['value'])).toBe(1)
  database.close()
  await owner.close()
})

test('looking at a database takes no lock from a reading that is under way in this process', async () => {
  const path = join(tempFolder(), 'data.sqlite3')
  const owner = await startOwner(path, 'delete', 0)
  await owner.put('/a', 1)
  const other = openSqlite(path, { readonly: true })
  other.exec('BEGIN')
  other.prepare('SELECT count(*) FROM conversations').get()
  databaseFingerprint(path)
  const database = given(openDatabase(path))
  given(database.get(VALUE, '/a'))
  database.close()
  await expect(owner.put('/a', 2)).rejects.toThrow('SQLITE_BUSY')
  other.close()
  await owner.put('/a', 3)
  await owner.close()
})
