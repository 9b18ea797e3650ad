/** What a session changed in its files, and how its context grew. */
import { expect, test } from 'vitest'
import { KETTLE, sampleServer } from './sample-server.ts'
import { idOf, type Reply } from './test-server.ts'

const { get, problem } = sampleServer()

test('a session lists its changed files with one diff each', async () => {
  const { data }: Reply = await get(`/api/sessions/${idOf(KETTLE)}/changes`, 'ChangesReply')
  expect(data.map(({ path }: Reply) => path)).toContain('/home/aki/kettle/src/boil.ts')
  for (const { added, removed, diff, calls } of data) {
    const lines = diff.split('\n').slice(2)
    expect(lines.filter((line: string) => line.startsWith('+'))).toHaveLength(added)
    expect(lines.filter((line: string) => line.startsWith('-'))).toHaveLength(removed)
    expect(calls.length).toBeGreaterThan(0)
  }
  expect((await problem('/api/sessions/codex%3Anothing/changes')).code).toBe('session_not_found')
})

test('totals contain the context of each request', async () => {
  const { data }: Reply = await get(`/api/sessions/${idOf(KETTLE)}/totals`, 'SessionTotalsReply')
  expect(data.context.length).toBeGreaterThan(1)
  const sum = data.context.reduce((all: number, { tokens }: Reply) => all + tokens, 0)
  expect(sum).toBe(data.usage.total_tokens)
})
