/** Importing logs, adding folders and model servers. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { onCleanup } from '../support/cleanup.ts'
import { assistant, header, text, user } from '../support/codex-log.ts'
import { type Reply, serve, type TestServer } from './test-server.ts'

function server(): TestServer {
  const served = serve()
  onCleanup(() => served.close())
  return served
}
const send = async (served: TestServer, path: string, body: string, type = 'application/json'): Promise<Reply> => {
  const response = await served.ask(path, { method: 'POST', headers: { 'content-type': type }, body })
  return { status: response.status, ...((await response.json()) as object) }
}
const log = (id: string, words: string): string => text([header({ id }), user(1, words), assistant(2, 'Yes')])
const ID = '019c0000-0000-7000-8000-0000000000e1'
const OTHER = '019c0000-0000-7000-8000-0000000000e2'

test('an imported log is a session like any other, once, and keeps others of its name', async () => {
  const served = server()
  const add = (content: string, name = 'rollout-a.jsonl') =>
    send(served, `/api/imports?name=${encodeURIComponent(name)}`, content, 'application/octet-stream')
  const first = await add(log(ID, 'first'))
  expect(first.data).toMatchObject({ agent: 'codex', sessions: [`codex:${ID}`] })
  expect((await add(log(ID, 'first'))).data.path).toBe(first.data.path)
  const other = await add(log(OTHER, 'other'), '../../escape/rollout-a.jsonl')
  expect(other.data.path).not.toBe(first.data.path)
  expect(other.data.path.startsWith(join(served.app.directory, 'imports', 'codex'))).toBe(true)
  const { data } = await served.get('/api/sessions', 'SessionsReply')
  expect(data.map(({ id }: Reply) => id).sort()).toEqual([`codex:${ID}`, `codex:${OTHER}`])
})

test('what no agent recognizes is refused and not kept', async () => {
  const served = server()
  const refused = await send(served, '/api/imports?name=list.txt', 'milk', 'application/octet-stream')
  expect(refused).toMatchObject({ status: 400, errors: [{ code: 'invalid_parameters' }] })
  expect(readdirSync(join(served.app.directory, 'imports'))).toEqual([])
})

test('an added folder is read, and one that does not exist is refused', async () => {
  const served = server()
  const folder = join(served.folder, 'old-logs')
  mkdirSync(folder)
  writeFileSync(join(folder, 'rollout-b.jsonl'), log(ID, 'in a folder'))
  const add = (path: string, agent = 'codex') => send(served, `/api/agents/${agent}/folders`, JSON.stringify({ path }))
  expect(await add(folder)).toMatchObject({ status: 200, data: { agent: 'codex', path: folder } })
  expect((await served.get('/api/sessions')).data).toHaveLength(1)
  expect(await add(join(folder, 'none'))).toMatchObject({ status: 400, errors: [{ code: 'invalid_parameters' }] })
  expect(await add(join(folder, 'rollout-b.jsonl'))).toMatchObject({ status: 400 })
  expect(await add('.')).toMatchObject({ status: 400 })
  expect(await add(folder, 'nobody')).toMatchObject({ status: 404 })
})

test('a model server is saved, and its key is never returned', async () => {
  const served = server()
  const key = 'not-a-real-key'
  const profile = { name: 'local', url: 'http://localhost:1234/v1', model: 'qwen3', key }
  const saved = await send(served, '/api/profiles', JSON.stringify(profile))
  expect(saved.data).toEqual({ name: 'local', url: profile.url, model: 'qwen3' })
  const { settings } = await served.app.config()
  expect(settings.find((one) => one.key === 'profiles.local.model')?.value).toBe('qwen3')
  expect(JSON.stringify(await served.get('/api/chat/options?profile=local').catch(() => ''))).not.toContain(key)
  const wrong = await send(served, '/api/profiles', JSON.stringify({ ...profile, url: 'file:///etc' }))
  expect(wrong.status).toBe(400)
})
