/** Conversions over HTTP: nothing is written before its losses were shown. */
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeStore, stateOf } from '../support/amazon-q-store.ts'
import { header, shortSession, text } from '../support/codex-log.ts'
import { rollout } from '../support/test-home.ts'
import { shapeProblems } from './check-shape.ts'
import { type Reply, serve, type TestServer } from './test-server.ts'

let served: TestServer
let cwd: string
let source: string
let codex: string
let q: string
beforeAll(async () => {
  served = serve()
  cwd = join(realpathSync(served.folder), 'code')
  mkdirSync(cwd)
  source = text([header({ cwd }), ...shortSession().slice(1)])
  served.write(rollout('talk'), source)
  const store = makeStore(join(served.folder, 'data', 'amazon-q', 'data.sqlite3'), 'wal')
  store.put(join(served.folder, 'elsewhere'), stateOf('c-1', [{ prompt: 'first', answer: 'one', tools: ['fs_read'] }]))
  store.close()
  await served.app.sync()
  const sessions = (await served.get<Reply>('/api/sessions')).data as Reply[]
  codex = sessions.find(({ agent }) => agent === 'codex').id
  q = sessions.find(({ agent }) => agent === 'amazon-q').id
})
afterAll(() => served.close())

const post = async (path: string, body: object): Promise<{ status: number; reply: Reply }> => {
  const headers = { 'content-type': 'application/json', origin: 'http://localhost:4680' }
  const response = await served.ask(path, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: response.status, reply: await response.json() }
}
const preview = async (body: object): Promise<Reply> => {
  const { status, reply } = await post('/api/convert', body)
  expect([status, shapeProblems('ConvertReply', reply)]).toEqual([200, []])
  return reply.data
}

test('lists the targets of a conversation', async () => {
  const { data } = await served.get<Reply>('/api/convert/targets', 'TargetsReply')
  expect(data).toContainEqual({
    to: 'amazon-q',
    label: 'conversation of Amazon Q CLI',
    label_ja: 'Amazon Q CLI の会話',
    can_hand_off: true,
  })
  expect(data).toContainEqual({
    to: 'sft',
    label: expect.any(String),
    label_ja: expect.any(String),
    can_hand_off: false,
  })
})

test('shows losses and returns the same file', async () => {
  const shown = await preview({ session: codex, to: 'openai', without_extensions: true })
  expect(shown.losses.some((one: Reply) => one.kept_in === null && one.code === 'no_place' && one.times > 0)).toBe(true)
  expect(shown.handoff).toBeNull()
  const file = await served.ask(shown.download_url)
  expect(file.headers.get('content-disposition')).toBe(`attachment; filename="${shown.file_name}"`)
  const bytes = await file.text()
  expect(Buffer.byteLength(bytes)).toBe(shown.bytes)
  expect(JSON.parse(bytes).messages.length).toBeGreaterThan(2)
})

test('hands over the previewed conversation once, with the resume command', async () => {
  const shown = await preview({ session: codex, to: 'amazon-q' })
  expect(shown.handoff).toMatchObject({ possible: true, replaces: false, exchanges: expect.any(Number) })
  const { status, reply } = await post('/api/handoff', { ticket: shown.ticket })
  expect([status, shapeProblems('HandoffReply', reply)]).toEqual([200, []])
  expect(reply.data).toMatchObject({ path: shown.handoff.path, resume: `cd ${cwd} && q chat --resume` })
  expect((await post('/api/handoff', { ticket: shown.ticket })).status).toBe(404)
  await served.app.sync()
  const ids = (await served.get<Reply>('/api/sessions')).data.map(({ id }: Reply) => id)
  expect(ids).toContain(reply.data.session)
})

test('a preview writes nothing and reports why a hand-off is impossible', async () => {
  const before = readdirSync(served.folder, { recursive: true }).length
  const shown = await preview({ session: q, to: 'codex' })
  const refused = { possible: false, code: 'bad_usage', reason: expect.stringContaining('Directory not found') }
  expect(shown.handoff).toMatchObject(refused)
  expect(readdirSync(served.folder, { recursive: true }).length).toBe(before)
  expect((await post('/api/handoff', { ticket: shown.ticket })).status).toBe(422)
})

test('another absolute directory may be given', async () => {
  const elsewhere = join(served.folder, 'another')
  mkdirSync(elsewhere)
  const shown = await preview({ session: codex, to: 'amazon-q', cwd: elsewhere })
  expect(shown.handoff).toMatchObject({ possible: true, replaces: false })
  const { reply } = await post('/api/handoff', { ticket: shown.ticket })
  expect(reply.data.resume).toBe(`cd ${realpathSync(elsewhere)} && q chat --resume`)
  const unusual = await post('/api/convert', { session: codex, to: 'amazon-q', cwd: '../another' })
  expect([unusual.status, unusual.reply.errors[0].meta.invalid_fields[0].field]).toEqual([400, 'cwd'])
  const none = await preview({ session: codex, to: 'amazon-q', cwd: join(served.folder, 'nowhere') })
  expect(none.handoff).toMatchObject({ possible: false, code: 'bad_usage' })
})

test('a program that changed the target is named as the reason, and no sync starts', async () => {
  const id = '019c0000-0000-7000-8000-000000000009'
  const cutOff = `${JSON.stringify({ timestamp: '2030-01-01T00:00:00.000Z' }).slice(0, -1)}`
  served.write(rollout(id), text([header({ id, cwd }), ...shortSession().slice(1), cutOff]))
  await served.app.sync()
  const shown = await preview({ session: `codex:${id}`, to: 'codex' })
  expect(shown.handoff).toMatchObject({ possible: false, code: 'busy' })
  const { status, reply } = await post('/api/handoff', { ticket: shown.ticket })
  expect([status, reply.errors[0]]).toEqual([
    422,
    expect.objectContaining({ code: 'not_possible', meta: { cause: 'busy' } }),
  ])
})

test('unknown values are refused with a reason', async () => {
  expect((await post('/api/convert', { session: 'codex:none', to: 'openai' })).status).toBe(404)
  const unusual = await post('/api/convert', { session: codex, to: 'letters' })
  expect(unusual.status).toBe(422)
  expect(unusual.reply.errors[0]).toMatchObject({
    detail: expect.stringContaining('Available: '),
    meta: { cause: 'bad_usage' },
  })
  expect((await post('/api/convert', { session: codex })).status).toBe(400)
  expect((await served.ask('/api/convert/none')).status).toBe(404)
  expect(existsSync(join(served.folder, rollout('talk')))).toBe(true)
  expect(readFileSync(join(served.folder, rollout('talk')), 'utf8')).toBe(source)
})
