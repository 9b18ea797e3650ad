/** A full context window: the conversation is summarized or shortened, and the prompt is never lost. */
import { expect, test } from 'vitest'
import { promptOf } from '../../src/conversation/message-text.ts'
import { answer, calls } from '../support/model-chunks.ts'
import { json, modelServer } from '../support/model-server.ts'
import {
  chatSession,
  endingOf,
  eventKinds,
  fakeTool,
  outputText,
  readJournalOf,
  sendLine,
} from './support/chat-session.ts'

const FULL = json({ error: { message: 'too many tokens', code: 'context_length_exceeded' } }, 400)
const LONG = 'word '.repeat(3000)
const sent = (asked: { readonly body: { readonly messages?: unknown } } | undefined): string =>
  JSON.stringify(asked?.body.messages)

test('/compact replaces the history with a summary that is sent with every request', async () => {
  const server = await modelServer(
    answer('Blue.'),
    answer('The user likes blue.', { input: 50, output: 5 }),
    answer('Yes.'),
  )
  const chat = chatSession(server)
  await sendLine(chat, 'My favourite colour is blue')
  const events = await sendLine(chat, '/compact the colours --show-summary')
  expect(eventKinds(events)).toEqual(['compacting', 'usage', 'compacted', 'output'])
  expect(outputText(events)).toContain('The user likes blue.')
  expect(sent(server.asked[1])).toContain('the user asks this of the summary: the colours')
  expect(chat.state.history.length).toBe(0)
  await sendLine(chat, 'Which one?')
  expect(sent(server.asked[2])).toContain('SUMMARY CONTENT:\\nThe user likes blue.')
  expect(readJournalOf(chat).filter(({ event }) => event === 'usage')).toMatchObject([
    { purpose: 'answer' },
    { purpose: 'compaction', estimated: false, usage: { total_tokens: 55 } },
    { purpose: 'answer' },
  ])
})

test('/compact keeps the given number of entries and truncates long ones', async () => {
  const server = await modelServer(answer('1'), answer('2'), answer('3'), answer('Summed up.'))
  const chat = chatSession({ ...server, window: 1_000_000 })
  for (const line of [`first ${LONG}`, 'second', 'third']) await sendLine(chat, line)
  await sendLine(chat, '/compact --messages-to-exclude 1 --truncate-large-messages 200')
  expect(chat.state.history.toArray().map(({ user }) => promptOf(user))).toEqual(['third'])
  expect(sent(server.asked[3]).length).toBeLessThan(4000)
  expect(sent(server.asked[3])).not.toContain('third')
  expect(outputText(await sendLine(chat, '/compact --messages-to-exclude many'))).toMatch(/whole number/)
})

test('an empty conversation is not summarized', async () => {
  expect(outputText(await sendLine(chatSession(await modelServer()), '/compact'))).toMatch(/nothing to summarize/)
})

test('an overflowing window is summarized automatically and the prompt is sent again', async () => {
  const server = await modelServer(answer('One.'), FULL, answer('They greeted.'), answer('Two.'))
  const chat = chatSession(server)
  await sendLine(chat, 'Hello')
  const events = await sendLine(chat, 'And the second question?')
  expect(endingOf(events)).toBe('answered')
  expect(eventKinds(events)).toContain('compacted')
  expect(sent(server.asked[3])).toContain('They greeted.')
  expect(sent(server.asked[3])).toContain('And the second question?')
})

test('a request that would overflow is not sent', async () => {
  const server = await modelServer(answer('Long.'), answer('It was long.'), answer('Short.'))
  const chat = chatSession({ ...server, window: 5000 })
  await sendLine(chat, LONG)
  expect(endingOf(await sendLine(chat, `again ${LONG}`))).toBe('answered')
  expect(sent(server.asked[1])).toContain('Write a summary')
})

test('a summary request that is too large is retried with less', async () => {
  const server = await modelServer(answer('1'), answer('2'), answer('3'), FULL, FULL, answer('Short.'))
  const chat = chatSession(server)
  for (const line of ['a', `b ${LONG}`, 'c']) await sendLine(chat, line)
  await sendLine(chat, '/compact')
  expect(chat.state.latest_summary?.[0]).toBe('Short.')
  expect(chat.state.history.length).toBe(1)
})

test('without automatic compaction less history is sent, the transcript notes it, and nothing is lost', async () => {
  const server = await modelServer(answer('1'), answer('2'), answer('3'))
  const chat = chatSession({ ...server, window: 6000, autoCompact: false })
  await sendLine(chat, `first ${LONG}`)
  await sendLine(chat, 'second')
  const events = await sendLine(chat, `third ${LONG}`)
  expect(endingOf(events)).toBe('answered')
  expect(chat.state.valid_history_range[0]).toBe(1)
  expect(chat.state.history.length).toBe(3)
  expect(sent(server.asked[2])).toContain('second')
  expect(sent(server.asked[2])).not.toContain('first')
  expect(chat.state.transcript.toArray().join()).toMatch(/1 earlier exchange is no longer sent/)
  await sendLine(chat, '/rewind 1')
  expect(promptOf(chat.state.history.at(0)?.user as never)).toContain('first')
})

test('after a failed compaction less history is sent until the server accepts it', async () => {
  const server = await modelServer(
    answer('1'),
    answer('2'),
    FULL,
    json({ error: { message: 'no' } }, 400),
    FULL,
    answer('3'),
  )
  const chat = chatSession(server)
  await sendLine(chat, 'first')
  await sendLine(chat, 'second')
  const events = await sendLine(chat, 'third')
  expect(endingOf(events)).toBe('answered')
  expect(sent(server.asked.at(-1))).toContain('third')
  expect(sent(server.asked.at(-1))).not.toContain('second')
  expect(readJournalOf(chat).some((event) => event.event === 'failed' && event.what === 'compaction')).toBe(true)
})

test('a prompt with running tools stays with their results', async () => {
  const server = await modelServer(
    calls([{ name: 'quick', args: {} }]),
    FULL,
    answer('Something was asked.'),
    answer('Done.'),
  )
  const chat = chatSession({ ...server, tools: [fakeTool({ name: 'quick', run: () => 'found' })], trusted: ['quick'] })
  expect(endingOf(await sendLine(chat, 'Where is the key?'))).toBe('answered')
  expect(sent(server.asked[3])).toMatch(/This is still to be answered:\\nWhere is the key\?/)
  expect(sent(server.asked[3])).toContain('found')
})

test('a summary is proposed at three quarters and at nine tenths, once each', async () => {
  const used = (tokens: number) => ({ input: tokens - 10, output: 10 })
  const server = await modelServer(...[50, 76, 80, 91, 95].map((percent) => answer('ok', used(percent * 1000))))
  const chat = chatSession(server)
  const proposals: number[] = []
  for (let turn = 0; turn < 5; turn++)
    for (const event of await sendLine(chat, 'go')) if (event.kind === 'compact_proposed') proposals.push(event.percent)
  expect(proposals).toEqual([76, 91])
})
