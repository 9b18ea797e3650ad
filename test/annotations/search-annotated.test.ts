/** Annotations are searchable, and can filter a search. */
import { expect, test } from 'vitest'
import type { App } from '../../src/app.ts'
import type { Instant, SessionId } from '../../src/model/ids.ts'
import { call, header, result, THREAD, text, user } from '../support/codex-log.ts'
import { rollout, testHome } from '../support/test-home.ts'

const OTHER = '019c0000-0000-7000-8000-000000000002'
const FIRST = `codex:${THREAD}` as SessionId
const SECOND = `codex:${OTHER}` as SessionId
const NOW = '2026-02-04T00:00:00.000Z' as Instant
const LONG = `${'begin '.repeat(600)} hidden ${'end '.repeat(600)}`

async function two(): Promise<App> {
  const { app: application, write } = testHome()
  for (const id of [THREAD, OTHER])
    write(
      rollout(id),
      text([header({ id }), user(1, 'The same words.'), call(2, 'c', { command: ['cat'] }), result(3, 'c', LONG)]),
    )
  await application.sync()
  return application
}

async function found(application: App, query: string) {
  const answer = await application.search(query)
  if (answer.kind !== 'found') throw new Error(answer.what)
  const { hits, titles, marks } = answer
  return { hits: hits.map((hit) => hit.session_id), titles: titles.map(({ id }) => id), marks }
}

test('stars and tags filter a search', async () => {
  const application = await two()
  expect((await found(application, 'same is:starred')).hits).toEqual([])
  expect((await found(application, 'same -is:starred')).hits.length).toBe(2)
  application.annotations.change(FIRST, { starred: true, tag: ['Work'] }, NOW)
  application.annotations.change(SECOND, { tag: ['play'] }, NOW)
  expect((await found(application, 'same is:starred')).hits).toEqual([FIRST])
  expect((await found(application, 'same -is:starred')).hits).toEqual([SECOND])
  expect((await found(application, 'same tag:work')).hits).toEqual([FIRST])
  expect((await found(application, 'same tag:work tag:play')).hits.length).toBe(2)
  expect((await found(application, 'is:starred role:user')).hits).toEqual([FIRST])
  expect((await found(application, 'same is:starred')).marks).toMatchObject([{ session: FIRST, tags: ['Work'] }])
  expect((await found(application, 'hidden tag:play')).hits).toEqual([SECOND])
  application.annotations.change(FIRST, { starred: false }, NOW)
  expect((await found(application, 'same is:starred')).hits).toEqual([])
  expect(await application.search('is:new')).toMatchObject({ kind: 'problem', advice: 'write one of starred' })
})

test('names, tags and notes are found as titles are', async () => {
  const application = await two()
  application.annotations.change(SECOND, { name: 'Kettle affairs', tag: ['東京都'], note: 'Ask again in spring.' }, NOW)
  for (const query of ['kettle', '京都', '"again in spring"', 'affairs spring', 'kettle in:title'])
    expect((await found(application, query)).titles).toEqual([SECOND])
  for (const query of ['kettles', 'kettle in:prompt', 'kettle -spring', `kettle session:${THREAD}`, '"affairs 東京"'])
    expect((await found(application, query)).titles).toEqual([])
  expect((await found(application, 'kettle')).hits).toEqual([])
})
