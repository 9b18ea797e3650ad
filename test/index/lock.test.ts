/** Locks exclude other processes, even if their own process tries again. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { takeIndexLock } from '../../src/index/lock.ts'
import { tryLockFile } from '../../src/lib/sqlite/locks.ts'
import { tempFolder } from '../support/codex-log.ts'
import { startOwner } from '../support/database-owner.ts'

const folder = tempFolder()

interface Held {
  release(): void
}

function take(directory: string): Held | undefined {
  const taken = takeIndexLock(directory, 'test')
  return taken.kind === 'taken' ? taken.lock : undefined
}

test.each([
  ['of a file', join(folder, 'one.lock'), () => tryLockFile(join(folder, 'one.lock'))],
  ['of the index', join(folder, 'lock'), () => take(folder)],
])('a lock %s that is requested again is not released', async (_, path, lock) => {
  const openChat = lock()
  expect(openChat).toBeDefined()
  const other = await startOwner(path, 'as it is', 0)
  await expect(other.exec('BEGIN IMMEDIATE')).rejects.toThrow('SQLITE_BUSY')
  expect(lock()).toBeUndefined()
  await expect(other.exec('BEGIN IMMEDIATE')).rejects.toThrow('SQLITE_BUSY')
  openChat?.release()
  await other.exec('BEGIN IMMEDIATE')
  expect(lock()).toBeUndefined()
  await other.close()
  lock()?.release()
})
