/** A turn from the prompt to the answer: what is sent, what is told, what is on disk, however it ends. */
import { describe, expect, test } from 'vitest'
import { savedState } from '../../src/chat/commands/save.ts'
import { readState } from '../../src/conversation/codec/read.ts'
import { promptOf } from '../../src/conversation/render.ts'
import { answer, breaks, calls, refusal, stalls } from '../support/model-chunks.ts'
import { hangUp, json, modelServer } from '../support/model-server.ts'
import { ended, fakeTool, heard, journalOn, kinds, said, talking, words } from './support/talking.ts'

const TOO_LARGE = json(
  { error: { message: 'This model has a maximum context length', code: 'context_length_exceeded' } },
  400,
)

test('an answer streams, is counted, and is on disk when it is told', async () => {
  const server = await modelServer(answer('Good morning to you.', { input: 120, output: 7 }))
  const talk = talking(server)
  const events = await said(talk, 'Hello', (event) => {
    if (event.kind === 'entry') expect(journalOn(talk).at(-1)?.event).toBe('entry')
  })
  expect(words(events)).toBe('Good morning to you.')
  expect(kinds(events).filter((kind) => kind !== 'delta')).toEqual(['started', 'usage', 'entry', 'ended'])
  expect(ended(events)).toBe('answered')
  expect(journalOn(talk).map(({ event }) => event)).toEqual([
    ...['opened', 'context', 'model', 'tools', 'transcript', 'next_message'],
    ...['delta', 'delta', 'delta', 'delta', 'usage', 'entry'],
  ])
  expect(journalOn(talk).find(({ event }) => event === 'usage')).toMatchObject({
    usage: { input_tokens: 120, output_tokens: 7, total_tokens: 127 },
    estimated: false,
    purpose: 'answer',
  })
})

test('the request is the conversation: context with the machine, history, what waits', async () => {
  const server = await modelServer(answer('One.'), answer('Two.'))
  const talk = talking({ ...server, cwd: '/code/app' })
  await said(talk, 'First?')
  await said(talk, 'Second?')
  const messages = server.asked[1]?.body.messages ?? []
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user'])
  expect(messages[0]?.['content']).toMatch(/Operating system: linux\nCurrent working directory: \/code\/app/)
  expect(messages[2]?.['content']).toMatch(/Current time: \w+day, [\s\S]*USER MESSAGE BEGIN ---\nFirst\?--- USER/)
  expect(messages[3]?.['content']).toBe('One.')
  expect(server.asked[1]?.body).toMatchObject({ stream: true, stream_options: { include_usage: true } })
})

test('a server that does not count gets an estimate that says so', async () => {
  const talk = talking(await modelServer(answer('Yes.')))
  const events = await said(talk, 'x'.repeat(4000))
  const [used] = events.filter((event) => event.kind === 'usage')
  expect(used).toMatchObject({ estimated: true })
  expect(used?.kind === 'usage' && used.usage.input_tokens).toBeGreaterThanOrEqual(1000)
})

describe('what goes wrong', () => {
  test('is tried again, and what had streamed before counts no more', async () => {
    const server = await modelServer(breaks('Wrong st'), answer('Right.'))
    const talk = talking({ ...server, retries: 2 })
    const events = await said(talk, 'Hello')
    expect(kinds(events)).toContain('retry')
    expect(talk.state.history.at(-1)?.assistant).toMatchObject({ Response: { content: 'Right.' } })
    expect(talk.state.history.length).toBe(1)
  })

  test('a stream that breaks leaves an interrupted entry with what had come', async () => {
    const talk = talking(await modelServer(breaks('Half an ans')))
    const events = await said(talk, 'Hello')
    expect(ended(events)).toBe('failed')
    expect(events.find(({ kind }) => kind === 'entry')).toMatchObject({ interrupted: 'cut' })
    expect(talk.state.history.at(-1)?.assistant).toMatchObject({ Response: { content: 'Half an ans' } })
    expect(talk.state.next_message).toBeNull()
  })

  test('a server that falls silent, likewise', async () => {
    const talk = talking({ ...(await modelServer(stalls('Hm'))), timeoutMs: 150 })
    const events = await said(talk, 'Hello')
    expect(events.at(-1)).toMatchObject({ kind: 'ended', how: 'failed', error: { kind: 'timeout' } })
    expect(journalOn(talk).find(({ event }) => event === 'interrupted')).toMatchObject({ reason: 'timed_out' })
  })

  test('an interrupt keeps what had come', async () => {
    const talk = talking(await modelServer(stalls('Once upon'), answer('Go on.')))
    const events = await said(talk, 'Tell', (event) => {
      if (event.kind === 'delta') talk.interrupt()
    })
    expect(ended(events)).toBe('interrupted')
    expect(talk.state.history.at(-1)?.assistant).toMatchObject({ Response: { content: 'Once upon' } })
    expect(ended(await said(talk, 'More'))).toBe('answered')
  })

  test('a refusal is an answer that says so', async () => {
    const talk = talking(await modelServer(refusal('I will not.')))
    expect(ended(await said(talk, 'Do'))).toBe('refused')
    expect(talk.state.history.at(-1)?.assistant).toMatchObject({ Response: { content: 'I will not.' } })
  })

  test('a question to which nothing came still waits and can be sent again', async () => {
    const talk = talking(await modelServer(hangUp, answer('Here.')))
    expect(ended(await said(talk, 'Hello?'))).toBe('failed')
    expect(talk.state.next_message && promptOf(talk.state.next_message)).toBe('Hello?')
    expect(journalOn(talk).at(-1)).toMatchObject({ event: 'transcript' })
    expect(ended(await said(talk, '/retry'))).toBe('answered')
    expect(talk.state.history.toArray().map(({ user }) => promptOf(user))).toEqual(['Hello?'])
  })

  test('results that were never sent stay when something else is said', async () => {
    const server = await modelServer(
      calls([{ name: 'quick', args: {} }]),
      json({ error: { message: 'down' } }, 400),
      answer('Yes.'),
    )
    const talk = talking({ ...server, tools: [fakeTool({ name: 'quick', run: () => 'found it' })], trusted: ['quick'] })
    expect(ended(await said(talk, 'Find'))).toBe('failed')
    await said(talk, 'And?')
    expect(JSON.stringify(server.asked.at(-1)?.body.messages)).toContain('found it')
  })

  test('a request that is too large is told when nothing can be left out', async () => {
    const talk = talking(await modelServer(TOO_LARGE))
    expect(ended(await said(talk, 'Hello'))).toBe('overflow')
    expect(talk.state.next_message).not.toBeNull()
  })
})

test('a prompt of more than 400,000 bytes is cut when somebody agrees, else refused with its size', async () => {
  const server = await modelServer(answer('Long.'))
  const talk = talking({ ...server, window: 1_000_000 })
  const long = 'z'.repeat(400_001)
  const refused = await said(talk, long, () => 'no')
  expect(refused.find(({ kind }) => kind === 'error')).toMatchObject({ text: expect.stringContaining('400,001 bytes') })
  expect(server.asked).toHaveLength(0)
  await said(talk, long, () => 'yes')
  const prompt = talk.state.history.at(0)?.user
  expect(prompt && promptOf(prompt)).toMatch(/^z+\.\.\.content truncated due to length$/)
})

test('whatever happened, the saved state passes the strict reader, and the journal gives it again', async () => {
  const server = await modelServer(
    calls([{ name: 'quick', args: { n: 1 } }]),
    breaks('Half'),
    refusal('No.'),
    answer('Yes'),
  )
  const options = { ...server, tools: [fakeTool({ name: 'quick' })], trusted: ['quick'] }
  const talk = talking(options)
  for (const line of ['One', 'Two', '/tangent side', 'Three']) await said(talk, line)
  const saved = savedState(talk.state)
  expect(readState(saved, { mode: 'strict' })).toMatchObject({ ok: true })
  const { data } = talk.surroundings
  talk.close()
  const again = talking({ ...options, data })
  expect(savedState(again.state)).toBe(saved)
  await heard(again, again.say('/tangent'))
  expect(again.state.tangent_state).toBeUndefined()
})
