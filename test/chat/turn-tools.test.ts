/** The tools that an answer requests: permission, execution, order of results, cancellation. */
import { describe, expect, test } from 'vitest'
import { answer, calls } from '../support/model-chunks.ts'
import { modelServer } from '../support/model-server.ts'
import { chatSession, endingOf, eventKinds, fakeTool, readJournalOf, sendLine } from './support/chat-session.ts'

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

  test('that are read-only or trusted run in parallel, with results in call order', async () => {
    const server = await modelServer(two, answer('Done.'))
    const chat = chatSession({ ...server, tools: list, trusted: ['slow', 'quick'] })
    const events = await sendLine(chat, 'Go')
    expect(events.flatMap((event) => (event.kind === 'tool_done' ? [event.name] : []))).toEqual(['quick', 'slow'])
    expect(eventKinds(events)).not.toContain('consent_needed')
    const sent = server.asked[1]?.body.messages?.slice(-2)
    expect(sent).toMatchObject([
      { role: 'tool', tool_call_id: 'a', content: 'slow one' },
      { role: 'tool', tool_call_id: 'b', content: 'quick one' },
    ])
    expect(chat.state.history.toArray().map(({ user }) => Object.keys(user.content)[0])).toEqual([
      'Prompt',
      'ToolUseResults',
    ])
    expect(server.asked[0]?.body['tools']).toMatchObject([
      { function: { name: 'slow' } },
      { function: { name: 'quick' } },
      {},
    ])
  })

  test('ask for consent, and trust lasts for the session', async () => {
    const server = await modelServer(
      calls([{ name: 'write', args: {} }]),
      answer('1'),
      calls([{ name: 'write', args: {} }]),
      answer('2'),
    )
    const chat = chatSession({ ...server, tools: list })
    const first = await sendLine(chat, 'Write', () => 'trust')
    const second = await sendLine(chat, 'Again')
    expect(eventKinds(first)).toContain('consent_needed')
    expect(eventKinds(second)).not.toContain('consent_needed')
    expect(eventKinds(second)).toContain('tool_done')
  })

  test('are all cancelled by one refusal, which is sent to the model', async () => {
    const server = await modelServer(
      calls([
        { id: 'a', name: 'quick', args: {} },
        { id: 'b', name: 'write', args: {} },
      ]),
      answer('As you like.'),
    )
    const chat = chatSession({ ...server, tools: list, trusted: ['quick'] })
    const events = await sendLine(chat, 'Write', () => ({ text: 'not in this folder' }))
    expect(eventKinds(events)).not.toContain('tool_started')
    expect(endingOf(events)).toBe('answered')
    const sent = server.asked[1]?.body.messages?.slice(-3)
    expect(sent?.[0]).toMatchObject({
      role: 'tool',
      tool_call_id: 'a',
      content: 'Error: Tool use was cancelled by the user',
    })
    expect(sent?.[2]?.['content']).toContain('not in this folder')
    expect(chat.state.history.at(1)?.user.content).toHaveProperty('CancelledToolUses')
  })

  test('that are unknown or called with invalid JSON return an error and the turn continues', async () => {
    const server = await modelServer(
      calls([
        { id: 'a', name: 'gone', args: {} },
        { id: 'b', name: 'quick', args: '{"n": ' },
      ]),
      answer('Sorry.'),
    )
    const chat = chatSession({ ...server, tools: list, trusted: ['*'] })
    const events = await sendLine(chat, 'Go')
    expect(events.flatMap((event) => (event.kind === 'tool_done' ? [event.local.result.status] : []))).toEqual([
      'Error',
      'Error',
    ])
    expect(server.asked[1]?.body.messages?.at(-2)?.['content']).toMatch(
      /^Error: There is no tool gone\. The tools are: slow, quick, write\./,
    )
    expect(endingOf(events)).toBe('answered')
  })

  test('need an interactive user', async () => {
    const server = await modelServer(calls([{ name: 'write', args: {} }]), answer('Well.'))
    const chat = chatSession({ ...server, tools: list, attended: false })
    expect(endingOf(await sendLine(chat, 'Write'))).toBe('consent')
    expect(endingOf(await sendLine(chat, 'Then do not'))).toBe('answered')
    expect(chat.state.history.at(1)?.user.content).toHaveProperty('CancelledToolUses')
  })

  test('are stopped by an interrupt, with the same state as in Amazon Q CLI, and can be resumed', async () => {
    const forever = fakeTool({
      name: 'wait',
      run: (_, signal) => new Promise((done) => signal.addEventListener('abort', () => done('stopped'))),
    })
    const server = await modelServer(calls([{ id: 'a', name: 'wait', args: {} }]), answer('Fine.'))
    const chat = chatSession({ ...server, tools: [forever], trusted: ['wait'] })
    const events = await sendLine(chat, 'Wait', (event) => {
      if (event.kind === 'tool_started') chat.interrupt()
    })
    expect(endingOf(events)).toBe('interrupted')
    expect(chat.state.history.at(-1)).toMatchObject({
      user: { content: { CancelledToolUses: { prompt: 'The user interrupted the tool execution.' } } },
      assistant: {
        Response: { content: 'Tool uses were interrupted, waiting for the next user prompt', message_id: null },
      },
    })
    expect(endingOf(await sendLine(chat, 'Then not'))).toBe('answered')
  })

  test('long results are truncated for the model and complete in the journal', async () => {
    const server = await modelServer(calls([{ name: 'quick', args: {} }]), answer('Long.'))
    const long = fakeTool({ name: 'quick', run: () => 'y'.repeat(500_000) })
    const chat = chatSession({ ...server, tools: [long], trusted: ['quick'], window: 1_000_000 })
    await sendLine(chat, 'Go')
    const sent = String(server.asked[1]?.body.messages?.at(-1)?.['content'])
    expect(sent).toHaveLength(400_000)
    expect(sent.endsWith('...content truncated due to length')).toBe(true)
    const finished = readJournalOf(chat).find((event) => event.event === 'tool_finished')
    expect(JSON.stringify(finished).length).toBeGreaterThan(500_000)
  })
})

test('a call id that a server uses twice becomes two', async () => {
  const server = await modelServer(
    calls([{ id: 'x', name: 'quick', args: {} }]),
    calls([{ id: 'x', name: 'quick', args: {} }]),
    answer('Ok'),
  )
  const chat = chatSession({ ...server, tools: [fakeTool({ name: 'quick' })], trusted: ['quick'] })
  await sendLine(chat, 'Twice')
  const ids = server.asked
    .at(-1)
    ?.body.messages?.flatMap((one) => (one['role'] === 'tool' ? [one['tool_call_id']] : []))
  expect(new Set(ids).size).toBe(2)
})
