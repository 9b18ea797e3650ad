/** Several processes on one index: one writes, all read without waiting, and another takes over from a dead writer. */
import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { INDEX_FORMAT } from '../../src/index/schema.ts'
import { openSqlite } from '../../src/lib/sqlite/driver.ts'
import { openOwnDatabase } from '../../src/lib/sqlite/own-database.ts'
import type { SessionId } from '../../src/model/ids.ts'
import { contentOf } from '../index/index-content.ts'
import { makeStore, stateOf } from '../support/amazon-q-store.ts'
import { header, tempFolder, text, user } from '../support/codex-log.ts'
import { manyLogs, threadOf } from '../support/many-logs.ts'
import { rollout, type TestHome, testHome } from '../support/test-home.ts'
import { runInProcess, startProcess } from './app-process.ts'

const OTHER = '019c0000-0000-7000-8000-00000000beef'

test('other processes get the id of the watcher and can read; another process takes over when it is killed', async () => {
  const { folder, app, write } = testHome()
  manyLogs(write, 3, 4)
  const watcher = startProcess(folder, app.directory, 'watch')
  expect(await watcher.nextReport()).toEqual({ kind: 'watching' })
  const openChat = { kind: 'held', by: { pid: watcher.child.pid, what: 'watch' } }
  expect(runInProcess(folder, app.directory, 'sync')).toMatchObject(openChat)
  expect(await app.watch()).toMatchObject(openChat)
  expect(runInProcess(folder, app.directory, 'read')).toMatchObject({ total: 3 })
  await watcher.kill()
  const next = startProcess(folder, app.directory, 'watch')
  expect(await next.nextReport()).toEqual({ kind: 'watching' })
  expect(await app.sync()).toMatchObject({ kind: 'held', by: { pid: next.child.pid } })
  next.stop()
  expect(await next.nextReport()).toEqual({ kind: 'closed' })
  expect(await app.sync()).toMatchObject({ kind: 'synced', synced: { scanned: 0, read: 0 } })
})

test('readers never wait for a writer and never see half a batch', async () => {
  const { folder, app, write } = testHome()
  manyLogs(write, 2, 2)
  await app.sync()
  const reader = startProcess(folder, app.directory, 'stare')
  expect(await reader.nextReport()).toEqual({ kind: 'staring' })
  for (const sessions of [6, 12]) {
    manyLogs(write, sessions, 40)
    expect(runInProcess(folder, app.directory, 'sync')).toMatchObject({ kind: 'synced' })
  }
  reader.stop()
  // A process that had to wait would report that another one holds the index.
  const { looks, wrong } = await reader.nextReport()
  expect(wrong).toEqual([])
  expect(looks).toBeGreaterThan(2)
})

/**
 * Overwrites pages of the file, like a failing disk: all but the first ones, or the first page of a table, so that the
 * file still opens.
 */
function damage(app: TestHome['app'], table?: string): void {
  const path = join(app.directory, 'index.sqlite3')
  const db = openSqlite(path)
  db.pragma('wal_checkpoint(TRUNCATE)')
  const page = Number(db.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').pluck().get(table) ?? 0)
  db.close()
  const first = page > 0 ? page : 3
  const last = page > 0 ? page : statSync(path).size / 4096
  const file = openSync(path, 'r+')
  for (let at = first; at <= last; at++) writeSync(file, Buffer.alloc(4096, 0xa5), 0, 4096, (at - 1) * 4096)
  closeSync(file)
}

const damagedIn = (directory: string): readonly string[] =>
  readdirSync(directory).filter((name) => /^index\.sqlite3\.damaged-\d+$/.test(name))

async function furnished(): Promise<
  TestHome & { readonly kept: Uint8Array; expectAgain(app: TestHome['app']): Promise<void> }
> {
  const testMachine = testHome()
  const store = makeStore(join(testMachine.folder, 'data', 'amazon-q', 'data.sqlite3'))
  store.put('/code', stateOf('one', [{ prompt: 'First?', answer: 'An answer.' }]))
  store.put('/code', stateOf('two', [{ prompt: 'Second?', answer: 'Another.' }]))
  await testMachine.app.sync()
  store.put('/code', stateOf('three', [{ prompt: 'Third?', answer: 'One more.' }]))
  store.close()
  manyLogs(testMachine.write, 3, 8)
  await testMachine.app.sync()
  const before = await contentOf(testMachine.app)
  const stored = testMachine.app.backup.bytes('amazon-q:two' as SessionId)
  return {
    ...testMachine,
    kept: stored,
    async expectAgain(app) {
      expect(await contentOf(app)).toEqual(before)
      expect(app.backup.bytes('amazon-q:two' as SessionId)).toEqual(stored)
      expect(damagedIn(app.directory)).toHaveLength(1)
    },
  }
}

test.each(['message', 'usage', 'session', 'source'])(
  'an index found damaged during a sync is moved away and rebuilt, and backups are untouched: %s',
  async (table) => {
    const { folder, app, expectAgain } = await furnished()
    app.close()
    damage(app, table)
    utimesSync(join(folder, rollout(threadOf(0))), 1, 1)
    const { app: next } = testHome({}, folder)
    expect(await next.sync()).toMatchObject({
      kind: 'synced',
      synced: { setAside: expect.stringContaining('.damaged-') },
    })
    await expectAgain(next)
    expect(await next.sync()).toMatchObject({ synced: { scanned: 0, read: 0 } })
  },
)

test('a reader reports an index damaged while open, the next sync rebuilds it, and the reader continues', async () => {
  const { app, folder, expectAgain } = await furnished()
  expect(app.list().total).toBeGreaterThan(0)
  damage(app)
  expect(() => app.stats()).toThrow(
    expect.objectContaining({ code: 'unusable_data', message: expect.stringMatching(/is damaged\. Run fumi sync/) }),
  )
  expect(runInProcess(folder, app.directory, 'sync')).toMatchObject({ synced: { setAside: expect.any(String) } })
  await expectAgain(app)
})

test('a watcher rebuilds a damaged index and continues', async () => {
  const { folder, app, write } = testHome()
  manyLogs(write, 3, 4)
  const watcher = startProcess(folder, app.directory, 'watch')
  expect(await watcher.nextReport()).toEqual({ kind: 'watching' })
  damage(app)
  expect(totalOf(app)).toBe(-1)
  const path = write(rollout(OTHER), text([header({ id: OTHER }), user(1, 'New.')]))
  await expect.poll(() => totalOf(app)).toBe(4)
  appendFileSync(path, text([user(60, 'Still there?')]))
  const id = `codex:${OTHER}` as SessionId
  await expect.poll(() => app.session(id)?.messages).toBe(2)
  expect(damagedIn(app.directory)).toHaveLength(1)
  watcher.stop()
  expect(await watcher.nextReport()).toEqual({ kind: 'closed' })
})

function totalOf(app: TestHome['app']): number {
  try {
    return app.list().total
  } catch {
    return -1
  }
}

test('only the last damaged index is kept', async () => {
  const { app, write } = testHome()
  manyLogs(write, 2, 2)
  for (let n = 0; n < 3; n++) {
    await app.sync()
    app.close()
    damage(app)
  }
  await app.sync()
  expect(app.list().total).toBe(2)
  expect(damagedIn(app.directory)).toHaveLength(1)
})

test('an index of a newer version is refused and not touched', async () => {
  const { app, write, folder } = testHome()
  manyLogs(write, 1, 2)
  await app.sync()
  app.close()
  const path = join(app.directory, 'index.sqlite3')
  // Every version removes the seal when it opens the index.
  rmSync(`${path}.seal`)
  const db = openSqlite(path)
  db.pragma('user_version = 99')
  db.close()
  const before = readFileSync(path)
  const refused = { error: 'unusable_data', message: expect.stringMatching(/newer fumibako.*Update fumibako/) }
  expect(runInProcess(folder, app.directory, 'sync')).toMatchObject(refused)
  expect(runInProcess(folder, app.directory, 'read')).toMatchObject(refused)
  expect(readFileSync(path).equals(before)).toBe(true)
  expect(damagedIn(app.directory)).toEqual([])
})

test('an older database is migrated step by step by one process without data loss', () => {
  const path = join(tempFolder(), 'old.sqlite3')
  const first = 'CREATE TABLE note (text TEXT)'
  const second = "ALTER TABLE note ADD COLUMN colour TEXT; UPDATE note SET colour = 'white'"
  const third = 'CREATE INDEX by_colour ON note (colour)'
  const { application } = INDEX_FORMAT
  const old = openOwnDatabase(path, { application, migrations: [first] })
  old.prepare('INSERT INTO note VALUES (?)').run('an old note')
  old.close()
  for (let n = 0; n < 2; n++) {
    const now = openOwnDatabase(path, { application, migrations: [first, second, third] })
    expect(now.prepare('SELECT * FROM note').all()).toEqual([{ text: 'an old note', colour: 'white' }])
    expect(now.pragma('user_version', { simple: true })).toBe(3)
    now.close()
  }
  expect(() => openOwnDatabase(path, { application, migrations: [first] })).toThrow(/newer/)
  const broken = [first, second, third, 'CREATE TABLE more (a); SELECT wrong FROM nowhere']
  expect(() => openOwnDatabase(path, { application, migrations: broken })).toThrow()
  const after = openOwnDatabase(path, { application, migrations: [first, second, third] })
  expect(after.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'more'").get()).toBeUndefined()
  after.close()
  expect(existsSync(`${path}-wal`)).toBe(false)
})
