/** A session whose file grows, moves, shrinks, is copied or deleted. */
import { appendFileSync, cpSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { SessionId } from '../../src/model/ids.ts'
import {
  assistant,
  call,
  header,
  line,
  result,
  shortSession,
  THREAD,
  tempFolder,
  text,
  tokens,
  user,
} from '../support/codex-log.ts'
import { rollout, testHome } from '../support/test-home.ts'

const OTHER = '019c0000-0000-7000-8000-000000000002'
const ID = `codex:${THREAD}` as SessionId

test('appended records are added and nothing is counted twice', async () => {
  const { app, write } = testHome()
  const path = write(rollout(THREAD), text(shortSession()))
  await app.sync()
  const before = app.list().sessions[0]
  appendFileSync(path, text([user(20, 'And now?'), assistant(21, 'Done.'), tokens(22, 3100, 90)]))
  await app.sync()
  const after = app.list().sessions[0]
  expect(after).toMatchObject({ messages: 4, usage: { input_tokens: 3100, output_tokens: 90 } })
  expect(after?.revision).toBeGreaterThan(before?.revision ?? 0)
  const ids = await idsOf(app)
  expect(ids.length).toBe(14)
  expect(new Set(ids).size).toBe(14)
})

test('an incomplete last line is read again once it is complete', async () => {
  const { app, write } = testHome()
  const path = write(rollout(THREAD), text([header(), user(1, 'One.')]) + tokens(2, 100, 10))
  await app.sync()
  expect(app.list().sessions[0]).toMatchObject({ messages: 1, usage: { total_tokens: 110 } })
  appendFileSync(path, `\n${text([user(3, 'Two.'), tokens(4, 300, 20)])}`)
  await app.sync()
  expect(app.list().sessions[0]).toMatchObject({ messages: 2, usage: { total_tokens: 320 } })
  expect((await idsOf(app)).length).toBe(5)
})

test('an incomplete line stops being an issue once it is complete', async () => {
  const { app, write } = testHome()
  const [first, rest] = [user(2, 'Two.').slice(0, 40), user(2, 'Two.').slice(40)]
  const path = write(rollout(THREAD), `${text([header(), '{"no', user(1, 'One.')])}${first}`)
  const issues = () => app.index.issues(ID, 9).map(({ code, line }) => [code, line])
  await app.sync()
  expect(issues()).toEqual([
    ['bad_json', 2],
    ['cut_short', 4],
  ])
  appendFileSync(path, `${rest}\n`)
  await app.sync()
  expect(issues()).toEqual([['bad_json', 2]])
  appendFileSync(path, text([user(3, 'Three.')]))
  await app.sync()
  expect(issues()).toEqual([['bad_json', 2]])
})

test('an answer that repeats an event far above it is found once', async () => {
  const { app, write } = testHome()
  const between = Array.from({ length: 100 }, (_, n) => [
    call(2, `call_${n}`, { n }),
    result(2, `call_${n}`, `Line ${n}`),
  ])
  const event = line(1, 'event_msg', { type: 'agent_message', message: 'The zebra is done.' })
  write(
    rollout(THREAD),
    text([header(), event, ...between.flat(), assistant(3, 'The zebra is done.'), user(4, 'Zebra?')]),
  )
  await app.sync()
  const found = await app.search('zebra')
  expect(found).toMatchObject({
    total: 2,
    hits: [{ message_id: expect.stringMatching(/#204$/) }, { message_id: expect.stringMatching(/#203$/) }],
  })
})

test('copies of a session are one session, represented by the longest', async () => {
  const { app, write, folder } = testHome()
  const path = write(rollout(THREAD), text(shortSession()))
  await app.sync()
  const archived = join(folder, rollout(THREAD, 'archived_sessions'))
  cpSync(path, archived)
  appendFileSync(archived, text([user(30, 'More.')]))
  await app.sync()
  expect(app.list()).toMatchObject({ total: 1, sessions: [{ path: archived, messages: 3 }] })
  expect((await idsOf(app)).length).toBe(12)
})

test('a session whose file moved stays the same session', async () => {
  const { app, write, folder } = testHome()
  const path = write(rollout(THREAD), text(shortSession()))
  await app.sync()
  const before = await idsOf(app)
  const archived = join(folder, rollout(THREAD, 'archived_sessions'))
  write(rollout('keep-the-folder', 'archived_sessions'), text([header({ id: OTHER })]))
  renameSync(path, archived)
  await app.sync()
  expect(app.session(ID)).toMatchObject({ path: archived, gone: false, messages: 2 })
  expect(await idsOf(app)).toEqual(before)
})

test('a file that is moved away before its first read is read when it returns', async () => {
  const { app, write } = testHome()
  const paths = [THREAD, OTHER].map((id) => write(rollout(id), text([header({ id }), user(1, 'Here.')])))
  let isMoved = false
  await app.sync({
    onProgress: () => {
      // One file has been read; the other has only been listed.
      if (!isMoved) for (const path of paths) renameSync(path, `${path}.away`)
      isMoved = true
    },
  })
  expect(isMoved).toBe(true)
  for (const path of paths) renameSync(`${path}.away`, path)
  await app.sync()
  expect(
    app
      .list()
      .sessions.map(({ native_id }) => native_id)
      .sort(),
  ).toEqual([THREAD, OTHER])
  expect(await app.sync()).toMatchObject({ synced: { scanned: 0, read: 0 } })
})

test('a session whose file is gone keeps all that the index knows', async () => {
  const { app, write } = testHome()
  const path = write(rollout(THREAD), text(shortSession()))
  await app.sync()
  rmSync(path)
  await app.sync()
  expect(app.list()).toMatchObject({ total: 1, sessions: [{ id: ID, gone: true, messages: 2 }] })
  const bodies = await app.messages(ID)
  expect(bodies.length).toBe(11)
  expect(bodies.every((one) => one.kind === 'gone')).toBe(true)
  writeFileSync(path, text(shortSession()))
  await app.sync()
  expect(app.session(ID)).toMatchObject({ gone: false })
  expect((await app.messages(ID)).every((one) => one.kind === 'body')).toBe(true)
})

test('a session outside the configured roots can be read while its file exists', async () => {
  const elsewhere = tempFolder()
  const path = join(elsewhere, `rollout-2026-02-03T09-15-00-${THREAD}.jsonl`)
  writeFileSync(path, text(shortSession()))
  const { app: before, folder } = testHome({ roots: [elsewhere] })
  await before.sync()
  before.close()
  const { app } = testHome({}, folder)
  await app.sync()
  expect(app.session(ID)).toMatchObject({ gone: true })
  expect(await app.logOf(ID)).toMatchObject({ source: { path } })
  rmSync(path)
  expect(await app.logOf(ID)).toBeUndefined()
})

test('a file that shrank or was replaced is read again', async () => {
  const { app, write } = testHome()
  const path = write(rollout(THREAD), text(shortSession()))
  await app.sync()
  const lines = readFileSync(path, 'utf8').split('\n')
  truncateSync(path, Buffer.byteLength(text(lines.slice(0, 4))))
  await app.sync()
  expect(app.session(ID)).toMatchObject({ messages: 1, usage: { total_tokens: 0 } })
  expect((await idsOf(app)).length).toBe(4)
  writeFileSync(path, text([header(), user(5, 'Something else.'), tokens(6, 7, 3)]))
  await app.sync()
  expect(app.session(ID)).toMatchObject({ messages: 1, usage: { total_tokens: 10 }, title: 'Something else.' })
  expect((await idsOf(app)).length).toBe(3)
})

test('two conversations that claim one id are two sessions', async () => {
  const { app, write } = testHome()
  write(rollout(THREAD), text(shortSession()))
  write(
    rollout(`${THREAD}-again`),
    text([header({ timestamp: '2026-02-04T00:00:00.000Z', cwd: '/w/other' }), user(9, 'Hm.')]),
  )
  await app.sync()
  const { total, sessions } = app.list()
  expect(total).toBe(2)
  expect(sessions.map(({ id }) => id)).toContain(ID)
  expect(sessions.find(({ id }) => id !== ID)?.id).toMatch(/~[0-9a-f]{6}$/)
  for (const { id } of sessions) expect((await app.messages(id)).every(({ kind }) => kind === 'body')).toBe(true)
})

async function idsOf(app: ReturnType<typeof testHome>['app']): Promise<readonly string[]> {
  const bodies = await app.messages(ID, { limit: 1000 })
  for (const body of bodies) if (body.kind === 'body') expect(body.message.id).toBe(body.known.id)
  return bodies.map(({ known }) => known.id)
}
