/** What an agent writes is seen at once, without a look at all the rest. */
import { appendFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { House } from '../../src/app.ts'
import type { Change } from '../../src/archive/record.ts'
import type { SessionId } from '../../src/model/ids.ts'
import { header, THREAD, talk, text, user } from '../support/log.ts'
import { makeStore, stateOf } from '../support/q-store.ts'
import { home, rollout } from './house.ts'

const OTHER = '019c0000-0000-7000-8000-000000000002'
const open: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

/** The next change of a session that satisfies what is expected. */
async function watching(house: House): Promise<(session: string, until: () => boolean) => Promise<void>> {
  const watch = await house.watch()
  if (watch.kind !== 'watching') throw new Error('somebody else watches')
  open.push(watch.close)
  await watch.ready
  const changes = house.changes()
  return async (session, until) => {
    while (!until()) {
      const { value } = (await changes.next()) as { value: Change }
      expect(value.revision).toBeGreaterThan(0)
      if (value.session !== session) continue
    }
  }
}

test('an append, a new file and a file that goes are seen', async () => {
  const { house, write } = home()
  const path = write(rollout(THREAD), text(talk()))
  const seen = await watching(house)
  expect(house.list().total).toBe(1)
  const id = `codex:${THREAD}` as SessionId
  setTimeout(() => appendFileSync(path, text([user(60, 'Still there?')])), 20)
  await seen(id, () => house.session(id)?.messages === 3 && house.session(id)?.indexed === true)
  const other = `codex:${OTHER}` as SessionId
  setTimeout(() => write(rollout(OTHER), text([header({ id: OTHER }), user(61, 'A new one.')])), 20)
  await seen(other, () => house.session(other)?.indexed === true)
  setTimeout(() => rmSync(path), 20)
  await seen(id, () => house.session(id)?.gone === true)
})

test('closed before it is ready, it is done, and begins nothing more', async () => {
  const { house, write } = home()
  write(rollout(THREAD), text(talk()))
  const watch = await house.watch()
  if (watch.kind !== 'watching') throw new Error('somebody else watches')
  await watch.close()
  expect(await watch.ready).toMatchObject({ sources: 0 })
  expect(await watch.sync()).toMatchObject({ sources: 0 })
  expect(await house.sync()).toMatchObject({ kind: 'synced', synced: { sources: 1 } })
})

test('a file in a folder that was not there before is seen', async () => {
  const { house, write } = home()
  write(rollout(THREAD), text(talk()))
  const seen = await watching(house)
  const other = `codex:${OTHER}` as SessionId
  setTimeout(
    () => write(rollout(OTHER, 'sessions/2026/02/04'), text([header({ id: OTHER }), user(61, 'Next day.')])),
    20,
  )
  await seen(other, () => house.session(other)?.indexed === true)
})

test('a home that comes, goes and comes again is seen', async () => {
  const { house, folder, write } = home()
  const seen = await watching(house)
  expect(house.list().total).toBe(0)
  write(rollout(THREAD), text(talk()))
  const id = `codex:${THREAD}` as SessionId
  await seen(id, () => house.session(id)?.indexed === true)
  rmSync(join(folder, '.codex'), { recursive: true })
  await seen(id, () => house.session(id)?.gone === true)
  write(rollout(THREAD), text(talk()))
  await seen(id, () => house.session(id)?.gone === false)
  write(rollout(OTHER), text([header({ id: OTHER }), user(61, 'A new one.')]))
  const other = `codex:${OTHER}` as SessionId
  await seen(other, () => house.session(other)?.indexed === true)
})

test('a file that is a root by itself is seen to grow', async () => {
  const { write } = home()
  const one = JSON.stringify({ messages: [{ role: 'user', content: 'First?' }] })
  const path = write('elsewhere/chat.jsonl', `${one}\n`)
  const { house } = home({ roots: [path] })
  const seen = await watching(house)
  expect(house.list().total).toBe(1)
  appendFileSync(path, `${one.replace('First', 'Second')}\n`)
  await seen('', () => house.list().total === 2)
})

test('a commit to a store is seen', async () => {
  const { house, folder } = home()
  const store = makeStore(join(folder, 'data', 'amazon-q', 'data.sqlite3'))
  store.put('/code', stateOf('one', [{ prompt: 'First?', answer: 'Yes.' }]))
  const seen = await watching(house)
  const id = 'amazon-q:one' as SessionId
  setTimeout(
    () =>
      store.put(
        '/code',
        stateOf('one', [
          { prompt: 'First?', answer: 'Yes.' },
          { prompt: 'And?', answer: 'No.' },
        ]),
      ),
    20,
  )
  await seen(id, () => house.session(id)?.messages === 4)
  store.close()
})

test('a second process is told that somebody watches', async () => {
  const { house, folder, write } = home()
  write(rollout(THREAD), text(talk()))
  await watching(house)
  const second = home({}, folder).house
  expect(await second.sync()).toMatchObject({ kind: 'held', by: { pid: process.pid, what: 'watch' } })
  expect(second.list().total).toBe(1)
})
