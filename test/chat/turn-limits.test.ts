/** An endless turn is stopped after a number of requests, tokens or equal calls. It can be continued. */
import { describe, expect, test } from 'vitest'
import type { ChatSessionEvent } from '../../src/chat/events.ts'
import { toolUseResultsOf } from '../../src/conversation/message-text.ts'
import { answer, calls } from '../support/model-chunks.ts'
import { chatServer, json, type ModelServer, modelServer, type Reply } from '../support/model-server.ts'
import {
  answerText,
  chatSession,
  endingOf,
  fakeTool,
  outputText,
  readJournalOf,
  sendLine,
} from './support/chat-session.ts'
import { chatHome, fumiChat } from './support/fumi-chat.ts'

const tools = [
  fakeTool({ name: 'look', level: 'read-only' }),
  fakeTool({ name: 'write' }),
  fakeTool({
    name: 'fail',
    level: 'read-only',
    run: () => {
      throw new Error('no')
    },
  }),
]

const times = (count: number, reply: (n: number) => Reply): readonly Reply[] =>
  Array.from({ length: count }, (_, n) => reply(n))

/** Each call has different arguments. */
const looking = (n: number): Reply => calls([{ id: `c${n}`, name: 'look', args: { n } }])

const errors = (events: readonly ChatSessionEvent[]): readonly string[] =>
  events.flatMap((event) => (event.kind === 'error' ? [event.text] : []))

/** What a server would reject: a call without its result, or a result without its call. */
function unpaired({ asked }: ModelServer): readonly string[] {
  const messages = (asked.at(-1)?.body.messages ?? []) as readonly {
    readonly tool_calls?: readonly { readonly id: string }[]
    readonly tool_call_id?: string
  }[]
  const created = messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id))
  const answered = messages.flatMap(({ tool_call_id }) => tool_call_id ?? [])
  return [...created.filter((id) => !answered.includes(id)), ...answered.filter((id) => !created.includes(id))]
}

describe('requests', () => {
  test('end at fifty, and /retry continues with the pending message', async () => {
    const server = await modelServer(...times(60, looking), answer('Done.'))
    const session = chatSession({ ...server, tools, trusted: ['look'] })
    const events = await sendLine(session, 'Go')
    expect(endingOf(events)).toBe('limit')
    expect(server.asked).toHaveLength(50)
    expect(errors(events)).toEqual([
      expect.stringMatching(/Stopped after 50 requests.*--max-requests.*Type \/retry to continue/),
    ])
    // The results of the last call are on disk and pending.
    expect(toolUseResultsOf(session.state.next_message as never)).toMatchObject([
      { tool_use_id: 'c49', status: 'Success' },
    ])
    const more = await sendLine(session, '/retry')
    expect([endingOf(more), answerText(more)]).toEqual(['answered', 'Done.'])
    expect(server.asked).toHaveLength(61)
    expect(unpaired(server)).toEqual([])
  })

  test('end at the configured limit, and another prompt can be sent', async () => {
    const server = await modelServer(...times(3, looking), answer('Fine.'))
    const session = chatSession({ ...server, tools, trusted: ['look'], limits: { maxRequests: 3, maxTokens: null } })
    expect(endingOf(await sendLine(session, 'Go'))).toBe('limit')
    const events = await sendLine(session, 'Stop looking.')
    expect([endingOf(events), answerText(events)]).toEqual(['answered', 'Fine.'])
    expect(server.asked).toHaveLength(4)
    expect(unpaired(server)).toEqual([])
    expect(readJournalOf(session).length).toBeGreaterThan(0)
  })

  test('count retries', async () => {
    const busy = json({ error: { message: 'busy' } }, 503)
    const server = await modelServer(busy, looking(1), busy, looking(2), answer('Done.'))
    const session = chatSession({
      ...server,
      tools,
      trusted: ['look'],
      retries: 2,
      limits: { maxRequests: 4, maxTokens: null },
    })
    expect(endingOf(await sendLine(session, 'Go'))).toBe('limit')
    expect(server.asked).toHaveLength(4)
  })
})

describe('tokens', () => {
  const limits = { maxRequests: 50, maxTokens: 1000 }

  test('are counted by the server’s report', async () => {
    const counted = (n: number): Reply =>
      calls([{ id: `c${n}`, name: 'look', args: { n } }], '', { input: 300, output: 50 })
    const server = await modelServer(...times(20, counted))
    const events = await sendLine(chatSession({ ...server, tools, trusted: ['look'], limits }), 'Go')
    expect(endingOf(events)).toBe('limit')
    expect(server.asked).toHaveLength(3)
    expect(errors(events)).toEqual([
      expect.stringMatching(/1,050 tokens in this turn; the limit is 1,000.*--max-tokens/),
    ])
  })

  test('are estimated if the server reports none', async () => {
    const server = await modelServer(...times(40, looking))
    const events = await sendLine(chatSession({ ...server, tools, trusted: ['look'], limits }), 'word '.repeat(300))
    expect(endingOf(events)).toBe('limit')
    expect(server.asked.length).toBeGreaterThan(0)
    expect(server.asked.length).toBeLessThan(10)
  })
})

describe('equal calls', () => {
  const equal = (name: string) => (n: number) =>
    calls([{ id: `c${n}`, name, args: n % 2 === 0 ? { n: 1, of: { a: 1, b: 2 } } : { of: { b: 2, a: 1 }, n: 1 } }])

  test('denied by the user end at three', async () => {
    const server = await modelServer(...times(400, equal('write')))
    const events = await sendLine(chatSession({ ...server, tools }), 'Go', () => 'no')
    expect(endingOf(events)).toBe('limit')
    expect(server.asked).toHaveLength(3)
    expect(errors(events)).toEqual([
      expect.stringMatching(/called write 3 times with the same arguments.*denied or failed/),
    ])
  })

  test('that fail, or name no tool, end at three', async () => {
    for (const name of ['fail', 'nothing']) {
      const server = await modelServer(...times(400, equal(name)), answer('Sorry.'))
      const session = chatSession({ ...server, tools, trusted: ['fail'] })
      expect([name, endingOf(await sendLine(session, 'Go'))]).toEqual([name, 'limit'])
      expect(server.asked).toHaveLength(3)
    }
  })

  test('that succeed end at ten: a command may be polled', async () => {
    const server = await modelServer(...times(10, equal('look')), answer('Ready.'))
    const session = chatSession({ ...server, tools, trusted: ['look'] })
    const events = await sendLine(session, 'Go')
    expect(endingOf(events)).toBe('limit')
    expect(server.asked).toHaveLength(10)
    expect(outputText(events)).toMatch(/called look 10 times/)
    expect(answerText(await sendLine(session, '/retry'))).toBe('Ready.')
  })

  test('are counted for each turn, and others do not count', async () => {
    const different = times(8, looking)
    const server = await modelServer(
      ...different,
      answer('1'),
      ...times(2, equal('fail')),
      answer('2'),
      equal('fail')(2),
      answer('3'),
    )
    const session = chatSession({ ...server, tools, trusted: ['look', 'fail'] })
    for (const line of ['a', 'b', 'c']) expect(endingOf(await sendLine(session, line))).toBe('answered')
  })

  test('beyond a limit in one answer are not run', async () => {
    let ran = 0
    const many = Array.from({ length: 200 }, (_, n) => ({ id: `c${n}`, name: 'count', args: { n } }))
    const count = fakeTool({ name: 'count', level: 'read-only', run: () => `${++ran}` })
    const server = await modelServer(calls(many), answer('Fewer, then.'))
    const events = await sendLine(chatSession({ ...server, tools: [count], trusted: ['count'] }), 'Go')
    expect([endingOf(events), ran]).toEqual(['answered', 0])
    expect(unpaired(server)).toEqual([])
  })
})

describe('fumi chat --no-interactive', () => {
  test('exits with its own code and the reason, and the chat can be resumed', async () => {
    const reading = (n: number): Reply =>
      calls([{ id: `c${n}`, name: 'fs_read', args: { operations: [{ mode: 'Directory', path: '.', depth: n }] } }])
    const server = await chatServer(...times(5, reading), answer('All read.'))
    const place = chatHome()
    const ran = (...more: string[]) =>
      fumiChat(['--base-url', server.baseURL, '--model', 'm', '--no-interactive', ...more], place)
    const stopped = await ran('--max-requests', '2', 'Read')
    expect(stopped).toMatchObject({ code: 14, out: '' })
    expect(stopped.err).toMatch(/Stopped after 2 requests in this turn\. .*fumi chat --resume/)
    expect(server.asked).toHaveLength(2)
    expect(await ran('--max-tokens', '1', '--resume', '--', '/retry')).toMatchObject({
      code: 14,
      err: expect.stringMatching(/--max-tokens/),
    })
    expect(server.asked).toHaveLength(3)
    expect(await ran('--resume', '--', '/retry')).toMatchObject({ code: 0, out: 'All read.\n' })
    expect(unpaired(server)).toEqual([])
    expect((await ran('--max-requests', '0', 'Read')).code).toBe(2)
    expect((await ran('--max-tokens', 'many', 'Read')).code).toBe(2)
  })
})
