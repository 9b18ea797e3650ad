/** Changes by an agent are noticed immediately, without a full sweep. */
import { appendFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { App } from '../../src/app.ts'
import type { SessionChange } from '../../src/index/records.ts'
import type { SessionId } from '../../src/model/ids.ts'
import { makeStore, stateOf } from '../support/amazon-q-store.ts'
import { header, shortSession, THREAD, text, user } from '../support/codex-log.ts'
import { rollout, testHome } from '../support/test-home.ts'

const OTHER = '019c0000-0000-7000-8000-000000000002'
const open: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

/** Resolves at the next change of a session that meets the condition. */
async function watching(application: App): Promise<(session: string, until: () => boolean) => Promise<void>> {
  const watch = await application.watch()
  if (watch.kind !== 'watching') throw new Error('somebody else watches')
  open.push(watch.close)
  await watch.ready
  const changes = application.events.subscribe()
  return async (session, until) => {
    while (!until()) {
      const { value } = (await changes.next()) as { value: SessionChange }
      expect(value.revision).toBeGreaterThan(0)
      if (value.session !== session) continue
    }
  }
}

test('an append, a new file and a deleted file are noticed', async () => {
  const { app: application, write } = testHome()
  const path = write(rollout(THREAD), text(shortSession()))
  const seen = await watching(application)
  expect(application.list().total).toBe(1)
  const id = `codex:${THREAD}` as SessionId
  setTimeout(() => appendFileSync(path, text([user(60, 'Still there?')])), 20)
  await seen(id, () => application.session(id)?.messages === 3 && application.session(id)?.indexed === true)
  const other = `codex:${OTHER}` as SessionId
  setTimeout(() => write(rollout(OTHER), text([header({ id: OTHER }), user(61, 'A new one.')])), 20)
  await seen(other, () => application.session(other)?.indexed === true)
  setTimeout(() => rmSync(path), 20)
  await seen(id, () => application.session(id)?.gone === true)
})

test('a watcher that is closed before it is ready starts nothing', async () => {
  const { app: application, write } = testHome()
  write(rollout(THREAD), text(shortSession()))
  const watch = await application.watch()
  if (watch.kind !== 'watching') throw new Error('somebody else watches')
  await watch.close()
  expect(await watch.ready).toMatchObject({ sources: 0 })
  expect(await watch.sync()).toMatchObject({ sources: 0 })
  expect(await application.sync()).toMatchObject({ kind: 'synced', synced: { sources: 1 } })
})

test('a file in a new folder is noticed', async () => {
  const { app: application, write } = testHome()
  write(rollout(THREAD), text(shortSession()))
  const seen = await watching(application)
  const other = `codex:${OTHER}` as SessionId
  setTimeout(
    () => write(rollout(OTHER, 'sessions/2026/02/04'), text([header({ id: OTHER }), user(61, 'Next day.')])),
    20,
  )
  await seen(other, () => application.session(other)?.indexed === true)
})

test('a root folder that appears, disappears and reappears is noticed', async () => {
  const { app: application, folder, write } = testHome()
  const seen = await watching(application)
  expect(application.list().total).toBe(0)
  write(rollout(THREAD), text(shortSession()))
  const id = `codex:${THREAD}` as SessionId
  await seen(id, () => application.session(id)?.indexed === true)
  rmSync(join(folder, '.codex'), { recursive: true })
  await seen(id, () => application.session(id)?.gone === true)
  write(rollout(THREAD), text(shortSession()))
  await seen(id, () => application.session(id)?.gone === false)
  write(rollout(OTHER), text([header({ id: OTHER }), user(61, 'A new one.')]))
  const other = `codex:${OTHER}` as SessionId
  await seen(other, () => application.session(other)?.indexed === true)
})

test('growth of a file that is itself a root is noticed', async () => {
  const { write } = testHome()
  const one = JSON.stringify({ messages: [{ role: 'user', content: 'First?' }] })
  const path = write('elsewhere/chat.jsonl', `${one}\n`)
  const { app: application } = testHome({ roots: [path] })
  const seen = await watching(application)
  expect(application.list().total).toBe(1)
  appendFileSync(path, `${one.replace('First', 'Second')}\n`)
  await seen('', () => application.list().total === 2)
})

test('a commit to a store is noticed', async () => {
  const { app: application, folder } = testHome()
  const store = makeStore(join(folder, 'data', 'amazon-q', 'data.sqlite3'))
  store.put('/code', stateOf('one', [{ prompt: 'First?', answer: 'Yes.' }]))
  const seen = await watching(application)
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
  await seen(id, () => application.session(id)?.messages === 4)
  store.close()
})

test('a second process reports that another one watches', async () => {
  const { app: application, folder, write } = testHome()
  write(rollout(THREAD), text(shortSession()))
  await watching(application)
  const second = testHome({}, folder).app
  expect(await second.sync()).toMatchObject({ kind: 'held', by: { pid: process.pid, what: 'watch' } })
  expect(second.list().total).toBe(1)
})
