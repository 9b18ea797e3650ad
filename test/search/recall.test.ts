/** The search finds all text, including text that is not indexed. The long version is in test/soak. */
import { describe, expect, test } from 'vitest'
import type { App } from '../../src/app.ts'
import type { SessionId } from '../../src/model/ids.ts'
import { call, header, result, THREAD, text, user } from '../support/codex-log.ts'
import { sharedFolder } from '../support/shared-material.ts'
import { rollout, testHome } from '../support/test-home.ts'
import { expectFound, needlesIn, readAllTexts } from './recall.ts'

async function deepIds(app: App, query: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  for await (const event of app.deepSearch(query)) {
    if (event.kind === 'problem') throw new Error(event.what)
    if (event.kind !== 'hit') continue
    const id = `${event.hit.session_id} ${event.hit.message_id}`
    expect(found.has(id)).toBe(false)
    found.add(id)
  }
  return found
}

test('deep search finds unindexed text once', async () => {
  const { app, write } = testHome()
  const long = `${'begin '.repeat(500)} hiddenWord café ${'end '.repeat(500)}`
  write(
    rollout(THREAD),
    text([header(), user(1, 'hiddenWord'), call(2, 'c', { command: ['cat'] }), result(3, 'c', long)]),
  )
  await app.sync()
  const id = `codex:${THREAD}` as SessionId
  const places = async (query: string) =>
    [...(await deepIds(app, query))].map((one) => one.slice(id.length + 1).split('#')[1])
  expect(await places('hiddenWord')).toEqual(['2', '4'])
  expect(await places('hidden')).toEqual(['2', '4'])
  expect(await places('HIDDENWORD')).toEqual(['2', '4'])
  expect(await places('cafe')).toEqual(['4'])
  expect(await places('begin hidden')).toEqual(['4'])
  expect(await places('begin -hidden')).toEqual([])
  expect(await places('hidden scope:prompt')).toEqual(['2'])
  expect(await places('elsewhere')).toEqual([])
})

const corpus = sharedFolder('corpus', 'codex', 'sessions', '2026', '02')

describe.skipIf(!corpus)('real logs', () => {
  test('200 words, identifiers, numbers and Japanese strings are found exactly where they occur', async () => {
    const { app } = testHome({ roots: [corpus ?? ''] })
    await app.sync()
    const all = await readAllTexts(app)
    const needles = needlesIn(all, 200, 7)
    expect(needles.length).toBe(200)
    expect(await expectFound(app, all, needles)).toBeGreaterThan(180)
  })
})
