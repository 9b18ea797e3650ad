/** A window that is full: the conversation is summed up or less of it is sent, and what is asked is never lost. */
import { expect, test } from 'vitest'
import { promptOf } from '../../src/conversation/render.ts'
import { answer, calls } from '../support/model-chunks.ts'
import { json, modelServer } from '../support/model-server.ts'
import { ended, fakeTool, journalOn, kinds, outputs, said, talking } from './support/talking.ts'

const FULL = json({ error: { message: 'too many tokens', code: 'context_length_exceeded' } }, 400)
const LONG = 'word '.repeat(3000)
const sent = (asked: { readonly body: { readonly messages?: unknown } } | undefined): string =>
  JSON.stringify(asked?.body.messages)

test('/compact puts a summary in the place of what was said, and it goes with every request', async () => {
  const server = await modelServer(
    answer('Blue.'),
    answer('The user likes blue.', { input: 50, output: 5 }),
    answer('Yes.'),
  )
  const talk = talking(server)
  await said(talk, 'My favourite colour is blue')
  const events = await said(talk, '/compact the colours --show-summary')
  expect(kinds(events)).toEqual(['compacting', 'usage', 'compacted', 'output'])
  expect(outputs(events)).toContain('The user likes blue.')
  expect(sent(server.asked[1])).toContain('the user asks this of the summary: the colours')
  expect(talk.state.history.length).toBe(0)
  await said(talk, 'Which one?')
  expect(sent(server.asked[2])).toContain('SUMMARY CONTENT:\\nThe user likes blue.')
  expect(journalOn(talk).filter(({ event }) => event === 'usage')).toMatchObject([
    { purpose: 'answer' },
    { purpose: 'compaction', estimated: false, usage: { total_tokens: 55 } },
    { purpose: 'answer' },
  ])
})

test('/compact leaves out as many as it is told, and shortens what is long', async () => {
  const server = await modelServer(answer('1'), answer('2'), answer('3'), answer('Summed up.'))
  const talk = talking({ ...server, window: 1_000_000 })
  for (const line of [`first ${LONG}`, 'second', 'third']) await said(talk, line)
  await said(talk, '/compact --messages-to-exclude 1 --truncate-large-messages 200')
  expect(talk.state.history.toArray().map(({ user }) => promptOf(user))).toEqual(['third'])
  expect(sent(server.asked[3]).length).toBeLessThan(4000)
  expect(sent(server.asked[3])).not.toContain('third')
  expect(outputs(await said(talk, '/compact --messages-to-exclude many'))).toMatch(/whole number/)
})

test('nothing is summed up where nothing was said', async () => {
  expect(outputs(await said(talking(await modelServer()), '/compact'))).toMatch(/Nothing was said/)
})

test('a window that overflows is summed up by itself, and the question is sent again', async () => {
  const server = await modelServer(answer('One.'), FULL, answer('They greeted.'), answer('Two.'))
  const talk = talking(server)
  await said(talk, 'Hello')
  const events = await said(talk, 'And the second question?')
  expect(ended(events)).toBe('answered')
  expect(kinds(events)).toContain('compacted')
  expect(sent(server.asked[3])).toContain('They greeted.')
  expect(sent(server.asked[3])).toContain('And the second question?')
})

test('one that would overflow is not even asked', async () => {
  const server = await modelServer(answer('Long.'), answer('It was long.'), answer('Short.'))
  const talk = talking({ ...server, window: 5000 })
  await said(talk, LONG)
  expect(ended(await said(talk, `again ${LONG}`))).toBe('answered')
  expect(sent(server.asked[1])).toContain('Write a summary')
})

test('a summary that is too large itself is tried with less', async () => {
  const server = await modelServer(answer('1'), answer('2'), answer('3'), FULL, FULL, answer('Short.'))
  const talk = talking(server)
  for (const line of ['a', `b ${LONG}`, 'c']) await said(talk, line)
  await said(talk, '/compact')
  expect(talk.state.latest_summary?.[0]).toBe('Short.')
  expect(talk.state.history.length).toBe(1)
})

test('where it is off, less of the history is sent, the transcript says so, and nothing is gone', async () => {
  const server = await modelServer(answer('1'), answer('2'), answer('3'))
  const talk = talking({ ...server, window: 6000, autoCompact: false })
  await said(talk, `first ${LONG}`)
  await said(talk, 'second')
  const events = await said(talk, `third ${LONG}`)
  expect(ended(events)).toBe('answered')
  expect(talk.state.valid_history_range[0]).toBe(1)
  expect(talk.state.history.length).toBe(3)
  expect(sent(server.asked[2])).toContain('second')
  expect(sent(server.asked[2])).not.toContain('first')
  expect(talk.state.transcript.toArray().join()).toMatch(/1 earlier exchange is no longer sent/)
  await said(talk, '/rewind 1')
  expect(promptOf(talk.state.history.at(0)?.user as never)).toContain('first')
})

test('where it fails, likewise; a server that still refuses gets less and less', async () => {
  const server = await modelServer(
    answer('1'),
    answer('2'),
    FULL,
    json({ error: { message: 'no' } }, 400),
    FULL,
    answer('3'),
  )
  const talk = talking(server)
  await said(talk, 'first')
  await said(talk, 'second')
  const events = await said(talk, 'third')
  expect(ended(events)).toBe('answered')
  expect(sent(server.asked.at(-1))).toContain('third')
  expect(sent(server.asked.at(-1))).not.toContain('second')
  expect(journalOn(talk).some((event) => event.event === 'failed' && event.what === 'compaction')).toBe(true)
})

test('a question that tools work on stays with their results', async () => {
  const server = await modelServer(
    calls([{ name: 'quick', args: {} }]),
    FULL,
    answer('Something was asked.'),
    answer('Done.'),
  )
  const talk = talking({ ...server, tools: [fakeTool({ name: 'quick', run: () => 'found' })], trusted: ['quick'] })
  expect(ended(await said(talk, 'Where is the key?'))).toBe('answered')
  expect(sent(server.asked[3])).toMatch(/This is still to be answered:\\nWhere is the key\?/)
  expect(sent(server.asked[3])).toContain('found')
})

test('a summary is proposed at three quarters and at nine tenths, once each', async () => {
  const used = (tokens: number) => ({ input: tokens - 10, output: 10 })
  const server = await modelServer(...[50, 76, 80, 91, 95].map((percent) => answer('ok', used(percent * 1000))))
  const talk = talking(server)
  const proposals: number[] = []
  for (let turn = 0; turn < 5; turn++)
    for (const event of await said(talk, 'go')) if (event.kind === 'compact_proposed') proposals.push(event.percent)
  expect(proposals).toEqual([76, 91])
})
