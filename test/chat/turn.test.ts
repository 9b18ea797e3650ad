/** A turn from the prompt to the answer, however it ends: what is sent, reported and stored. */
import { describe, expect, test } from 'vitest'
import { serializeState } from '../../src/chat/commands/save-load.ts'
import { readState } from '../../src/conversation/codec/state.ts'
import { promptOf } from '../../src/conversation/message-text.ts'
import { answer, breaks, calls, refusal, stalls } from '../support/model-chunks.ts'
import { hangUp, json, modelServer } from '../support/model-server.ts'
import {
  answerText,
  chatSession,
  collectEvents,
  endingOf,
  eventKinds,
  fakeTool,
  readJournalOf,
  sendLine,
} from './support/chat-session.ts'

const TOO_LARGE = json(
  { error: { message: 'This model has a maximum context length', code: 'context_length_exceeded' } },
  400,
)

test('an answer streams, is counted, and is on disk before it is reported', async () => {
  const server = await modelServer(answer('Good morning to you.', { input: 120, output: 7 }))
  const session = chatSession(server)
  const events = await sendLine(session, 'Hello', (event) => {
    if (event.kind === 'entry') expect(readJournalOf(session).at(-1)?.event).toBe('entry')
  })
  expect(answerText(events)).toBe('Good morning to you.')
  expect(eventKinds(events).filter((kind) => kind !== 'delta')).toEqual(['started', 'usage', 'entry', 'ended'])
  expect(endingOf(events)).toBe('answered')
  expect(readJournalOf(session).map(({ event }) => event)).toEqual([
    ...['opened', 'context', 'model', 'tools', 'transcript', 'next_message'],
    ...['delta', 'delta', 'delta', 'delta', 'usage', 'entry'],
  ])
  expect(readJournalOf(session).find(({ event }) => event === 'usage')).toMatchObject({
    usage: { input_tokens: 120, output_tokens: 7, total_tokens: 127 },
    estimated: false,
    purpose: 'answer',
  })
})

test('the request contains context, history and the pending message', async () => {
  const server = await modelServer(answer('One.'), answer('Two.'))
  const session = chatSession({ ...server, cwd: '/code/app' })
  await sendLine(session, 'First?')
  await sendLine(session, 'Second?')
  const messages = server.asked[1]?.body.messages ?? []
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user'])
  expect(messages[0]?.['content']).toMatch(/Operating system: linux\nCurrent working directory: \/code\/app/)
  expect(messages[2]?.['content']).toMatch(/Current time: \w+day, [\s\S]*USER MESSAGE BEGIN ---\nFirst\?--- USER/)
  expect(messages[3]?.['content']).toBe('One.')
  expect(server.asked[1]?.body).toMatchObject({ stream: true, stream_options: { include_usage: true } })
})

test('usage is marked as estimated if the server does not count', async () => {
  const session = chatSession(await modelServer(answer('Yes.')))
  const events = await sendLine(session, 'x'.repeat(4000))
  const [used] = events.filter((event) => event.kind === 'usage')
  expect(used).toMatchObject({ estimated: true })
  expect(used?.kind === 'usage' && used.input).toBeGreaterThanOrEqual(1000)
})

describe('failures', () => {
  test('a failed request is retried, and its partial text is discarded', async () => {
    const server = await modelServer(breaks('Wrong st'), answer('Right.'))
    const session = chatSession({ ...server, retries: 2 })
    const events = await sendLine(session, 'Hello')
    expect(eventKinds(events)).toContain('retry')
    expect(session.state.history.at(-1)?.assistant).toMatchObject({ Response: { content: 'Right.' } })
    expect(session.state.history.length).toBe(1)
  })

  test('a broken stream leaves an interrupted entry with the partial text', async () => {
    const session = chatSession(await modelServer(breaks('Half an ans')))
    const events = await sendLine(session, 'Hello')
    expect(endingOf(events)).toBe('failed')
    expect(events.find(({ kind }) => kind === 'entry')).toMatchObject({ interrupted: 'cut' })
    expect(session.state.history.at(-1)?.assistant).toMatchObject({ Response: { content: 'Half an ans' } })
    expect(session.state.next_message).toBeNull()
  })

  test('a silent server leaves an interrupted entry', async () => {
    const session = chatSession({ ...(await modelServer(stalls('Hm'))), timeoutMs: 150 })
    const events = await sendLine(session, 'Hello')
    expect(events.at(-1)).toMatchObject({ kind: 'ended', how: 'failed', local: { error: { kind: 'timeout' } } })
    expect(readJournalOf(session).find(({ event }) => event === 'interrupted')).toMatchObject({ reason: 'timed_out' })
  })

  test('an interrupt keeps the partial text', async () => {
    const session = chatSession(await modelServer(stalls('Once upon'), answer('Go on.')))
    const events = await sendLine(session, 'Tell', (event) => {
      if (event.kind === 'delta') session.interrupt()
    })
    expect(endingOf(events)).toBe('interrupted')
    expect(session.state.history.at(-1)?.assistant).toMatchObject({ Response: { content: 'Once upon' } })
    expect(endingOf(await sendLine(session, 'More'))).toBe('answered')
  })

  test('a refusal is an answer', async () => {
    const session = chatSession(await modelServer(refusal('I will not.')))
    expect(endingOf(await sendLine(session, 'Do'))).toBe('refused')
    expect(session.state.history.at(-1)?.assistant).toMatchObject({ Response: { content: 'I will not.' } })
  })

  test('a prompt without an answer stays pending and can be sent again', async () => {
    const session = chatSession(await modelServer(hangUp, answer('Here.')))
    expect(endingOf(await sendLine(session, 'Hello?'))).toBe('failed')
    expect(session.state.next_message && promptOf(session.state.next_message)).toBe('Hello?')
    expect(readJournalOf(session).at(-1)).toMatchObject({ event: 'transcript' })
    expect(endingOf(await sendLine(session, '/retry'))).toBe('answered')
    expect(session.state.history.toArray().map(({ user }) => promptOf(user))).toEqual(['Hello?'])
  })

  test('unsent results are kept when another prompt is sent', async () => {
    const server = await modelServer(
      calls([{ name: 'quick', args: {} }]),
      json({ error: { message: 'down' } }, 400),
      answer('Yes.'),
    )
    const session = chatSession({
      ...server,
      tools: [fakeTool({ name: 'quick', run: () => 'found it' })],
      trusted: ['quick'],
    })
    expect(endingOf(await sendLine(session, 'Find'))).toBe('failed')
    await sendLine(session, 'And?')
    expect(JSON.stringify(server.asked.at(-1)?.body.messages)).toContain('found it')
  })

  test('a request that is too large is reported when nothing can be dropped', async () => {
    const session = chatSession(await modelServer(TOO_LARGE))
    expect(endingOf(await sendLine(session, 'Hello'))).toBe('overflow')
    expect(session.state.next_message).not.toBeNull()
  })
})

test('a prompt over 400,000 bytes is truncated with consent, otherwise refused with its size', async () => {
  const server = await modelServer(answer('Long.'))
  const session = chatSession({ ...server, window: 1_000_000 })
  const long = 'z'.repeat(400_001)
  const refused = await sendLine(session, long, () => 'no')
  expect(refused.find(({ kind }) => kind === 'error')).toMatchObject({ text: expect.stringContaining('400,001 bytes') })
  expect(server.asked).toHaveLength(0)
  await sendLine(session, long, () => 'yes')
  const prompt = session.state.history.at(0)?.user
  expect(prompt && promptOf(prompt)).toMatch(/^z+\.\.\.content truncated due to length$/)
})

test('the saved state always passes the strict reader and is restored from the journal', async () => {
  const server = await modelServer(
    calls([{ name: 'quick', args: { n: 1 } }]),
    breaks('Half'),
    refusal('No.'),
    answer('Yes'),
  )
  const options = { ...server, tools: [fakeTool({ name: 'quick' })], trusted: ['quick'] }
  const session = chatSession(options)
  for (const line of ['One', 'Two', '/tangent side', 'Three']) await sendLine(session, line)
  const saved = serializeState(session.state)
  expect(readState(saved, { mode: 'strict' })).toMatchObject({ ok: true })
  const { data } = session.commandContext
  session.close()
  const again = chatSession({ ...options, data })
  expect(serializeState(again.state)).toBe(saved)
  await collectEvents(again, again.send('/tangent'))
  expect(again.state.tangent_state).toBeUndefined()
})
