/** A session that the user does not want is gone from our side, and stays away until it is wanted again. */
import { appendFileSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { markIndexSuspect } from '../../src/index/index-file.ts'
import { takeIndexLock } from '../../src/index/lock.ts'
import type { SessionId } from '../../src/model/ids.ts'
import { makeStore, stateOf } from '../support/amazon-q-store.ts'
import { assistant, header, shortSession, THREAD, text, tokens, user } from '../support/codex-log.ts'
import { rollout, type TestHome, testHome } from '../support/test-home.ts'
import { startProcess } from '../sync/app-process.ts'
import { contentOf } from './index-content.ts'

const ID = `codex:${THREAD}` as SessionId
const OTHER = '019c0000-0000-7000-8000-000000000002'

/** No word of it is in any of our files, but for the text's index, which drops words when it next puts its parts together. */
function everywhere({ app: house }: TestHome, ...names: readonly string[]): string {
  house.close()
  const files = readdirSync(house.directory).filter((name) => names.some((one) => name.startsWith(one)))
  return files.map((name) => readFileSync(join(house.directory, name), 'latin1')).join('')
}

test('forgetting removes it from list, search, totals and copies; its file stays, and sync does not restore it', async () => {
  const testMachine = testHome({ flags: new Map([['keep', 'all']]) })
  const { app: house, write, folder } = testMachine
  write(rollout(OTHER), text([header({ id: OTHER }), user(1, 'Another please.'), tokens(2, 5, 5)]))
  await house.sync()
  const without = await contentOf(house)
  const path = write(rollout(THREAD), text(shortSession()))
  write(rollout(THREAD, 'archived_sessions'), text(shortSession()))
  const bytes = readFileSync(path)
  await house.sync()
  expect(house.list().total).toBe(2)
  const { revision } = house.index
  await house.forget(ID)
  expect(house.session(ID)).toBeUndefined()
  expect(house.changesSince(revision)).toMatchObject([{ session: ID, removed: true }])
  expect(house.backup.copies.list()).toHaveLength(1)
  for (let n = 0; n < 2; n++) {
    await house.sync()
    expect(house.list({ kind: 'any' }).total).toBe(1)
    expect(await house.search('please')).toMatchObject({
      total: 1,
      hits: [{ session_id: `codex:${OTHER}` }],
      complete: true,
    })
  }
  expect(await house.sync()).toMatchObject({ synced: { scanned: 0, read: 0 } })
  expect(readFileSync(path).equals(bytes)).toBe(true)
  appendFileSync(path, text([user(60, 'More please.'), assistant(61, 'No.'), tokens(62, 9999, 1)]))
  await house.sync()
  expect(await house.totals({ kind: 'any' })).toMatchObject({ sessions: 1, usage: { total_tokens: 10 } })
  house.close()
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(house.directory, `index.sqlite3${suffix}`), { force: true })
  await house.sync()
  const { stats: _, totals: _now, ...now } = (await contentOf(house)) as { stats: unknown; totals: unknown }
  const { stats: __, totals: _then, ...then } = without as { stats: unknown; totals: unknown }
  expect(now).toEqual(then)
  await expect(house.forget(ID)).rejects.toMatchObject({ code: 'not_found' })
  expect(house.backup.forgotten()).toMatchObject([{ session: ID }])
  expect(house.backup.unforget(ID)).toBe(true)
  await house.sync()
  const fresh = testHome({}, folder, join(folder, 'fresh')).app
  await fresh.sync()
  expect(await contentOf(house)).toEqual(await contentOf(fresh))
})

test('forgetting deletes a backed-up conversation but keeps data shared with others', async () => {
  const testMachine = testHome()
  const { app: house, folder } = testMachine
  const store = makeStore(join(folder, 'data', 'amazon-q', 'data.sqlite3'))
  const texts = (prompt: string) => ({ prompt, answer: `Answer to ${prompt}` })
  store.put('/code', stateOf('one', [texts('Shared-beginning'), texts('Secret-end')]))
  store.put('/other', stateOf('two', [texts('Unrelated')]))
  await house.sync()
  // It goes back and goes on otherwise: two sessions that share their first entry.
  store.put('/code', stateOf('one', [texts('Shared-beginning'), texts('Public-end')]))
  await house.sync()
  const [branch] = house.list().sessions.filter(({ id }) => id.includes('~'))
  expect(house.list().total).toBe(3)
  const others = (['amazon-q:one', 'amazon-q:two'] as SessionId[]).map((id) => [id, house.backup.bytes(id)] as const)
  await house.forget(branch?.id as SessionId)
  await house.sync()
  expect(house.list().total).toBe(2)
  for (const [id, bytes] of others) expect(house.backup.bytes(id)).toEqual(bytes)
  await house.forget('amazon-q:two' as SessionId)
  await house.sync()
  expect(house.list().sessions.map(({ id }) => id)).toEqual(['amazon-q:one'])
  expect(house.backup.list().map(({ session }) => session)).toEqual(['amazon-q:one'])
  expect(everywhere(testMachine, 'keep.sqlite3')).not.toMatch(/Secret-end|Unrelated/)
  expect(store.value('/other')).toContain('Unrelated')
  // It goes on, which does not make it wanted; begun anew under the same id it is another conversation.
  store.put('/other', stateOf('two', [texts('Unrelated'), texts('More')]))
  await house.sync()
  expect(house.list().total).toBe(1)
  store.put('/other', stateOf('two', [texts('New beginning')]))
  await house.sync()
  expect(house.list().total).toBe(2)
  expect(await house.search('beginning')).toMatchObject({ total: 4 })
  store.close()
})

test('forgetting works while another process watches, which does not restore it', async () => {
  const { folder, app: house, write } = testHome()
  const path = write(rollout(THREAD), text(shortSession()))
  write(rollout(OTHER), text([header({ id: OTHER }), user(1, 'Another.')]))
  const watcher = startProcess(folder, house.directory, 'watch')
  expect(await watcher.nextReport()).toEqual({ kind: 'watching' })
  await house.forget(ID)
  expect(house.list().total).toBe(1)
  appendFileSync(path, text([user(60, 'Still there?')]))
  write(rollout(OTHER), text([header({ id: OTHER }), user(1, 'Another.'), user(2, 'And one more.')]))
  const other = `codex:${OTHER}` as SessionId
  await expect.poll(() => house.session(other)?.messages, { timeout: 30_000 }).toBe(2)
  expect(house.list().total).toBe(1)
  watcher.stop()
  expect(await watcher.nextReport()).toEqual({ kind: 'closed' })
  await house.sync()
  expect(house.list().total).toBe(1)
})

test('forgetting waits for a process that writes the index', async () => {
  const { app: house, write } = testHome()
  write(rollout(THREAD), text(shortSession()))
  write(rollout(OTHER), text([header({ id: OTHER }), user(1, 'Another.')]))
  const watch = await house.watch()
  if (watch.kind !== 'watching') throw new Error('somebody else watches')
  await watch.ready
  const epoch = house.index.epoch
  markIndexSuspect(house.directory)
  await house.forget(ID)
  expect(house.list().total).toBe(1)
  expect(house.index.epoch).toBe(epoch)
  expect(readdirSync(house.directory).filter((name) => name.includes('damaged'))).toEqual([])
  expect(takeIndexLock(house.directory, 'test').kind).toBe('held')
  await watch.close()
})
