/** A file that holds many conversations: each is a session of its own. */
import { appendFileSync, cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { House } from '../../src/app.ts'
import { copyOf } from '../../src/chat/open/find-journal.ts'
import { convertLog, handOver } from '../../src/convert.ts'
import { home } from './house.ts'

const talk = (...texts: readonly string[]): string =>
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
  const { write, folder } = home()
  const lines = [talk('Where is the kettle?', 'Here.'), talk('And the sencha?', 'There.'), withTool('a look', LONG)]
  const path = write('chats/all.jsonl', `${lines.join('\n')}\n`)
  const { house } = home({ roots: [join(folder, 'chats')] })
  await house.sync()
  return { house, path, folder }
}

async function found(house: House, query: string): Promise<readonly string[]> {
  const answer = await house.search(query)
  if (answer.kind !== 'found') throw new Error(answer.what)
  const titles = new Map(answer.sessions.map(({ id, title }) => [id, title]))
  return answer.hits.map(({ session_id, snippet }) => `${titles.get(session_id)}: ${snippet?.text}`)
}

async function deep(house: House, query: string): Promise<readonly string[]> {
  const all: string[] = []
  for await (const event of house.deepSearch(query))
    if (event.kind === 'hit') all.push(`${house.session(event.hit.session_id)?.title}: ${event.hit.role}`)
  return all.sort()
}

test('each is listed, found and read by itself', async () => {
  const { house, path } = await three()
  const { total, sessions } = house.list({ sort: 'title', ascending: true })
  expect(total).toBe(3)
  expect(sessions.map(({ title, messages, tools, indexed }) => [title, messages, tools, indexed])).toEqual([
    ['And the sencha?', 2, 0, true],
    ['Where is the kettle?', 2, 0, true],
    ['a look', 2, 1, true],
  ])
  expect(new Set(sessions.map((one) => one.path))).toEqual(new Set([path]))
  expect(sessions.every((one) => one.key === undefined)).toBe(true)
  expect(await found(house, 'sencha')).toEqual(['And the sencha?: And the sencha?'])
  expect(await found(house, 'there scope:answer')).toEqual(['And the sencha?: There.'])
  const second = sessions[0]
  const bodies = second ? await house.messages(second.id) : []
  expect(bodies.map((body) => body.kind === 'body' && body.message.segments[0]?.text)).toEqual([
    'And the sencha?',
    'There.',
  ])
})

test('the deep search finds what is left out in one of them', async () => {
  const { house } = await three()
  expect(await found(house, 'hiddenWord')).toEqual([])
  expect(await deep(house, 'hiddenWord')).toEqual(['a look: tool'])
  expect(await deep(house, 'sencha')).toEqual(['And the sencha?: user'])
})

test('tools and estimates are those of each', async () => {
  const { house } = await three()
  const stats = house.stats()
  expect(stats).toMatchObject({ tools: [{ tool: 'look', calls: 1, results: 1 }] })
  expect(stats?.disk).toMatchObject([{ agent: 'openai', sources: 1 }])
  const totals = await house.totals()
  expect(totals).toMatchObject({ sessions: 3, messages: 6, usage: { total_tokens: 0 }, estimated_sessions: 3 })
  const [look] = house.list({ sort: 'size' }).sessions.filter(({ title }) => title === 'a look')
  expect(look?.estimate).toMatchObject({ estimated: true, total_tokens: expect.any(Number) })
})

test('one that is added is added, one that goes is gone, and a copy of the file changes nothing', async () => {
  const { house, path, folder } = await three()
  const before = house.list().sessions.map(({ id }) => id)
  appendFileSync(path, `${talk('One more?', 'Yes.')}\n`)
  await house.sync()
  expect(house.list().total).toBe(4)
  expect(house.list().sessions.map(({ id }) => id)).toEqual(expect.arrayContaining([...before]))
  expect(await found(house, 'sencha')).toEqual(['And the sencha?: And the sencha?'])
  expect(await found(house, 'yes')).toEqual(['One more?: Yes.'])
  cpSync(path, join(folder, 'chats', 'copy.jsonl'))
  await house.sync()
  expect(house.list().total).toBe(4)
  expect(await found(house, 'yes')).toEqual(['One more?: Yes.'])
  rmSync(join(folder, 'chats', 'copy.jsonl'))
  writeFileSync(path, `${talk('Where is the kettle?', 'Here.')}\n`)
  await house.sync()
  expect(
    house
      .list()
      .sessions.map(({ title, gone }) => `${title} ${gone}`)
      .sort(),
  ).toEqual(['And the sencha? true', 'One more? true', 'Where is the kettle? false', 'a look true'])
  rmSync(path)
  await house.sync()
  expect(house.list().sessions.every(({ gone }) => gone)).toBe(true)
})

test('a sync with nothing to do does nothing', async () => {
  const { house } = await three()
  expect(await house.sync()).toMatchObject({ synced: { sources: 1, scanned: 0, gone: 0, read: 0 } })
})

const numbered = (n: number, question: string): string =>
  JSON.stringify({
    custom_id: `request-${n}`,
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model: 'm', messages: [{ role: 'user', content: question }] },
  })

test('one whose number another file uses too is read, converted and gone on with like any other', async () => {
  const { write, folder } = home()
  write('chats/a.jsonl', `${numbered(1, 'Green?')}\n${numbered(2, 'Red?')}\n`)
  write('chats/b.jsonl', `${numbered(1, 'Sweet?')}\n${numbered(2, 'Salty?')}\n`)
  const { house } = home({ roots: [join(folder, 'chats')] })
  await house.sync()
  const { sessions } = house.list({ sort: 'title', ascending: true })
  expect(sessions.map(({ title }) => title)).toEqual(['Green?', 'Red?', 'Salty?', 'Sweet?'])
  expect(new Set(sessions.map(({ id }) => id)).size).toBe(4)
  for (const { id, title } of sessions) {
    const log = await house.logOf(id)
    if (!log) throw new Error(`${id} cannot be read`)
    const { session, pieces } = await convertLog({ ...log, session: id }, 'openai', {})
    const written: Uint8Array[] = []
    for await (const piece of pieces) if (piece.kind === 'bytes') written.push(piece.bytes)
    expect([session.id, JSON.stringify(JSON.parse(Buffer.concat(written).toString()))]).toEqual([
      id,
      expect.stringContaining(title ?? ''),
    ])
    const bodies = await house.messages(id)
    expect(bodies.map((body) => body.kind === 'body' && body.message.raw.session_id)).toContain(id)
  }
  const other = sessions.find(({ id }) => id.includes('~'))
  const bare = sessions.find(({ id }) => other?.id.startsWith(`${id}~`))
  const log = other && (await house.logOf(other.id))
  if (!log || !bare) throw new Error('no number is used twice')
  const { environment, directory, keep } = house
  const copy = await handOver({ ...log, session: other.id }, 'fumibako', { environment, directory, keep, cwd: folder })
  expect([copyOf(directory, other.id), copyOf(directory, bare.id)]).toEqual([copy.session.native_id, undefined])
})
