/** The tools that an answer asks for: asked about, run, told in order, cancelled. */
import { describe, expect, test } from 'vitest'
import { answer, calls } from '../support/model-chunks.ts'
import { modelServer } from '../support/model-server.ts'
import { ended, fakeTool, journalOn, kinds, said, talking } from './support/talking.ts'

describe('tools', () => {
  const list = [
    fakeTool({ name: 'slow', level: 'read-only', run: () => new Promise((done) => setTimeout(done, 30, 'slow one')) }),
    fakeTool({ name: 'quick', level: 'read-only', run: () => 'quick one' }),
    fakeTool({ name: 'write' }),
  ]
  const two = calls([
    { id: 'a', name: 'slow', args: { n: 1 } },
    { id: 'b', name: 'quick', args: {} },
  ])

  test('that only read or are trusted run side by side, and their results go back in the order of the calls', async () => {
    const server = await modelServer(two, answer('Done.'))
    const talk = talking({ ...server, tools: list, trusted: ['slow', 'quick'] })
    const events = await said(talk, 'Go')
    expect(events.flatMap((event) => (event.kind === 'tool_done' ? [event.name] : []))).toEqual(['quick', 'slow'])
    expect(kinds(events)).not.toContain('consent_needed')
    const sent = server.asked[1]?.body.messages?.slice(-2)
    expect(sent).toMatchObject([
      { role: 'tool', tool_call_id: 'a', content: 'slow one' },
      { role: 'tool', tool_call_id: 'b', content: 'quick one' },
    ])
    expect(talk.state.history.toArray().map(({ user }) => Object.keys(user.content)[0])).toEqual([
      'Prompt',
      'ToolUseResults',
    ])
    expect(server.asked[0]?.body['tools']).toMatchObject([
      { function: { name: 'slow' } },
      { function: { name: 'quick' } },
      {},
    ])
  })

  test('ask, and trust lasts for the session', async () => {
    const server = await modelServer(
      calls([{ name: 'write', args: {} }]),
      answer('1'),
      calls([{ name: 'write', args: {} }]),
      answer('2'),
    )
    const talk = talking({ ...server, tools: list })
    const first = await said(talk, 'Write', () => 'trust')
    const second = await said(talk, 'Again')
    expect(kinds(first)).toContain('consent_needed')
    expect(kinds(second)).not.toContain('consent_needed')
    expect(kinds(second)).toContain('tool_done')
  })

  test('one no cancels all of them, and the model hears of it', async () => {
    const server = await modelServer(
      calls([
        { id: 'a', name: 'quick', args: {} },
        { id: 'b', name: 'write', args: {} },
      ]),
      answer('As you like.'),
    )
    const talk = talking({ ...server, tools: list, trusted: ['quick'] })
    const events = await said(talk, 'Write', () => ({ text: 'not in this folder' }))
    expect(kinds(events)).not.toContain('tool_started')
    expect(ended(events)).toBe('answered')
    const sent = server.asked[1]?.body.messages?.slice(-3)
    expect(sent?.[0]).toMatchObject({
      role: 'tool',
      tool_call_id: 'a',
      content: 'Error: Tool use was cancelled by the user',
    })
    expect(sent?.[2]?.['content']).toContain('not in this folder')
    expect(talk.state.history.at(1)?.user.content).toHaveProperty('CancelledToolUses')
  })

  test('that are unknown, or are called with what is no JSON, give an Error and the turn goes on', async () => {
    const server = await modelServer(
      calls([
        { id: 'a', name: 'gone', args: {} },
        { id: 'b', name: 'quick', args: '{"n": ' },
      ]),
      answer('Sorry.'),
    )
    const talk = talking({ ...server, tools: list, trusted: ['*'] })
    const events = await said(talk, 'Go')
    expect(events.flatMap((event) => (event.kind === 'tool_done' ? [event.result.status] : []))).toEqual([
      'Error',
      'Error',
    ])
    expect(server.asked[1]?.body.messages?.at(-2)?.['content']).toMatch(
      /^Error: There is no tool gone\. The tools are: slow, quick, write\./,
    )
    expect(ended(events)).toBe('answered')
  })

  test('need somebody to ask', async () => {
    const server = await modelServer(calls([{ name: 'write', args: {} }]), answer('Well.'))
    const talk = talking({ ...server, tools: list, attended: false })
    expect(ended(await said(talk, 'Write'))).toBe('consent')
    expect(ended(await said(talk, 'Then do not'))).toBe('answered')
    expect(talk.state.history.at(1)?.user.content).toHaveProperty('CancelledToolUses')
  })

  test('are stopped by an interrupt; the state is as the original leaves it, and can be gone on with', async () => {
    const forever = fakeTool({
      name: 'wait',
      run: (_, signal) => new Promise((done) => signal.addEventListener('abort', () => done('stopped'))),
    })
    const server = await modelServer(calls([{ id: 'a', name: 'wait', args: {} }]), answer('Fine.'))
    const talk = talking({ ...server, tools: [forever], trusted: ['wait'] })
    const events = await said(talk, 'Wait', (event) => {
      if (event.kind === 'tool_started') talk.interrupt()
    })
    expect(ended(events)).toBe('interrupted')
    expect(talk.state.history.at(-1)).toMatchObject({
      user: { content: { CancelledToolUses: { prompt: 'The user interrupted the tool execution.' } } },
      assistant: {
        Response: { content: 'Tool uses were interrupted, waiting for the next user prompt', message_id: null },
      },
    })
    expect(ended(await said(talk, 'Then not'))).toBe('answered')
  })

  test('results that are too long are cut for the model and whole in the journal', async () => {
    const server = await modelServer(calls([{ name: 'quick', args: {} }]), answer('Long.'))
    const long = fakeTool({ name: 'quick', run: () => 'y'.repeat(500_000) })
    const talk = talking({ ...server, tools: [long], trusted: ['quick'], window: 1_000_000 })
    await said(talk, 'Go')
    const sent = String(server.asked[1]?.body.messages?.at(-1)?.['content'])
    expect(sent).toHaveLength(400_000)
    expect(sent.endsWith('...content truncated due to length')).toBe(true)
    const finished = journalOn(talk).find((event) => event.event === 'tool_finished')
    expect(JSON.stringify(finished).length).toBeGreaterThan(500_000)
  })
})

test('a call id that a server uses twice becomes two', async () => {
  const server = await modelServer(
    calls([{ id: 'x', name: 'quick', args: {} }]),
    calls([{ id: 'x', name: 'quick', args: {} }]),
    answer('Ok'),
  )
  const talk = talking({ ...server, tools: [fakeTool({ name: 'quick' })], trusted: ['quick'] })
  await said(talk, 'Twice')
  const ids = server.asked
    .at(-1)
    ?.body.messages?.flatMap((one) => (one['role'] === 'tool' ? [one['tool_call_id']] : []))
  expect(new Set(ids).size).toBe(2)
})
