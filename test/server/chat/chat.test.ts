/** A chat over HTTP: turns, consent, interruptions, tangents, two pages, one writer. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openChatWithConfig } from '../../../src/chat/open/open-chat.ts'
import { readConfig } from '../../../src/config/config.ts'
import { listEntries } from '../../../src/lib/files/safe-fs.ts'
import type { ChatEvent } from '../../../src/model/api/chat.ts'
import { answer, calls } from '../../support/model-chunks.ts'
import { dataLine, type ModelRequest, type Reply } from '../../support/model-server.ts'
import { testHome } from '../../support/test-home.ts'
import { shapeProblems } from '../check-shape.ts'
import { samples } from '../test-server.ts'
import { EventListener, openChat, post, startChatServer } from './chat-server.ts'

const texts = ({ body }: ModelRequest): string => JSON.stringify(body.messages)
const kinds = (heard: readonly ChatEvent[]): readonly string[] => heard.map(({ kind }) => kind)

/** Sends the beginning of an answer, and the rest on request. */
function halting(begin: string, end: string): { readonly reply: Reply; readonly go: () => void } {
  let go = (): void => {}
  const let_ = new Promise<void>((resolve) => {
    go = resolve
  })
  const piece = (content: string, finish_reason: string | null = null): string =>
    dataLine(
      JSON.stringify({
        id: 'c',
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta: { content }, finish_reason }],
      }),
    )
  const reply: Reply = async (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(piece(begin))
    await Promise.race([let_, new Promise((gone) => response.once('close', gone))])
    response.end(`${piece(end)}${piece('', 'stop')}${dataLine('[DONE]')}`)
  }
  return { reply, go }
}

test('a tool runs only after consent, and every step is reported', async () => {
  const write = { name: 'fs_write', args: { command: 'create', path: 'tide.txt', file_text: 'high\n' } }
  const { url, cwd, model } = await startChatServer([calls([write], 'I write it down.'), answer('It is **done**.')])
  const { id, session, directory } = await openChat(url)
  expect({ session, directory }).toEqual({ session: `fumibako:${id}`, directory: cwd })
  const page = await EventListener.to(url, id)
  expect(await page.next('hello')).toMatchObject({ reset: true, messages: [] })
  expect((await post(url, `/api/chat/${id}/say`, { text: 'Note the tide.' })).status).toBe(202)
  const asked = await page.next('consent_needed')
  expect(asked).toMatchObject({ name: 'fs_write', need: { level: 'changes', diff: expect.stringContaining('+high') } })
  expect(existsSync(join(cwd, 'tide.txt'))).toBe(false)
  expect((await post(url, `/api/chat/${id}/say`, { text: 'And?' })).body.errors[0]).toMatchObject({
    code: 'conversation_busy',
    status: 409,
  })
  expect((await post(url, `/api/chat/${id}/answer`, { id: 'another', consent: 'yes' })).status).toBe(404)
  expect((await post(url, `/api/chat/${id}/answer`, { id: asked.id, consent: 'yes' })).status).toBe(200)
  expect((await post(url, `/api/chat/${id}/answer`, { id: asked.id, consent: 'no' })).status).toBe(404)
  expect(await page.end()).toMatchObject({ how: 'answered' })
  expect(readFileSync(join(cwd, 'tide.txt'), 'utf8')).toBe('high\n')
  expect(page.words).toBe('I write it down.It is **done**.')
  const reported = kinds(page.received).filter((kind) => /said|tool|consent|ended/.test(kind))
  expect(reported).toEqual([
    'said',
    'tool_asked',
    'consent_needed',
    'consent_given',
    'tool_started',
    'tool_done',
    'ended',
  ])
  for (const event of page.received) expect(shapeProblems('ChatEvent', event)).toEqual([])
  expect(model.asked).toHaveLength(2)
})

test('a refusal is sent to the model and the file is unchanged; trust skips later questions', async () => {
  const write = (path: string) => ({ name: 'fs_write', args: { command: 'create', path, file_text: 'x\n' } })
  const { url, cwd, model } = await startChatServer([
    calls([write('a.txt')]),
    answer('As you wish.'),
    calls([write('b.txt')]),
    calls([write('c.txt')]),
    answer('Both.'),
  ])
  const { id } = await openChat(url)
  const page = await EventListener.to(url, id)
  await post(url, `/api/chat/${id}/say`, { text: 'Write a.' })
  const first = await page.next('consent_needed')
  await post(url, `/api/chat/${id}/answer`, { id: first.id, consent: 'words', text: 'Not that one' })
  await page.end()
  expect(existsSync(join(cwd, 'a.txt'))).toBe(false)
  expect(model.asked.map(texts).at(-1)).toContain('Not that one')
  await post(url, `/api/chat/${id}/say`, { text: 'Write b and c.' })
  const second = await page.next('consent_needed')
  await post(url, `/api/chat/${id}/answer`, { id: second.id, consent: 'trust' })
  await page.end()
  expect(existsSync(join(cwd, 'b.txt')) && existsSync(join(cwd, 'c.txt'))).toBe(true)
  expect(kinds(page.received).filter((kind) => kind === 'consent_needed')).toHaveLength(2)
})

test('an interrupted answer keeps its partial text', async () => {
  const { reply } = halting('The tide turns', '')
  const { url } = await startChatServer([reply])
  const { id } = await openChat(url)
  const page = await EventListener.to(url, id)
  await post(url, `/api/chat/${id}/say`, { text: 'When?' })
  await page.next('delta')
  await post(url, `/api/chat/${id}/interrupt`)
  expect(await page.end()).toMatchObject({ how: 'interrupted' })
  expect(page.received).toContainEqual(expect.objectContaining({ kind: 'entry', interrupted: 'cancelled' }))
})

test('two pages show the same, and a page reloaded during an answer misses nothing', async () => {
  const { reply, go } = halting('One, ', 'two.')
  const { url } = await startChatServer([reply])
  const { id } = await openChat(url)
  const [first, second] = [await EventListener.to(url, id), await EventListener.to(url, id)]
  await post(url, `/api/chat/${id}/say`, { text: 'Count.' })
  await Promise.all([first.next('delta'), second.next('delta')])
  second.stop()
  const rebuilt = await EventListener.to(url, id)
  expect(await rebuilt.next('hello')).toMatchObject({ reset: true, state: { running: true } })
  expect(await rebuilt.next('said')).toMatchObject({ text: 'Count.' })
  expect(await rebuilt.next('delta')).toMatchObject({ text: 'One, ' })
  const back = await EventListener.to(url, id, second.last)
  expect(await back.next('hello')).toMatchObject({ reset: false, messages: [] })
  go()
  await Promise.all([first.end(), rebuilt.end(), back.end()])
  expect([first.words, rebuilt.words, back.words]).toEqual(['One, two.', 'One, two.', 'two.'])
})

test('a tangent has a flag and a duration, and is shown as a branch when it ends', async () => {
  const { url } = await startChatServer([answer('Main.'), answer('Aside.')])
  const { id } = await openChat(url)
  const page = await EventListener.to(url, id)
  const say = async (text: string) => {
    await post(url, `/api/chat/${id}/say`, { text })
    return page.rest()
  }
  await say('The main thing')
  expect(await say('/tangent moon')).toMatchObject({ tangents: ['moon'], tangent_since: expect.any(String) })
  await say('A side thing')
  await post(url, `/api/chat/${id}/say`, { text: '/tangent' })
  const hello = await page.next('hello')
  expect(hello).toMatchObject({ reset: true, state: { tangents: [] } })
  expect(hello.messages.map(({ show, flags, segments }) => [show, flags.tangent ?? false, segments[0]?.text])).toEqual([
    ['prompt', false, 'The main thing'],
    ['answer', false, 'Main.'],
    ['prompt', true, 'A side thing'],
    ['answer', true, 'Aside.'],
  ])
  expect(shapeProblems('ChatEvent', hello)).toEqual([])
})

test('a checkpoint is listed, and restoring it resets files and conversation', async () => {
  const write = { name: 'fs_write', args: { command: 'create', path: 'tide.txt', file_text: 'high\n' } }
  const { url, cwd } = await startChatServer([calls([write]), answer('Done.')])
  execFileSync('git', ['init', '-q'], { cwd })
  const { id } = await openChat(url)
  const page = await EventListener.to(url, id)
  await post(url, `/api/chat/${id}/say`, { text: 'Note the tide.' })
  const asked = await page.next('consent_needed')
  await post(url, `/api/chat/${id}/answer`, { id: asked.id, consent: 'yes' })
  expect(await page.next('checkpoint')).toMatchObject({ tag: '1.1' })
  const { tag } = await page.next('checkpoint')
  await page.next('ended')
  const { checkpoints } = await page.rest()
  expect(checkpoints.map((one) => one.tag)).toEqual(['0', tag])
  expect(checkpoints[1]?.files).toMatchObject({ added: 1 })
  await post(url, `/api/chat/${id}/say`, { text: '/checkpoint restore 0 --hard' })
  const { messages } = await page.next('hello')
  await page.rest()
  expect(existsSync(join(cwd, 'tide.txt'))).toBe(false)
  expect(messages.map(({ show, flags }) => [show, flags.rolled_back ?? false])).toEqual([
    ['prompt', true],
    ['tool', true],
    ['answer', true],
  ])
})

test('a chat open in another process is refused; a closed one can be opened', async () => {
  const testMachine = testHome()
  const { url, model, cwd, app } = await startChatServer([answer('Yes.')], {}, testMachine)
  const { environment } = app
  const config = readConfig(environment, { agents: [] })
  const elsewhere = await openChatWithConfig({ cwd, program: null, attended: false }, { environment, config })
  for await (const _ of elsewhere.session.send('Are you there?'));
  const id = elsewhere.session.state.conversation_id
  const refused = await post(url, '/api/chat', { session: `fumibako:${id}` })
  expect(refused.status).toBe(409)
  expect(refused.body.errors[0]).toMatchObject({ code: 'conversation_busy', detail: expect.stringContaining('open') })
  await elsewhere.close()
  expect(await openChat(url, { session: `fumibako:${id}` })).toMatchObject({ id, directory: cwd })
  const page = await EventListener.to(url, id)
  const { messages } = await page.next('hello')
  expect(messages.map(({ show }) => show)).toEqual(['prompt', 'answer'])
  expect(model.asked).toHaveLength(1)
})

test('an idle chat is closed and reopened with a new writer', async () => {
  const { url, app, cwd } = await startChatServer([answer('Yes.')], { linger: 1500 })
  const { id } = await openChat(url)
  const page = await EventListener.to(url, id)
  await post(url, `/api/chat/${id}/say`, { text: 'Are you there?' })
  await page.end()
  page.stop()
  await expect.poll(async () => (await post(url, `/api/chat/${id}/interrupt`)).status).toBe(404)
  const { environment } = app
  const config = readConfig(environment, { agents: [] })
  const elsewhere = await openChatWithConfig(
    { cwd, program: null, attended: false, resume: id },
    { environment, config },
  )
  expect(elsewhere.session.state.history).toHaveLength(1)
  await elsewhere.close()
})

test('any session can be continued with its messages', async () => {
  const testMachine = testHome()
  for (const [path, content] of Object.entries(samples())) testMachine.write(path, content)
  const { url, model, cwd } = await startChatServer([answer('Gladly.')], {}, testMachine)
  const session = 'codex:019c22d1-6a00-7000-8000-000000000001'
  const { id } = await openChat(url, { session, directory: cwd })
  const page = await EventListener.to(url, id)
  const { messages } = await page.next('hello')
  expect(messages.some(({ show }) => show === 'prompt')).toBe(true)
  await post(url, `/api/chat/${id}/say`, { text: 'Go on, please.' })
  await page.end()
  expect(model.asked.map(texts)[0]).toContain(
    messages.find(({ show }) => show === 'prompt')?.segments[0]?.text?.slice(0, 20),
  )
  expect((await post(url, '/api/chat', { session: 'codex:nobody' })).body.errors[0]).toMatchObject({
    code: 'session_not_found',
  })
})

test('continuing a session twice at once makes one copy, and a fumibako chat is continued itself', async () => {
  const testMachine = testHome()
  for (const [path, content] of Object.entries(samples())) testMachine.write(path, content)
  const { url, app, cwd } = await startChatServer([], {}, testMachine)
  const copies = () => listEntries(join(app.directory, 'conversations')).filter(({ name }) => name.endsWith('.jsonl'))
  const session = 'codex:019c22d1-6a00-7000-8000-000000000001'
  const both = await Promise.all([1, 2, 3].map(() => openChat(url, { session, directory: cwd })))
  expect(new Set(both.map(({ id }) => id)).size).toBe(1)
  expect(copies()).toHaveLength(1)
  const own = both[0]?.session ?? ''
  const again = await Promise.all([1, 2].map(() => openChat(url, { session: own })))
  expect(again.map(({ session: same }) => same)).toEqual([own, own])
  expect(copies()).toHaveLength(1)
})

test('options name profiles, models, agents and directories, and no key', async () => {
  const { url, cwd } = await startChatServer()
  const response = await fetch(new URL('/api/chat/options', url))
  const text = await response.text()
  const { data } = JSON.parse(text)
  expect(shapeProblems('ChatOptionsReply', JSON.parse(text))).toEqual([])
  expect(data).toMatchObject({ usual: { profile: 'here', model: 'm' }, models: ['m'], models_problem: null })
  expect(data.directories[0]).toEqual({ path: cwd, sessions: 0, chosen: false, warning: null })
  expect(data.profiles.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(['here', 'ollama']))
  expect(data.commands.map(({ name }: { name: string }) => name)).toContain('tangent')
  expect(text).not.toContain('sk-never-told')
})

test('a file is attached to the next prompt only, and deleted when the chat closes', async () => {
  const { url, app, model } = await startChatServer([answer('Read.'), answer('Gone.')])
  const { id } = await openChat(url)
  const page = await EventListener.to(url, id)
  const upload = (name: string, body: string) =>
    fetch(new URL(`/api/chat/${id}/attachments?name=${encodeURIComponent(name)}`, url), {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      body,
    })
  const reply = await upload('../../../tide "1".txt', 'high at noon')
  expect(await reply.json()).toMatchObject({ data: { attached: ['tide_1_.txt'] } })
  const stored = join(app.directory, 'attachments', id)
  expect(existsSync(stored)).toBe(true)
  await post(url, `/api/chat/${id}/say`, { text: 'Look.' })
  await page.end()
  await post(url, `/api/chat/${id}/say`, { text: 'Again.' })
  await page.end()
  const [first, second] = model.asked.map(({ body }) => JSON.stringify(body.messages?.at(-1)))
  expect(first).toContain('high at noon')
  expect(second).not.toContain('high at noon')
  for (const name of ['..', `${'名'.repeat(290)}.txt`]) expect((await upload(name, name)).status).toBe(200)
  expect((await upload('a.txt', 'x'.repeat(65 * 1024 * 1024))).status).toBe(413)
  await post(url, `/api/chat/${id}/say`, { text: '/quit' })
  await page.next('closed')
  await expect.poll(() => existsSync(stored)).toBe(false)
  expect((await upload('b.txt', 'late')).status).toBe(404)
})
