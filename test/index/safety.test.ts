/** The index is the same however its creation is interrupted, and foreign files in its place are detected. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqlite } from '../../src/lib/sqlite/driver.ts'
import { shortSession, THREAD, tempFolder, text } from '../support/codex-log.ts'
import { manyLogs } from '../support/many-logs.ts'
import { rollout, testHome } from '../support/test-home.ts'
import { killAt } from '../sync/killed-sync.ts'

const SYNCER = join(import.meta.dirname, '..', 'sync', 'sync-process.mjs')

test('an index built by killed syncs equals one built in one run', async () => {
  expect((await killAt(5, 1, { count: 8, turns: 50 })).finished).toBeGreaterThan(0)
})

test('with two processes one writes, the other reports it, and both read', async () => {
  const { folder, write } = testHome()
  manyLogs(write, 12, 40)
  const data = join(folder, 'both')
  const children = [0, 1].map(() =>
    spawn(process.execPath, [SYNCER, folder, data], { stdio: ['ignore', 'pipe', 'inherit'] }),
  )
  const texts = await Promise.all(
    children.map(async (child) => {
      let out = ''
      child.stdout.on('data', (piece) => {
        out += String(piece)
      })
      const [code] = await once(child, 'exit')
      expect(code).toBe(0)
      return out.replaceAll('.', '')
    }),
  )
  expect(texts).toContain('synced')
  const { app } = testHome({}, folder, data)
  await app.sync()
  expect(app.list({ children: 'all' }).total).toBe(12)
  expect(app.list({ children: 'all', limit: 100 }).sessions.every(({ indexed }) => indexed)).toBe(true)
})

test('a damaged index is moved away and rebuilt', async () => {
  const { app, write } = testHome()
  write(rollout(THREAD), text(shortSession()))
  await app.sync()
  app.close()
  const path = join(app.directory, 'index.sqlite3')
  for (const suffix of ['-wal', '-shm']) if (existsSync(path + suffix)) truncateSync(path + suffix)
  writeFileSync(path, 'no database at all'.repeat(1000))
  await app.sync()
  expect(app.list().total).toBe(1)
  expect(readdirSync(app.directory).some((name) => name.startsWith('index.sqlite3.damaged-'))).toBe(true)
})

test('an index of a newer version is not modified', async () => {
  const { app, write } = testHome()
  write(rollout(THREAD), text(shortSession()))
  await app.sync()
  app.close()
  const path = join(app.directory, 'index.sqlite3')
  // Every version removes the seal when it opens the index.
  rmSync(`${path}.seal`)
  const newer = openSqlite(path)
  newer.pragma('user_version = 99')
  newer.close()
  await expect(app.sync()).rejects.toMatchObject({ code: 'unusable_data' })
  expect(() => app.list()).toThrow(/newer/)
})

test('a data directory that cannot be created is a clear error', async () => {
  const folder = tempFolder()
  writeFileSync(join(folder, 'file'), '')
  mkdirSync(join(folder, '.codex', 'sessions'), { recursive: true })
  const { app } = testHome({}, folder, join(folder, 'file', 'fumi'))
  await expect(app.sync()).rejects.toMatchObject({ code: 'no_permission' })
})
