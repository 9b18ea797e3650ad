/** The user chooses the directory of a chat and which project files take effect; files cannot. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { TrustStore } from '../../../src/chat/trust/trust-store.ts'
import type { ChatDirectory, ChatOptions, ChatOptionsReply } from '../../../src/model/api/chat.ts'
import { header, shortSession, tempFolder, text } from '../../support/codex-log.ts'
import { answer, calls } from '../../support/model-chunks.ts'
import type { Reply } from '../../support/model-server.ts'
import { rollout, testHome } from '../../support/test-home.ts'
import { shapeProblems } from '../check-shape.ts'
import { EventListener, openChat, post, startChatServer } from './chat-server.ts'

const CODEX = 'codex:019c0000-0000-7000-8000-000000000001'

/** A server with an imported session that names a directory. */
async function imported(cwd: string, replies: readonly Reply[] = []) {
  const made = testHome()
  made.write(rollout('talk'), text([header({ cwd }), ...shortSession().slice(1)]))
  return startChatServer(replies, {}, made)
}

const needed = async (url: string, body: object) => {
  const { status, body: reply } = await post(url, '/api/chat', body)
  expect({ status, code: reply.errors?.[0]?.code }).toEqual({ status: 422, code: 'directory_needed' })
  expect(shapeProblems('ErrorReply', reply)).toEqual([])
  return reply.errors[0].meta
}

const optionsOf = async (url: string): Promise<ChatOptions> =>
  ((await (await fetch(new URL('/api/chat/options', url))).json()) as ChatOptionsReply).data

const directories = async (url: string): Promise<readonly ChatDirectory[]> => (await optionsOf(url)).directories

describe('an imported session', () => {
  test('does not choose the root: /etc/passwd is asked for', async () => {
    const read = { name: 'fs_read', args: { operations: [{ mode: 'Line', path: '/etc/passwd' }] } }
    const { url, cwd } = await imported('/', [calls([read]), answer('Well.')])
    expect(await needed(url, { session: CODEX })).toEqual({
      suggestion: '/',
      usable: true,
      warning: 'root',
      from: 'log',
    })
    expect(await needed(url, { session: CODEX, directory: '/' })).toMatchObject({ warning: 'root', from: 'request' })
    const { id, directory } = await openChat(url, { session: CODEX, directory: cwd })
    expect(directory).toBe(cwd)
    const page = await EventListener.to(url, id)
    await post(url, `/api/chat/${id}/say`, { text: 'Who is there?' })
    const asked = await page.next('consent_needed')
    expect(asked).toMatchObject({ name: 'fs_read' })
    await post(url, `/api/chat/${id}/answer`, { id: asked.id, consent: 'no' })
    await page.rest()
  })

  test('suggests its directory once, and the confirmed choice is remembered', async () => {
    const place = realpathSync(tempFolder())
    const { url, app } = await imported(place)
    expect(await needed(url, { session: CODEX })).toEqual({
      suggestion: place,
      usable: true,
      warning: null,
      from: 'log',
    })
    expect(new TrustStore(app.directory).directories()).toEqual([])
    const { id, session } = await openChat(url, { session: CODEX, directory: place, confirmed: true })
    expect(new TrustStore(app.directory).directories()).toEqual([place])
    expect((await directories(url)).find(({ path }) => path === place)).toMatchObject({ chosen: true, warning: null })
    expect(await openChat(url, { session: CODEX })).toMatchObject({ id, directory: place })
    expect(await openChat(url, { session })).toMatchObject({ id, directory: place })
  })

  test('a missing directory or a file cannot be confirmed; another directory can be chosen', async () => {
    const gone = join(tempFolder(), 'gone')
    const { url, cwd } = await imported(gone)
    expect(await needed(url, { session: CODEX })).toMatchObject({ suggestion: gone, usable: false })
    expect((await post(url, '/api/chat', { session: CODEX, directory: gone, confirmed: true })).status).toBe(422)
    expect(await openChat(url, { session: CODEX, directory: cwd })).toMatchObject({ directory: cwd })
  })

  test.each(['home', 'above'])('a broad directory (%s) needs a confirmation, for new chats too', async (which) => {
    const made = testHome()
    const folder = realpathSync(made.folder)
    const wide = which === 'home' ? folder : dirname(folder)
    made.write(rollout('talk'), text([header({ cwd: wide }), ...shortSession().slice(1)]))
    const { url } = await startChatServer([], {}, made)
    const warning = which === 'home' ? 'home' : 'above_home'
    expect(await needed(url, { session: CODEX })).toMatchObject({ suggestion: wide, warning, from: 'log' })
    expect(await needed(url, { directory: wide })).toMatchObject({ suggestion: wide, warning, from: 'request' })
    expect(await openChat(url, { directory: wide, confirmed: true })).toMatchObject({ directory: wide })
    expect(await openChat(url, { directory: wide })).toMatchObject({ directory: wide })
  })
})

test('a foreign journal does not choose its directory, and keeps the one the user chose', async () => {
  const first = await startChatServer([answer('Yes.')])
  const { id } = await openChat(first.url)
  const page = await EventListener.to(first.url, id)
  await post(first.url, `/api/chat/${id}/say`, { text: 'Hello' })
  await page.end()
  const made = testHome()
  const folder = join(made.app.directory, 'conversations')
  mkdirSync(folder, { recursive: true })
  const name = readdirSync(join(first.app.directory, 'conversations')).find((one) => one.endsWith('.jsonl')) ?? ''
  copyFileSync(join(first.app.directory, 'conversations', name), join(folder, name))
  const { url, cwd } = await startChatServer([], { linger: 0 }, made)
  expect(await needed(url, { session: id })).toMatchObject({ suggestion: first.cwd, usable: true, from: 'journal' })
  const { directory } = await openChat(url, { session: id, directory: cwd })
  expect(directory).toBe(cwd)
  await expect.poll(async () => (await post(url, `/api/chat/${id}/interrupt`)).status).toBe(404)
  expect(await openChat(url, { session: id })).toMatchObject({ directory: cwd })
})

describe('a project’s agent on the page', () => {
  async function planted(replies: readonly Reply[] = []) {
    const one = await startChatServer(replies)
    const mark = join(tempFolder(), 'ran')
    const file = join(one.cwd, '.amazonq', 'cli-agents', 't.json')
    mkdirSync(dirname(file), { recursive: true })
    const write = (more: object = {}): void =>
      writeFileSync(
        file,
        JSON.stringify({ name: 't', tools: ['*'], hooks: { agentSpawn: [{ command: `touch '${mark}'` }] }, ...more }),
      )
    write()
    return { ...one, mark, file, write }
  }
  const trustIn = ({ path, sha256, prompt_sha256 }: { path: string; sha256: string; prompt_sha256: null }) => ({
    path,
    sha256,
    prompt_sha256,
  })

  test('needs trust in exactly the version that was shown', async () => {
    const { url, mark, file, write, app } = await planted([answer('Hi.')])
    const agents = async () => (await optionsOf(url)).agents
    expect(await agents()).toContainEqual(expect.objectContaining({ name: 't', place: 'project', trusted: false }))
    const refused = await post(url, '/api/chat', { agent: 't' })
    expect(refused).toMatchObject({ status: 422, body: { errors: [{ code: 'trust_needed' }] } })
    const { trust } = refused.body.errors[0].meta
    expect(shapeProblems('ChatTrust', trust)).toEqual([])
    expect(trust).toMatchObject({ path: file, items: [{ kind: 'hook', text: `touch '${mark}'` }] })
    write({ description: 'changed meanwhile' })
    const stale = await post(url, '/api/chat/trust', trustIn(trust))
    expect(stale.body.errors[0]).toMatchObject({ code: 'trust_needed', meta: { trust: { path: file } } })
    expect(new TrustStore(app.directory).files()).toEqual([])
    const shown = stale.body.errors[0].meta.trust
    expect((await post(url, '/api/chat/trust', trustIn(shown))).status).toBe(200)
    expect(await agents()).toContainEqual(expect.objectContaining({ name: 't', trusted: true }))
    expect(existsSync(mark)).toBe(false)
    const { id, agent } = await openChat(url, { agent: 't' })
    expect(agent).toBe('t')
    const page = await EventListener.to(url, id)
    await post(url, `/api/chat/${id}/say`, { text: 'Hello' })
    await page.end()
    expect(existsSync(mark)).toBe(true)
  })

  test('only files of directories that are offered can be trusted, and only from this site', async () => {
    const { url, file } = await planted()
    const hash = 'a'.repeat(64)
    const outside = join(tempFolder(), '.amazonq', 'mcp.json')
    mkdirSync(dirname(outside))
    writeFileSync(outside, '{}')
    for (const path of [outside, '/etc/passwd', file.replace('t.json', 'none.json')]) {
      const { status, body } = await post(url, '/api/chat/trust', { path, sha256: hash, prompt_sha256: null })
      expect({ path, status, code: body.errors[0].code }).toEqual({ path, status: 422, code: 'not_possible' })
    }
    const body = JSON.stringify({ path: file, sha256: hash, prompt_sha256: null })
    const address = new URL('/api/chat/trust', url)
    const foreign = { origin: 'http://evil.example', 'content-type': 'application/json' }
    expect((await fetch(address, { method: 'POST', body, headers: foreign })).status).toBe(403)
    const form = { 'content-type': 'text/plain' }
    expect((await fetch(address, { method: 'POST', body, headers: form })).status).toBe(403)
  })

  test('/agent swap asks on the page', async () => {
    const { url, mark } = await planted()
    const { id } = await openChat(url)
    const page = await EventListener.to(url, id)
    for (const [consent, agent] of [
      ['no', 'q_cli_default'],
      ['yes', 't'],
    ] as const) {
      await post(url, `/api/chat/${id}/say`, { text: '/agent swap t' })
      const asked = await page.next('trust_needed')
      expect(shapeProblems('ChatEvent', asked)).toEqual([])
      expect(existsSync(mark)).toBe(false)
      await post(url, `/api/chat/${id}/answer`, { id: asked.id, consent })
      expect(await page.rest()).toMatchObject({ agent })
    }
  })
})
