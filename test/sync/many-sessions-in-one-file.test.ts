/** A file with several conversations: each is a separate session. */
import { appendFileSync, cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { App } from '../../src/app.ts'
import { findCopy } from '../../src/chat/journal/find-journal.ts'
import { convertLog, handOver } from '../../src/convert.ts'
import { testHome } from '../support/test-home.ts'

const session = (...texts: readonly string[]): string =>
  JSON.stringify({
    messages: texts.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content })),
  })

const LONG = `${'begin '.repeat(600)} hiddenWord ${'end '.repeat(600)}`

const withTool = (question: string, output: string): string =>
  JSON.stringify({
    messages: [
      { role: 'user', content: question },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{"at":"there"}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: output },
      { role: 'assistant', content: `That was ${question}` },
    ],
  })

async function three() {
  const { write, folder } = testHome()
  const lines = [
    session('Where is the kettle?', 'Here.'),
    session('And the sencha?', 'There.'),
    withTool('a look', LONG),
  ]
  const path = write('chats/all.jsonl', `${lines.join('\n')}\n`)
  const { app: application } = testHome({ roots: [join(folder, 'chats')] })
  await application.sync()
  return { house: application, path, folder }
}

async function found(application: App, query: string): Promise<readonly string[]> {
  const answer = await application.search(query)
  if (answer.kind !== 'found') throw new Error(answer.what)
  const titles = new Map(answer.sessions.map(({ id, title }) => [id, title]))
  return answer.hits.map(({ session_id, snippet }) => `${titles.get(session_id)}: ${snippet?.text}`)
}

test('each is listed, found and read by itself', async () => {
  const { house: application, path } = await three()
  const { total, sessions } = application.list({ sort: 'title', ascending: true })
  expect(total).toBe(3)
  expect(sessions.map(({ title, messages, tools, indexed }) => [title, messages, tools, indexed])).toEqual([
    ['And the sencha?', 2, 0, true],
    ['Where is the kettle?', 2, 0, true],
    ['a look', 2, 1, true],
  ])
  expect(new Set(sessions.map((one) => one.path))).toEqual(new Set([path]))
  expect(sessions.every((one) => one.key === undefined)).toBe(true)
  expect(await found(application, 'sencha')).toEqual(['And the sencha?: And the sencha?'])
  expect(await found(application, 'there scope:answer')).toEqual(['And the sencha?: There.'])
  const second = sessions[0]
  const bodies = second ? await application.messages(second.id) : []
  expect(bodies.map((body) => body.kind === 'body' && body.message.segments[0]?.text)).toEqual([
    'And the sencha?',
    'There.',
  ])
})

test('words deep in long output are found in the right one', async () => {
  const { house: application } = await three()
  expect((await found(application, 'hiddenWord')).map((one) => one.split(':')[0])).toEqual(['a look'])
})

test('each has its own tools and estimates', async () => {
  const { house: application } = await three()
  const stats = application.stats()
  expect(stats).toMatchObject({ tools: [{ tool: 'look', calls: 1, results: 1 }] })
  expect(stats?.disk).toMatchObject([{ agent: 'openai', sources: 1 }])
  const totals = await application.totals()
  expect(totals).toMatchObject({ sessions: 3, messages: 6, usage: { total_tokens: 0 }, estimated_sessions: 3 })
  const [look] = application.list({ sort: 'size' }).sessions.filter(({ title }) => title === 'a look')
  expect(look?.estimate).toMatchObject({ estimated: true, total_tokens: expect.any(Number) })
})

test('added and removed sessions are updated, and a copy of the file changes nothing', async () => {
  const { house: application, path, folder } = await three()
  const before = application.list().sessions.map(({ id }) => id)
  appendFileSync(path, `${session('One more?', 'Yes.')}\n`)
  await application.sync()
  expect(application.list().total).toBe(4)
  expect(application.list().sessions.map(({ id }) => id)).toEqual(expect.arrayContaining([...before]))
  expect(await found(application, 'sencha')).toEqual(['And the sencha?: And the sencha?'])
  expect(await found(application, 'yes')).toEqual(['One more?: Yes.'])
  cpSync(path, join(folder, 'chats', 'copy.jsonl'))
  await application.sync()
  expect(application.list().total).toBe(4)
  expect(await found(application, 'yes')).toEqual(['One more?: Yes.'])
  rmSync(join(folder, 'chats', 'copy.jsonl'))
  writeFileSync(path, `${session('Where is the kettle?', 'Here.')}\n`)
  await application.sync()
  expect(
    application
      .list()
      .sessions.map(({ title, gone }) => `${title} ${gone}`)
      .sort(),
  ).toEqual(['And the sencha? true', 'One more? true', 'Where is the kettle? false', 'a look true'])
  rmSync(path)
  await application.sync()
  expect(application.list().sessions.every(({ gone }) => gone)).toBe(true)
})

test('a sync with nothing to do does nothing', async () => {
  const { house: application } = await three()
  expect(await application.sync()).toMatchObject({ synced: { sources: 1, scanned: 0, gone: 0, read: 0 } })
})

const numbered = (n: number, question: string): string =>
  JSON.stringify({
    custom_id: `request-${n}`,
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model: 'm', messages: [{ role: 'user', content: question }] },
  })

test('a session whose number another file uses is read, converted and resumed like any other', async () => {
  const { write, folder } = testHome()
  write('chats/a.jsonl', `${numbered(1, 'Green?')}\n${numbered(2, 'Red?')}\n`)
  write('chats/b.jsonl', `${numbered(1, 'Sweet?')}\n${numbered(2, 'Salty?')}\n`)
  const { app: application } = testHome({ roots: [join(folder, 'chats')] })
  await application.sync()
  const { sessions } = application.list({ sort: 'title', ascending: true })
  expect(sessions.map(({ title }) => title)).toEqual(['Green?', 'Red?', 'Salty?', 'Sweet?'])
  expect(new Set(sessions.map(({ id }) => id)).size).toBe(4)
  for (const { id, title } of sessions) {
    const log = await application.logOf(id)
    if (!log) throw new Error(`${id} cannot be read`)
    const { session, pieces } = await convertLog({ ...log, session: id }, 'openai', {})
    const written: Uint8Array[] = []
    for await (const piece of pieces) if (piece.kind === 'bytes') written.push(piece.bytes)
    expect([session.id, JSON.stringify(JSON.parse(Buffer.concat(written).toString()))]).toEqual([
      id,
      expect.stringContaining(title ?? ''),
    ])
    const bodies = await application.messages(id)
    expect(bodies.map((body) => body.kind === 'body' && body.message.raw.session_id)).toContain(id)
  }
  const other = sessions.find(({ id }) => id.includes('~'))
  const bare = sessions.find(({ id }) => other?.id.startsWith(`${id}~`))
  const log = other && (await application.logOf(other.id))
  if (!log || !bare) throw new Error('no number is used twice')
  const { environment, directory, backup } = application
  const copy = await handOver({ ...log, session: other.id }, 'fumibako', {
    environment,
    directory,
    keep: backup,
    cwd: folder,
  })
  expect([findCopy(directory, other.id), findCopy(directory, bare.id)]).toEqual([copy.session.native_id, undefined])
})
