/** A session that the user does not want is gone from our side, and stays away until it is wanted again. */
import { appendFileSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { doubt } from '../../src/archive/index-file.ts'
import { takeLock } from '../../src/archive/lock.ts'
import type { SessionId } from '../../src/model/ids.ts'
import { assistant, header, THREAD, talk, text, tokens, user } from '../support/log.ts'
import { makeStore, stateOf } from '../support/q-store.ts'
import { contentOf } from './content.ts'
import { type Home, home, rollout } from './house.ts'
import { visitor } from './visits.ts'

const ID = `codex:${THREAD}` as SessionId
const OTHER = '019c0000-0000-7000-8000-000000000002'

/** No word of it is in any of our files, but for the text's index, which drops words when it next puts its parts together. */
function everywhere({ house }: Home, ...names: readonly string[]): string {
  house.close()
  const files = readdirSync(house.directory).filter((name) => names.some((one) => name.startsWith(one)))
  return files.map((name) => readFileSync(join(house.directory, name), 'latin1')).join('')
}

test('it leaves list, search, sums and copies; its file stays, and no sync brings it back', async () => {
  const made = home({ flags: new Map([['keep', 'all']]) })
  const { house, write, folder } = made
  write(rollout(OTHER), text([header({ id: OTHER }), user(1, 'Another please.'), tokens(2, 5, 5)]))
  await house.sync()
  const without = await contentOf(house)
  const path = write(rollout(THREAD), text(talk()))
  write(rollout(THREAD, 'archived_sessions'), text(talk()))
  const bytes = readFileSync(path)
  await house.sync()
  expect(house.list().total).toBe(2)
  const { revision } = house.index
  await house.forget(ID)
  expect(house.session(ID)).toBeUndefined()
  expect(house.changesSince(revision)).toMatchObject([{ session: ID, removed: true }])
  expect(house.keep.copies.list()).toHaveLength(1)
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
  expect(house.keep.forgotten()).toMatchObject([{ session: ID }])
  expect(house.keep.remember(ID)).toBe(true)
  await house.sync()
  const fresh = home({}, folder, join(folder, 'fresh')).house
  await fresh.sync()
  expect(await contentOf(house)).toEqual(await contentOf(fresh))
})

test('a kept conversation leaves the keep with all that is its own; what others share stays', async () => {
  const made = home()
  const { house, folder } = made
  const store = makeStore(join(folder, 'data', 'amazon-q', 'data.sqlite3'))
  const said = (prompt: string) => ({ prompt, answer: `Answer to ${prompt}` })
  store.put('/code', stateOf('one', [said('Shared-beginning'), said('Secret-end')]))
  store.put('/other', stateOf('two', [said('Unrelated')]))
  await house.sync()
  // It goes back and goes on otherwise: two sessions that share their first entry.
  store.put('/code', stateOf('one', [said('Shared-beginning'), said('Public-end')]))
  await house.sync()
  const [branch] = house.list().sessions.filter(({ id }) => id.includes('~'))
  expect(house.list().total).toBe(3)
  const others = (['amazon-q:one', 'amazon-q:two'] as SessionId[]).map((id) => [id, house.keep.bytes(id)] as const)
  await house.forget(branch?.id as SessionId)
  await house.sync()
  expect(house.list().total).toBe(2)
  for (const [id, bytes] of others) expect(house.keep.bytes(id)).toEqual(bytes)
  await house.forget('amazon-q:two' as SessionId)
  await house.sync()
  expect(house.list().sessions.map(({ id }) => id)).toEqual(['amazon-q:one'])
  expect(house.keep.list().map(({ session }) => session)).toEqual(['amazon-q:one'])
  expect(everywhere(made, 'keep.sqlite3')).not.toMatch(/Secret-end|Unrelated/)
  expect(store.value('/other')).toContain('Unrelated')
  // It goes on, which does not make it wanted; begun anew under the same id it is another conversation.
  store.put('/other', stateOf('two', [said('Unrelated'), said('More')]))
  await house.sync()
  expect(house.list().total).toBe(1)
  store.put('/other', stateOf('two', [said('New beginning')]))
  await house.sync()
  expect(house.list().total).toBe(2)
  expect(await house.search('beginning')).toMatchObject({ total: 4 })
  store.close()
})

test('it works beside a process that watches, which does not bring it back', async () => {
  const { folder, house, write } = home()
  const path = write(rollout(THREAD), text(talk()))
  write(rollout(OTHER), text([header({ id: OTHER }), user(1, 'Another.')]))
  const watcher = visitor(folder, house.directory, 'watch')
  expect(await watcher.heard()).toEqual({ kind: 'watching' })
  await house.forget(ID)
  expect(house.list().total).toBe(1)
  appendFileSync(path, text([user(60, 'Still there?')]))
  write(rollout(OTHER), text([header({ id: OTHER }), user(1, 'Another.'), user(2, 'And one more.')]))
  const other = `codex:${OTHER}` as SessionId
  await expect.poll(() => house.session(other)?.messages, { timeout: 30_000 }).toBe(2)
  expect(house.list().total).toBe(1)
  watcher.stop()
  expect(await watcher.heard()).toEqual({ kind: 'closed' })
  await house.sync()
  expect(house.list().total).toBe(1)
})

test('it does not take the index away from a process that writes it', async () => {
  const { house, write } = home()
  write(rollout(THREAD), text(talk()))
  write(rollout(OTHER), text([header({ id: OTHER }), user(1, 'Another.')]))
  const watch = await house.watch()
  if (watch.kind !== 'watching') throw new Error('somebody else watches')
  await watch.ready
  const epoch = house.index.epoch
  doubt(house.directory)
  await house.forget(ID)
  expect(house.list().total).toBe(1)
  expect(house.index.epoch).toBe(epoch)
  expect(readdirSync(house.directory).filter((name) => name.includes('damaged'))).toEqual([])
  expect(takeLock(house.directory, 'test').kind).toBe('held')
  await watch.close()
})
