/** All text is found, once, in its session. */
import { appendFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { App } from '../../src/app.ts'
import { IndexReader } from '../../src/index/reader.ts'
import { readCandidates } from '../../src/search/text-index/find-rows.ts'
import { assistant, call, header, line, result, shortSession, THREAD, text, user } from '../support/codex-log.ts'
import { rollout, testHome } from '../support/test-home.ts'

const OTHER = '019c0000-0000-7000-8000-000000000002'

async function found(app: App, query: string): Promise<readonly string[]> {
  const answer = await app.search(query, { limit: 100 })
  if (answer.kind !== 'found') throw new Error(answer.what)
  expect(answer.total).toBe(answer.hits.length)
  return answer.hits.map(
    ({ session_id, message_id }) => `${session_id.slice(-1)}${message_id.slice(message_id.indexOf('#'))}`,
  )
}

test('prompts, answers, arguments and output are found, newest first', async () => {
  const { app, write } = testHome()
  write(rollout(THREAD), text(shortSession()))
  write(
    rollout(OTHER),
    text([
      header({ id: OTHER }),
      user(30, 'Wo ist getUserName? 東京都の天気'),
      call(31, 'c1', { command: ['grep', '-n', 'getUserName', 'src/a.ts'] }),
      result(32, 'c1', 'Exit code: 1\nOutput:\nsrc/a.ts: no such file'),
      line(33, 'response_item', { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Perhaps elsewhere.' }] }),
      assistant(34, 'There is none.'),
    ]),
  )
  await app.sync()
  expect(await found(app, 'getUserName')).toEqual(['2#3', '2#2'])
  expect(await found(app, 'user')).toEqual(['2#3', '2#2'])
  expect(await found(app, '京都')).toEqual(['2#2'])
  expect(await found(app, 'file')).toEqual(['2#4', '1#10'])
  expect(await found(app, 'file scope:answer')).toEqual(['1#10'])
  expect(await found(app, 'file -scope:answer')).toEqual(['2#4'])
  expect(await found(app, 'elsewhere')).toEqual(['2#5'])
  expect(await found(app, '"no such file"')).toEqual(['2#4'])
  expect(await found(app, 'file has:error')).toEqual(['2#4'])
  expect(await found(app, 'a.ts -such')).toEqual(['2#3', '1#10', '1#7'])
  expect(await found(app, 'file has:error has:image')).toEqual(['2#4'])
  expect(await found(app, 'file on:2026-02-03 on:2024')).toEqual(['2#4', '1#10'])
  expect(await found(app, 'file -on:2026-02-03 -on:2024')).toEqual([])
  expect(await found(app, 'file role:assistant')).toEqual(['1#10'])
  expect(await found(app, `file session:${OTHER}`)).toEqual(['2#4'])
  expect(await found(app, '/no s.ch/')).toEqual(['2#4'])
  expect(await found(app, 'nothing')).toEqual([])
  expect(await found(app, `role:meta session:${OTHER}`)).toEqual(['2#5'])
  expect(await found(app, `-role:user session:${OTHER}`)).toEqual(['2#6', '2#4', '2#3'])
})

test('a record that is written twice is one hit, and context is found only on request', async () => {
  const { app, write } = testHome()
  write(rollout(THREAD), text(shortSession()))
  await app.sync()
  expect(await found(app, 'please')).toEqual(['1#4'])
  expect(await found(app, 'One')).toEqual(['1#10'])
  expect(await found(app, 'environment_context')).toEqual([])
  expect(await found(app, 'environment_context scope:context')).toEqual(['1#3'])
})

test('an event is replaced by the item of the next read', async () => {
  const { app, write } = testHome()
  const lines = shortSession()
  const path = write(rollout(THREAD), text(lines.slice(0, 9)))
  await app.sync()
  expect(await found(app, 'One')).toEqual(['1#9'])
  appendFileSync(path, text(lines.slice(9)))
  await app.sync()
  expect(await found(app, 'One')).toEqual(['1#10'])
})

test('text that a fork copied is found in its original session', async () => {
  const { app, write } = testHome()
  const parent = [header(), user(3, 'A remarkable question.'), assistant(4, 'An answer.')]
  write(rollout(THREAD), text(parent))
  const copied = parent.map((one) => one.replace(/"timestamp":"[^"]+"/, '"timestamp":"2026-02-03T09:20:00.000Z"'))
  write(
    rollout(OTHER),
    text([header({ id: OTHER, forked_from_id: THREAD }), ...copied, user(400, 'Something remarkable.')]),
  )
  await app.sync()
  expect(await found(app, 'remarkable')).toEqual(['2#5', '1#2'])
})

test('snippets show the words, titles match, and pages continue', async () => {
  const { app, write } = testHome()
  write(rollout(THREAD), text([header(), ...Array.from({ length: 50 }, (_, n) => user(n, `Needle number ${n}`))]))
  await app.sync()
  const first = await app.search('needle', { limit: 20 })
  if (first.kind !== 'found') throw new Error()
  expect(first).toMatchObject({ total: 50, total_is: 'exact', complete: true, titles: [{ title: 'Needle number 0' }] })
  expect(first.hits[0]).toMatchObject({ snippet: { text: 'Needle number 49', highlights: [[0, 6]] }, scope: 'prompt' })
  const second = await app.search('needle', { limit: 40, ...(first.next !== undefined && { after: first.next }) })
  if (second.kind !== 'found') throw new Error()
  expect(second.hits.length).toBe(30)
  expect(second.next).toBeUndefined()
})

test('a prefix of very many words is found like any other', async () => {
  const { app, write } = testHome()
  const said = (n: number): string =>
    n % 5 === 0 ? `Nothing ${n}` : n % 2 === 0 ? `the Summer of ${n}` : `sand getSalt ${n}`
  write(rollout(THREAD), text([header(), ...Array.from({ length: 1500 }, (_, n) => user(n, said(n)))]))
  const gone = write(
    rollout(OTHER),
    text([header({ id: OTHER }), ...Array.from({ length: 30 }, (_, n) => user(2000 + n, 'Nobody knows.'))]),
  )
  await app.sync()
  rmSync(gone)
  for (const query of ['s*', 's* -nothing', 'S* role:user', 'sum* OR sa*']) {
    const answer = await app.search(query)
    if (answer.kind !== 'found') throw new Error(answer.what)
    expect(answer).toMatchObject({ total: 1200, total_is: 'exact' })
    const lines = answer.hits.map(({ message_id }) => Number(message_id.split('#')[1]) - 2)
    const newest = Array.from({ length: 1500 }, (_, n) => 1499 - n).filter((n) => n % 5 !== 0)
    expect(lines).toEqual(newest.slice(0, 20))
    const next = await app.search(query, { after: answer.next ?? 0 })
    if (next.kind !== 'found') throw new Error(next.what)
    expect(next.hits.map(({ message_id }) => Number(message_id.split('#')[1]) - 2)).toEqual(newest.slice(20, 40))
  }
  expect(await app.search('su*')).toMatchObject({ total: 600, total_is: 'exact' })
  expect(await app.search('no* 5')).toMatchObject({ total: 1, total_is: 'exact' })
})

test('a total is exact up to 10,000', async () => {
  const { app, write } = testHome()
  write(rollout(THREAD), text([header(), ...Array.from({ length: 10_010 }, (_, n) => user(n, `Ring ${n % 2} twice`))]))
  await app.sync()
  expect(await app.search('ring')).toMatchObject({ total: 10_000, total_is: 'at_least' })
  expect(await app.search('ring 1')).toMatchObject({ total: 5005, total_is: 'exact' })
  expect(await app.search('"twice 1" OR "0 twice"')).toMatchObject({ total_is: 'at_least' })
})

test('words are found deep in long output, once', async () => {
  const { app, write } = testHome()
  const long = `${'begin '.repeat(500)} hiddenWord café ${'end '.repeat(500)}`
  write(
    rollout(THREAD),
    text([header(), user(1, 'hiddenWord'), call(2, 'c', { command: ['cat'] }), result(3, 'c', long)]),
  )
  await app.sync()
  expect(await found(app, 'hiddenWord')).toEqual(['1#4', '1#2'])
  expect(await found(app, 'hidden')).toEqual(['1#4', '1#2'])
  expect(await found(app, 'cafe')).toEqual(['1#4'])
  expect(await found(app, '"begin hiddenWord cafe end"')).toEqual(['1#4'])
  expect(await found(app, '"begin cafe"')).toEqual([])
  expect(await found(app, 'begin -hidden')).toEqual([])
  expect(await found(app, 'hidden scope:prompt')).toEqual(['1#2'])
  expect(await app.search('hidden')).toMatchObject({ complete: true, left: { sessions: 0, bytes: 0 } })
})

test('a result reports when logs are not indexed yet', async () => {
  const { app, write } = testHome()
  write(rollout(THREAD), text([header(), user(1, 'hidden')]))
  await app.sync({ passes: 'first' })
  expect(await app.search('hidden')).toMatchObject({ total: 0, complete: false, left: { sessions: 1 } })
})

test('the best match comes first by relevance', async () => {
  const { app, write } = testHome()
  write(
    rollout(THREAD),
    text([
      header(),
      user(1, 'How does the kettle boil water?'),
      assistant(2, 'The kettle boils water with a heating element.'),
      call(3, 'c', { command: ['cat', 'kettle.txt'] }),
      result(4, 'c', `kettle ${'other words '.repeat(300)} water`),
      user(5, 'Something about water only.'),
      user(6, 'Thanks.'),
    ]),
  )
  await app.sync()
  const ranked = async (query: string): Promise<readonly number[]> => {
    const answer = await app.search(query, { order: 'relevance' })
    if (answer.kind !== 'found') throw new Error(answer.what)
    return answer.hits.map(({ message_id }) => Number(message_id.split('#')[1]))
  }
  expect(await ranked('kettle water')).toEqual([2, 3, 5])
  expect((await ranked('kettle OR element'))[0]).toBe(3)
  expect((await ranked('water'))[0]).toBe(6)
  expect(await ranked('"kettle boil"')).toEqual([2])
})

test('a message deleted before it is read is omitted', async () => {
  const { folder, app, write } = testHome()
  write(rollout(THREAD), text(shortSession()))
  await app.sync()
  const reader = new IndexReader(join(folder, 'fumi'))
  expect(reader.read((db) => readCandidates(db, [12_345]), undefined)).toEqual([])
})

test('an invalid query reports the position of the error', async () => {
  const { app } = testHome()
  expect(await app.search('role:nobody')).toMatchObject({ kind: 'problem', advice: expect.any(String) })
})

test('a pattern that takes too long ends the search and is reported', async () => {
  const { app, write } = testHome()
  const trap = `${'a'.repeat(40)}!`
  write(rollout(THREAD), text([header(), user(1, trap), user(2, trap), user(3, 'aaa')]))
  await app.sync()
  expect(await app.search('/^(a+)+$/')).toMatchObject({ complete: false })
})
