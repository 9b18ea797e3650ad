/**
 * Full, inaccessible or damaged disks: the message says what to do, stored data remains, and existing data is readable.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, cpSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeStore, stateOf } from '../support/amazon-q-store.ts'
import { shortSession, THREAD, tempFolder, text } from '../support/codex-log.ts'
import { manyLogs } from '../support/many-logs.ts'
import { ordinaryUser } from '../support/ordinary-user.ts'
import { rollout, testHome } from '../support/test-home.ts'
import { runInProcess } from '../sync/app-process.ts'
import { contentOf } from './index-content.ts'

const isRoot = process.getuid?.() === 0

/** A home directory with a backed-up conversation and some logs. */
function furnished(sessions: number, turns: number) {
  const testMachine = testHome()
  const store = makeStore(join(testMachine.folder, 'data', 'amazon-q', 'data.sqlite3'))
  store.put('/code', stateOf('one', [{ prompt: 'First?', answer: 'An answer.' }]))
  manyLogs(testMachine.write, sessions, turns)
  return { ...testMachine, store }
}

describe('a full disk', () => {
  const FULL = {
    error: 'cannot_write',
    message: expect.stringMatching(/^The disk (?:is full|failed).*(?:Free some space|Check the disk)/),
  }

  async function expectWhole(folder: string, data: string): Promise<void> {
    expect(runInProcess(folder, data, 'sync')).toMatchObject({ kind: 'synced' })
    const complete = testHome({}, folder, join(tempFolder(), 'whole')).app
    await complete.sync()
    const { app } = testHome({}, folder, data)
    expect(app.backup.list()).toMatchObject([{ session: 'amazon-q:one' }])
    expect(await contentOf(app)).toEqual(await contentOf(complete))
    app.close()
    complete.close()
  }

  test('is reported, keeps backups intact, and the next sync with space continues', async (context) => {
    const { folder } = furnished(6, 60)
    const data = join(tempFolder(), 'disk')
    mkdirSync(data)
    const mount = (size: string, how: string) =>
      spawnSync('mount', ['-t', 'tmpfs', '-o', `${how}size=${size}`, 'tmpfs', data])
    if (mount('700k', '').status !== 0) {
      console.log('skipped: a small disk cannot be mounted by this user')
      context.skip()
    }
    try {
      expect(runInProcess(folder, data, 'sync')).toMatchObject(FULL)
      spawnSync('sh', ['-c', 'cat /dev/zero > "$0"', join(data, 'more')])
      // Existing data is readable on a disk without a free byte.
      expect(runInProcess(folder, data, 'read')).toMatchObject({ kept: 1 })
      expect(runInProcess(folder, data, 'sync')).toMatchObject(FULL)
      rmSync(join(data, 'more'))
      mount('64m', 'remount,')
      await expectWhole(folder, data)
    } finally {
      spawnSync('umount', [data])
    }
  })

  test.skipIf(process.platform === 'win32')('a file with a size limit behaves the same', async () => {
    const { folder } = furnished(6, 60)
    const data = join(folder, 'small')
    for (const blocks of [200, 400, 600]) expect(runInProcess(folder, data, 'sync', { blocks })).toMatchObject(FULL)
    await expectWhole(folder, data)
  })
})

describe.skipIf(process.platform === 'win32')('a read-only data directory', () => {
  test('can be read, and sync reports why it does nothing', async ({ skip }) => {
    const user = ordinaryUser()
    if (typeof user === 'string') return skip(user)
    const { folder, app, store } = furnished(2, 4)
    await app.sync()
    app.close()
    store.close()
    const data = join(tempFolder(), 'closed')
    cpSync(app.directory, data, { recursive: true })
    const names = readdirSync(data)
    const close = (mode: number): void => {
      for (const name of names) chmodSync(join(data, name), mode === 0o500 ? 0o444 : 0o600)
      chmodSync(data, mode === 0o500 ? 0o555 : 0o700)
    }
    if (isRoot) for (const path of [folder, join(data, '..')]) chmodSync(path, 0o755)
    close(0o500)
    try {
      expect(runInProcess(folder, data, 'sync', { user })).toMatchObject({
        error: 'no_permission',
        message: expect.stringMatching(/cannot be opened for writing.*FUMI_HOME/),
      })
      expect(runInProcess(folder, data, 'read', { user })).toMatchObject({ total: 3, kept: 1, hits: 9, bodies: 63 })
      expect(readdirSync(data)).toEqual(names)
    } finally {
      close(0o700)
    }
    expect(runInProcess(folder, data, 'sync')).toMatchObject({ kind: 'synced', synced: { scanned: 0 } })
  })

  test('a read-only home is a clear error', ({ skip }) => {
    const user = ordinaryUser()
    if (typeof user === 'string') return skip(user)
    const folder = tempFolder()
    mkdirSync(join(folder, '.codex', 'sessions'), { recursive: true })
    const closed = join(folder, 'closed')
    mkdirSync(closed)
    if (isRoot) chownSync(closed, 0, 0)
    chmodSync(closed, 0o555)
    chmodSync(folder, 0o755)
    expect(runInProcess(folder, join(closed, 'fumi'), 'sync', { user })).toMatchObject({
      error: 'no_permission',
      message: expect.stringContaining('FUMI_HOME'),
    })
    expect(runInProcess(folder, join(closed, 'fumi'), 'read', { user })).toMatchObject({ total: 0 })
  })
})

test.skipIf(process.platform === 'win32')(
  'unreadable logs are reported, keep their indexed data, and do not stop the sync',
  async ({ skip }) => {
    const user = ordinaryUser()
    if (typeof user === 'string') return skip(user)
    const { folder, write, app } = testHome()
    manyLogs(write, 1, 3)
    const path = write(rollout(THREAD, 'sessions/2026/03/01'), text(shortSession()))
    const data = app.directory
    mkdirSync(data, { recursive: true })
    if (isRoot) for (const one of [folder, data]) chmodSync(one, 0o777)
    expect(runInProcess(folder, data, 'sync', { user })).toMatchObject({ kind: 'synced', synced: { sources: 2 } })
    const shut = join(path, '..')
    const { mode } = statSync(shut)
    chmodSync(path, 0)
    expect(runInProcess(folder, data, 'sync', { user })).toMatchObject({ kind: 'synced' })
    expect(runInProcess(folder, data, 'read', { user })).toMatchObject({ total: 2, bodies: 23 })
    chmodSync(shut, 0o444)
    expect(runInProcess(folder, data, 'sync', { user })).toMatchObject({ kind: 'synced' })
    expect(runInProcess(folder, data, 'read', { user })).toMatchObject({ total: 2, bodies: 23 })
    chmodSync(shut, mode)
    chmodSync(path, 0o644)
    expect(runInProcess(folder, data, 'sync', { user })).toMatchObject({ kind: 'synced' })
    expect(runInProcess(folder, data, 'read', { user })).toMatchObject({ total: 2, bodies: 34 })
  },
)
