/** A turn can be ended at any moment: by a signal, by the conversation, or by ending the iteration. */
import { describe, expect, test } from 'vitest'
import { type ChatEvent, ChatHelper, validate } from '../../../src/openai.ts'
import { DIALECTS, type Dialect, replyIn } from '../../support/dialects.ts'
import { events, json, type Reply, silence } from '../../support/model-server.ts'
import { collectEvents, historyText, startChat } from './test-chat.ts'

const openai = DIALECTS[0] as Dialect
const fine = replyIn(openai, { text: 'Fine.' })
const two = replyIn(openai, {
  calls: [
    { id: 'c1', name: 'count', arguments: '{}' },
    { id: 'c2', name: 'count', arguments: '{}' },
  ],
})
/** Sends some text and then nothing more. */
const pausing: Reply = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(`data: ${JSON.stringify({ choices: [{ delta: { content: 'So far' } }] })}\n\n`)
  const call = { index: 0, id: 'c9', function: { name: 'count', arguments: '{"a' } }
  response.write(`data: ${JSON.stringify({ choices: [{ delta: { tool_calls: [call] } }] })}\n\n`)
}

describe('a turn that is aborted', () => {
  test('before it starts sends nothing', async () => {
    const { chat, server } = await startChat([fine])
    const result = await chat.prompt('Hello?', { signal: AbortSignal.abort() })
    expect(result).toMatchObject({ success: false, errors: [{ kind: 'aborted' }] })
    expect([server.asked.length, historyText(chat)]).toEqual([0, 'user Hello?'])
    expect((await chat.resume()).success).toBe(true)
  })

  test('while the server is silent, which notices', async () => {
    for (const stream of [false, true]) {
      let isClosed = false
      const quiet: Reply = (_, response) => void response.once('close', () => (isClosed = true))
      const { chat, server } = await startChat([quiet, fine])
      const turn = chat.prompt('Hello?', { stream })
      await until(() => server.asked.length === 1)
      chat.abort()
      expect(await turn).toMatchObject({ success: false, errors: [{ kind: 'aborted' }] })
      expect(historyText(chat)).toBe('user Hello?')
      await until(() => isClosed)
    }
  })

  test('while streaming keeps its text and drops incomplete calls', async () => {
    const { chat } = await startChat([pausing, fine])
    const ending = new AbortController()
    const onData = ({ kind }: { readonly kind: string }): void => {
      if (kind === 'call') ending.abort()
    }
    const result = await chat.prompt('Hello?', { signal: ending.signal, onData })
    expect(result).toMatchObject({ success: false, errors: [{ kind: 'aborted' }], partial: { content: 'So far' } })
    expect(chat.messages[1]?.toJSON()).toEqual({ role: 'assistant', content: 'So far' })
    expect((await chat.prompt('Go on.')).success).toBe(true)
  })

  test('while it waits to retry', async () => {
    const { chat, server } = await startChat([json({}, 500), fine], {
      clock: { now: () => 0, random: () => 0, sleep: async () => chat.abort() },
    })
    expect(await chat.prompt('Hello?')).toMatchObject({ success: false, errors: [{ kind: 'aborted' }] })
    expect(server.asked.length).toBe(1)
  })

  test.each([false, true])('while tools run answers every call; in parallel: %s', async (parallel) => {
    const { chat, server } = await startChat([two, fine], { parallel })
    const signals: AbortSignal[] = []
    chat.registerTool({ name: 'count' }, (_, { signal }) => {
      signals.push(signal)
      if (signals.length === (parallel ? 2 : 1)) queueMicrotask(() => chat.abort())
      return new Promise(() => {})
    })
    const reported = await collectEvents(chat.stream('Go.'))
    expect(reported.at(-1)).toMatchObject({ kind: 'failed', result: { errors: [{ kind: 'aborted' }] } })
    expect(reported.filter((event) => event.kind === 'tool_finished').map(({ outcome }) => outcome)).toEqual([
      'aborted',
      'aborted',
    ])
    expect(historyText(chat)).toBe('user Go. / assistant c1+c2 / tool c1 / tool c2')
    expect(signals.every(({ aborted }) => aborted)).toBe(true)
    expect((await chat.prompt('Again.')).success).toBe(true)
    expect(server.asked.length).toBe(2)
  })

  test('while a call waits to be confirmed', async () => {
    const { chat } = await startChat([two, fine], {
      confirm: () => {
        queueMicrotask(() => chat.abort())
        return new Promise(() => {})
      },
    })
    let ran = 0
    const outcomes: string[] = []
    chat.registerTool({ name: 'count' }, () => ++ran)
    const onData = (event: ChatEvent): void => {
      if (event.kind === 'tool_finished') outcomes.push(event.outcome)
    }
    expect(await chat.prompt('Go.', { onData })).toMatchObject({ success: false, errors: [{ kind: 'aborted' }] })
    expect(outcomes).toEqual(['aborted', 'aborted'])
    expect([ran, historyText(chat)]).toEqual([0, 'user Go. / assistant c1+c2 / tool c1 / tool c2'])
  })
})

describe('a consumer that stops listening', () => {
  test.each(['text', 'message', 'tool_started', 'tool_finished', 'trimmed', 'done'])(
    'at %s leaves a valid history',
    async (kind) => {
      for (const parallel of [false, true]) {
        const long = [...'abc'].map((id) => events([{ choices: [{ delta: { content: id }, finish_reason: 'stop' }] }]))
        const { chat } = await startChat([...long, two, fine, fine], { parallel, numberOfMessages: 6 })
        let waiting: AbortSignal | undefined
        chat.registerTool({ name: 'count' }, (_, { signal }) => {
          waiting = signal
          return 'x'
        })
        for (const words of ['a', 'b', 'c']) await chat.prompt(words)
        let reported = 0
        for await (const event of chat.stream('Go.')) if (event.kind === kind && ++reported === 1) break
        expect(reported).toBe(1)
        expect(validate(chat.messages)).toEqual([])
        expect(waiting?.aborted ?? true).toBe(true)
        expect((await chat.prompt('Again.')).success || chat.lastErrors).not.toEqual([])
        expect(validate(chat.messages)).toEqual([])
      }
    },
  )
})

test('a transport that ignores the signal is not awaited, but closed when there is no listener', async () => {
  const ended: string[] = []
  const stream = async function* (_: unknown, signal: AbortSignal): AsyncGenerator<unknown> {
    try {
      for (const content of ['a', 'b']) yield { choices: [{ delta: { content } }] }
      if (!signal.aborted) await new Promise(() => {})
    } finally {
      ended.push('ended')
    }
  }
  const transport = { stream, complete: () => new Promise(() => {}) }
  const chat = new ChatHelper({ transport, parameters: { model: 'm' } })
  for await (const { kind } of chat.stream('One')) if (kind === 'text') break
  expect(ended).toEqual(['ended'])
  const waiting = chat.prompt('Two')
  queueMicrotask(() => chat.abort())
  expect(await waiting).toMatchObject({ errors: [{ kind: 'aborted' }] })
  for await (const event of chat.stream('Three'))
    if (event.kind === 'text' && event.text === 'b') queueMicrotask(() => chat.abort())
  expect(historyText(chat)).toBe('user One / user Two / user Three / assistant ab')
})

test('one turn at a time', async () => {
  const { chat } = await startChat([silence()])
  const turn = chat.prompt('One')
  await expect(chat.prompt('Two')).rejects.toThrow(/A turn is running/)
  for (const change of [() => chat.push('x'), () => chat.reset(), () => chat.load(chat.save())]) {
    expect(change).toThrow(/A turn is running/)
  }
  chat.abort()
  await turn
  expect(historyText(chat)).toBe('user One')
})

test('an exception in a callback reaches the caller, and the history stays valid', async () => {
  const { chat } = await startChat([two, fine])
  chat.registerTool({ name: 'count' }, () => 'x')
  const onData = ({ kind }: { readonly kind: string }): void => {
    if (kind === 'tool_started') throw new Error('a bug of the caller')
  }
  await expect(chat.prompt('Go.', { onData })).rejects.toThrow('a bug of the caller')
  expect(validate(chat.messages)).toEqual([])
  expect((await chat.resume()).success).toBe(true)
})

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(setImmediate)
}
