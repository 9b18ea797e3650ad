/** The index is the same whatever interrupts its making, and nothing that lies in its place is taken for it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqlite } from '../../src/lib/sqlite/driver.ts'
import { THREAD, talk, tempFolder, text } from '../support/log.ts'
import { home, rollout } from './house.ts'
import { killAt } from './killing.ts'
import { manyLogs } from './logs.ts'

const SYNCER = join(import.meta.dirname, 'syncer.mjs')

test('killed at five moments, the index equals one that was made in one go', async () => {
  expect((await killAt(5, 1, { count: 8, turns: 50 })).finished).toBeGreaterThan(0)
})

test('two processes at once: one writes, the other is told, and both read', async () => {
  const { folder, write } = home()
  manyLogs(write, 12, 40)
  const data = join(folder, 'both')
  const children = [0, 1].map(() =>
    spawn(process.execPath, [SYNCER, folder, data], { stdio: ['ignore', 'pipe', 'inherit'] }),
  )
  const said = await Promise.all(
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
  expect(said).toContain('synced')
  const { house } = home({}, folder, data)
  await house.sync()
  expect(house.list({ children: 'all' }).total).toBe(12)
  expect(house.list({ children: 'all', limit: 100 }).sessions.every(({ indexed }) => indexed)).toBe(true)
})

test('a damaged index is set aside and made again', async () => {
  const { house, write } = home()
  write(rollout(THREAD), text(talk()))
  await house.sync()
  house.close()
  const path = join(house.directory, 'index.sqlite3')
  for (const suffix of ['-wal', '-shm']) if (existsSync(path + suffix)) truncateSync(path + suffix)
  writeFileSync(path, 'no database at all'.repeat(1000))
  await house.sync()
  expect(house.list().total).toBe(1)
  expect(readdirSync(house.directory).some((name) => name.startsWith('index.sqlite3.damaged-'))).toBe(true)
})

test('an index of a newer version is left alone', async () => {
  const { house, write } = home()
  write(rollout(THREAD), text(talk()))
  await house.sync()
  house.close()
  const path = join(house.directory, 'index.sqlite3')
  const newer = openSqlite(path)
  newer.pragma('user_version = 99')
  newer.close()
  await expect(house.sync()).rejects.toMatchObject({ code: 'unusable_data' })
  expect(() => house.list()).toThrow(/newer/)
})

test('a data directory that cannot be made is an error that says so', async () => {
  const folder = tempFolder()
  writeFileSync(join(folder, 'file'), '')
  mkdirSync(join(folder, '.codex', 'sessions'), { recursive: true })
  const { house } = home({}, folder, join(folder, 'file', 'fumi'))
  await expect(house.sync()).rejects.toMatchObject({ code: 'no_permission' })
})
