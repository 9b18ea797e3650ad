/** A forgotten session is removed from our files and stays away until the user wants it back. */
import { appendFileSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
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

/** The bytes of our files whose names begin like this. */
function everywhere({ app }: TestHome, ...names: readonly string[]): string {
  app.close()
  const files = readdirSync(app.directory).filter((name) => names.some((one) => name.startsWith(one)))
  return files.map((name) => readFileSync(join(app.directory, name), 'latin1')).join('')
}

test.skipIf(process.platform === 'win32')('words on disk are as private as the logs', async () => {
  const { app, write } = testHome()
  write(rollout(THREAD), text(shortSession()))
  await app.sync()
  expect(await app.search('file')).toMatchObject({ kind: 'found', complete: true })
  const names = readdirSync(app.directory).filter((name) => name.startsWith('index'))
  expect(names).toContain('index.sqlite3')
  for (const name of names)
    expect({ name, mode: statSync(join(app.directory, name)).mode & 0o777 }).toEqual({ name, mode: 0o600 })
  expect(statSync(app.directory).mode & 0o777).toBe(0o700)
})

test('forgetting removes it from list, search, totals and copies; its file stays, and sync does not restore it', async () => {
  const testMachine = testHome({ flags: new Map([['keep', 'all']]) })
  const { app, write, folder } = testMachine
  write(rollout(OTHER), text([header({ id: OTHER }), user(1, 'Another please.'), tokens(2, 5, 5)]))
  await app.sync()
  const without = await contentOf(app)
  const path = write(rollout(THREAD), text(shortSession()))
  write(rollout(THREAD, 'archived_sessions'), text(shortSession()))
  const bytes = readFileSync(path)
  await app.sync()
  expect(app.list().total).toBe(2)
  const { revision } = app.index
  await app.forget(ID)
  expect(app.session(ID)).toBeUndefined()
  expect(app.changesSince(revision)).toMatchObject([{ kind: 'removed', session: ID }])
  expect(app.backup.files.list()).toHaveLength(1)
  expect(everywhere(testMachine, 'index.sqlite3')).toContain('another')
  const bytesLeft = everywhere(testMachine, 'index.sqlite3')
  expect(
    ['please', 'files', 'List the', 'environment_context', 'vironment'].filter((word) => bytesLeft.includes(word)),
  ).toEqual(['please'])
  for (let n = 0; n < 2; n++) {
    await app.sync()
    expect(app.list({ kind: 'any' }).total).toBe(1)
    expect(await app.search('please')).toMatchObject({
      total: 1,
      hits: [{ session_id: `codex:${OTHER}` }],
      complete: true,
    })
  }
  expect(await app.sync()).toMatchObject({ synced: { scanned: 0, read: 0 } })
  expect(readFileSync(path).equals(bytes)).toBe(true)
  appendFileSync(path, text([user(60, 'More please.'), assistant(61, 'No.'), tokens(62, 9999, 1)]))
  await app.sync()
  expect(await app.totals({ kind: 'any' })).toMatchObject({ sessions: 1, usage: { total_tokens: 10 } })
  app.close()
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(app.directory, `index.sqlite3${suffix}`), { force: true })
  await app.sync()
  const { stats: _, totals: _now, ...now } = (await contentOf(app)) as { stats: unknown; totals: unknown }
  const { stats: __, totals: _then, ...then } = without as { stats: unknown; totals: unknown }
  expect(now).toEqual(then)
  await expect(app.forget(ID)).rejects.toMatchObject({ code: 'not_found' })
  expect(app.backup.forgotten()).toMatchObject([{ session: ID }])
  expect(app.backup.unforget(ID)).toBe(true)
  await app.sync()
  const fresh = testHome({}, folder, join(folder, 'fresh')).app
  await fresh.sync()
  expect(await contentOf(app)).toEqual(await contentOf(fresh))
})

test('forgetting deletes a backed-up conversation but keeps data shared with others', async () => {
  const testMachine = testHome()
  const { app, folder } = testMachine
  const store = makeStore(join(folder, 'data', 'amazon-q', 'data.sqlite3'))
  const texts = (prompt: string) => ({ prompt, answer: `Answer to ${prompt}` })
  store.put('/code', stateOf('one', [texts('Shared-beginning'), texts('Secret-end')]))
  store.put('/other', stateOf('two', [texts('Unrelated')]))
  await app.sync()
  // Rewinds and continues differently: two sessions with a common first entry.
  store.put('/code', stateOf('one', [texts('Shared-beginning'), texts('Public-end')]))
  await app.sync()
  const [branch] = app.list().sessions.filter(({ id }) => id.includes('~'))
  expect(app.list().total).toBe(3)
  const others = (['amazon-q:one', 'amazon-q:two'] as SessionId[]).map((id) => [id, app.backup.bytes(id)] as const)
  await app.forget(branch?.id as SessionId)
  await app.sync()
  expect(app.list().total).toBe(2)
  for (const [id, bytes] of others) expect(app.backup.bytes(id)).toEqual(bytes)
  await app.forget('amazon-q:two' as SessionId)
  await app.sync()
  expect(app.list().sessions.map(({ id }) => id)).toEqual(['amazon-q:one'])
  expect(app.backup.list().map(({ session }) => session)).toEqual(['amazon-q:one'])
  expect(everywhere(testMachine, 'keep.sqlite3')).not.toMatch(/Secret-end|Unrelated/)
  expect(store.value('/other')).toContain('Unrelated')
  // Continuing does not undo the forgetting. Restarted under the same id, it is another conversation.
  store.put('/other', stateOf('two', [texts('Unrelated'), texts('More')]))
  await app.sync()
  expect(app.list().total).toBe(1)
  store.put('/other', stateOf('two', [texts('New beginning')]))
  await app.sync()
  expect(app.list().total).toBe(2)
  expect(await app.search('beginning')).toMatchObject({ total: 4 })
  store.close()
})

test('forgetting works while another process watches, which does not restore it', async () => {
  const { folder, app, write } = testHome()
  const path = write(rollout(THREAD), text(shortSession()))
  write(rollout(OTHER), text([header({ id: OTHER }), user(1, 'Another.')]))
  const watcher = startProcess(folder, app.directory, 'watch')
  expect(await watcher.nextReport()).toEqual({ kind: 'watching' })
  await app.forget(ID)
  expect(app.list().total).toBe(1)
  appendFileSync(path, text([user(60, 'Still there?')]))
  write(rollout(OTHER), text([header({ id: OTHER }), user(1, 'Another.'), user(2, 'And one more.')]))
  const other = `codex:${OTHER}` as SessionId
  await expect.poll(() => app.session(other)?.messages).toBe(2)
  expect(app.list().total).toBe(1)
  watcher.stop()
  expect(await watcher.nextReport()).toEqual({ kind: 'closed' })
  await app.sync()
  expect(app.list().total).toBe(1)
})

test('forgetting waits for a process that writes the index', async () => {
  const { app, write } = testHome()
  write(rollout(THREAD), text(shortSession()))
  write(rollout(OTHER), text([header({ id: OTHER }), user(1, 'Another.')]))
  const watch = await app.watch()
  if (watch.kind !== 'watching') throw new Error('somebody else watches')
  await watch.ready
  const epoch = app.index.epoch
  markIndexSuspect(app.directory)
  await app.forget(ID)
  expect(app.list().total).toBe(1)
  expect(app.index.epoch).toBe(epoch)
  expect(readdirSync(app.directory).filter((name) => name.includes('damaged'))).toEqual([])
  expect(takeIndexLock(app.directory, 'test').kind).toBe('held')
  await watch.close()
})
