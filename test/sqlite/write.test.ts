/** Writes to another program's database: atomically, and only while no other process holds a lock. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { withWriteLock } from '../../src/lib/sqlite/locks.ts'
import { tempFolder } from '../support/codex-log.ts'
import {
  expectProblem,
  filesIn,
  JOURNAL_MODES,
  type JournalMode,
  type Owner,
  startOwner,
  valueOrThrow,
} from '../support/database-owner.ts'

const PUT = 'INSERT OR REPLACE INTO conversations VALUES (?, CAST(? AS TEXT))'
const KEYS = 'SELECT key FROM conversations ORDER BY key'
const AT_ONCE = { busyMs: 0 }

async function owned(journal: JournalMode): Promise<{ path: string; owner: Owner }> {
  const path = join(tempFolder(), 'data.sqlite3')
  const owner = await startOwner(path, journal)
  await owner.put('/a', 1)
  return { path, owner }
}

describe.each(JOURNAL_MODES)('in journal mode %s', (journal) => {
  test('a write is committed and visible to the owner, and the journal mode stays', async () => {
    const { path, owner } = await owned(journal)
    const changed = withWriteLock(path, (database) => {
      expect(database.all(KEYS)).toEqual([{ key: '/a' }])
      return database.run(PUT, '/b', Buffer.from('{}'))
    })
    expect(changed).toEqual({ ok: true, value: 1 })
    expect(await owner.all('SELECT key, typeof(value) AS type FROM conversations')).toEqual([
      { key: '/a', type: 'text' },
      { key: '/b', type: 'text' },
    ])
    expect(await owner.all('PRAGMA journal_mode')).toEqual([{ journal_mode: journal }])
    await owner.close()
    expect([readFileSync(path)[18], readFileSync(path)[19]]).toEqual(journal === 'wal' ? [2, 2] : [1, 1])
  })

  test('nothing is done when the owner is about to write', async () => {
    const { path, owner } = await owned(journal)
    await owner.exec('BEGIN IMMEDIATE')
    const before = filesIn(join(path, '..'))
    let worked = false
    const refused = withWriteLock(
      path,
      () => {
        worked = true
      },
      AT_ONCE,
    )
    expectProblem(refused, 'busy')
    expect(worked).toBe(false)
    expect(filesIn(join(path, '..'))).toEqual(before)
    await owner.exec('COMMIT')
    await owner.close()
  })

  test('an exception rolls back and propagates', async () => {
    const { path, owner } = await owned(journal)
    const attempt = (): unknown =>
      withWriteLock(path, (database) => {
        database.run(PUT, '/b', Buffer.from('{}'))
        throw new RangeError('changed my mind')
      })
    expect(attempt).toThrow(RangeError)
    expect(await owner.all(KEYS)).toEqual([{ key: '/a' }])
    await owner.put('/c', 1)
    await owner.close()
  })
})

test('nothing is written when a reading owner blocks the commit', async () => {
  const { path, owner } = await owned('delete')
  await owner.exec('BEGIN')
  await owner.all(KEYS)
  expectProblem(
    withWriteLock(path, (database) => database.run(PUT, '/b', Buffer.from('{}')), AT_ONCE),
    'busy',
  )
  await owner.exec('COMMIT')
  expect(await owner.all(KEYS)).toEqual([{ key: '/a' }])
  await owner.close()
})

test('an unfinished transaction of a killed owner is rolled back first', async () => {
  const { path, owner } = await owned('delete')
  await owner.exec('PRAGMA cache_size = 5; BEGIN')
  for (let row = 0; row < 20; row++) await owner.put(`/lost/${row}`, row, 9000)
  await owner.kill()
  expect(valueOrThrow(withWriteLock(path, (database) => database.all(KEYS)))).toEqual([{ key: '/a' }])
})

test('a database that is not open elsewhere is left without extra files', async () => {
  const { path, owner } = await owned('wal')
  await owner.close()
  valueOrThrow(withWriteLock(path, (database) => database.run(PUT, '/b', Buffer.from('{}'))))
  expect(readdirSync(join(path, '..'))).toEqual(['data.sqlite3'])
  expect(
    valueOrThrow(withWriteLock(path, (database) => database.get('SELECT count(*) AS n FROM conversations'))),
  ).toEqual({
    n: 2,
  })
})

test('no database is created', () => {
  const folder = tempFolder()
  expectProblem(
    withWriteLock(join(folder, 'none.sqlite3'), () => 1),
    'missing',
  )
  expect(readdirSync(folder)).toEqual([])
  for (const [content, kind] of [
    ['', 'empty'],
    ['Dear diary', 'not_a_database'],
  ] as const) {
    const path = join(folder, 'file')
    writeFileSync(path, content)
    expectProblem(
      withWriteLock(path, (database) => database.run('CREATE TABLE t (a)')),
      kind,
    )
    expect(readFileSync(path, 'utf8')).toBe(content)
  }
})

test('another schema is a problem; work that waits is a bug', async () => {
  const { path, owner } = await owned('delete')
  expectProblem(
    withWriteLock(path, (database) => database.run('DELETE FROM sessions')),
    'other_schema',
  )
  const waits = (): unknown => withWriteLock(path, async (database) => database.run(PUT, '/b', Buffer.from('{}')))
  expect(waits).toThrow('must not wait')
  expect(await owner.all(KEYS)).toEqual([{ key: '/a' }])
  await owner.close()
})
