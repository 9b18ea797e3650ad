/** Tools: who runs them, what the model receives, and that every call is answered once. */
import { describe, expect, test } from 'vitest'
import {
  type ChatHelper,
  OpenAITool,
  type ToolHandler,
  type ToolSource,
  type ToolSources,
  validate,
} from '../../../src/openai.ts'
import { DIALECTS, type Dialect, type ModelCall, replyIn } from '../../support/dialects.ts'
import type { Reply } from '../../support/model-server.ts'
import { collectEvents, historyText, startChat } from './test-chat.ts'

const openai = DIALECTS[0] as Dialect
const calls = (...text: readonly Partial<ModelCall>[]): Reply =>
  replyIn(openai, { calls: text.map((call, at) => ({ id: `c${at + 1}`, name: 'count', arguments: '{}', ...call })) })
const fine = replyIn(openai, { text: 'Fine.' })
const results = (chat: ChatHelper): readonly unknown[] =>
  chat.messages.flatMap((message) => (message.is('tool') ? [message.content] : []))

describe('a tool is registered', () => {
  const flat = { name: 'count', description: 'Counts', parameters: { type: 'object' } }
  const body = { type: 'function', function: flat }
  const count = (): string => 'three'

  test.each<[how: string, tool: ToolSource, handler?: ToolHandler]>([
    ['flat, with a function', flat, count],
    ['as the API takes it, with a function', body, count],
    ['as an OpenAITool', new OpenAITool(flat), count],
    ['with an object that has a method of its name', flat, { count }],
    ['with its handler beside it', { tool: flat, handler: count }],
    ['with its handler beside it, as the API takes it', { tool: body, handler: { count } }],
    ['with its handler beside an OpenAITool', { tool: new OpenAITool(flat), handler: count }],
    ['with its handler inside', { ...flat, handler: count }],
    ['with a method of its own name', { ...flat, count }],
  ])('%s', async (_, tool, handler) => {
    const { chat, server } = await startChat([calls({}), fine])
    chat.registerTool(tool, handler)
    await chat.prompt('How many?')
    expect(results(chat)).toEqual(['three'])
    expect(server.asked[0]?.body['tools']).toEqual([body])
  })

  test.each<[how: string, tools: ToolSources]>([
    ['a list', [{ ...flat, handler: count }]],
    ['by names', { count: { description: 'Counts', parameters: { type: 'object' }, handler: count } }],
    ['by names, with handlers beside them', { count: { tool: { ...flat, name: '' }, handler: count } }],
    [
      'by names, as the API takes them',
      { count: { tool: { type: 'function', function: { ...flat, name: '' } }, handler: count } },
    ],
    ['an object that runs its tools itself', { tools: [flat], count } as ToolSources],
  ])('among several: %s', async (_, tools) => {
    const { chat, server } = await startChat([calls({}), fine], { tools })
    await chat.prompt('How many?')
    expect(results(chat)).toEqual(['three'])
    expect(server.asked[0]?.body['tools']).toEqual([body])
  })

  test('replacing one of the same name, and removed again', async () => {
    const { chat, server } = await startChat([calls({}), fine, fine], {
      parameters: { model: 'm', tools: [{ ...flat, handler: count }] },
    })
    chat.registerTool({ name: 'count' }, () => 'four')
    await chat.prompt('How many?')
    expect(results(chat)).toEqual(['four'])
    expect(chat.tools.map(({ name }) => name)).toEqual(['count'])
    expect([chat.unregisterTool('count'), chat.unregisterTool('count')]).toEqual([true, false])
    await chat.prompt('And now?')
    expect(server.asked.at(-1)?.body['tools']).toBeUndefined()
  })

  test('or refused without an implementation', async () => {
    const { chat } = await startChat([])
    expect(() => chat.registerTool(flat)).toThrow(/The tool 'count' has no function/)
    expect(() => chat.registerTool({ description: 'nameless' }, count)).toThrow(/has no name/)
    expect(() => chat.registerTools(5 as unknown as ToolSources)).toThrow(/a list/)
    chat.registerTool({ type: 'web_search' })
    expect(chat.tools.map(({ type }) => type)).toEqual(['web_search'])
  })

  test('as a method, which sees its object', async () => {
    const counter = {
      tools: [flat],
      rows: 7,
      count(): number {
        return this.rows
      },
    }
    const { chat } = await startChat([calls({}), fine], { tools: counter as unknown as ToolSources })
    await chat.prompt('How many?')
    expect(results(chat)).toEqual(['7'])
  })

  test('under a name that the server rejects, and still found', async () => {
    const { chat, server } = await startChat([])
    chat.registerTool({ name: 'rows.count' }, () => 'three')
    server.say((asked, response) => {
      const [tool] = asked.body['tools'] as [{ function: { name: string } }]
      return calls({ name: tool.function.name })(asked, response)
    }, fine)
    await chat.prompt('How many?')
    expect(results(chat)).toEqual(['three'])
    expect(JSON.stringify(server.asked[1]?.body)).not.toContain('rows.count')
  })

  test('as a custom tool, which local servers get as a function of one text', async () => {
    for (const profile of ['openai', 'ollama'] as const) {
      const { chat, server } = await startChat([calls({ name: 'dial', arguments: '{"input":"110"}' }), fine], {
        profile,
      })
      chat.registerTool({ type: 'custom', name: 'dial' }, ({ input }) => `dialled ${input}`)
      await chat.prompt('Call.')
      expect(results(chat)).toEqual(['dialled 110'])
      expect(server.asked[0]?.body['tools']).toMatchObject([{ type: profile === 'openai' ? 'custom' : 'function' }])
    }
  })
})

describe('tool results', () => {
  test.each<[what: string, call: Partial<ModelCall>, told: RegExp | string]>([
    ['a text as it is', { name: 'echo', arguments: '{"value":"as it is"}' }, 'as it is'],
    ['an object as JSON', { name: 'echo', arguments: '{"value":{"a":[1]}}' }, '{"a":[1]}'],
    ['nothing as nothing', { name: 'echo' }, ''],
    ['that there are no arguments, for an empty text', { name: 'keys', arguments: '' }, '[]'],
    ['that a tool threw', { name: 'throws' }, "Error: 'throws' failed: no such table"],
    ['that a tool rejected, with whatever', { name: 'rejects' }, "Error: 'rejects' failed: 5"],
    [
      'that there is no such tool, and which there are',
      { name: 'gone' },
      "Error: there is no tool 'gone'. The tools are: echo, keys, throws, rejects.",
    ],
    ['that its arguments are no JSON', { name: 'echo', arguments: '{"value":' }, /must be one JSON object/],
    ['that its arguments are no object', { name: 'echo', arguments: '[1]' }, /must be one JSON object/],
    ['that a call has no name', { name: '' }, /there is no tool ''/],
  ])('%s', async (_, call, reported) => {
    for (const stream of [false, true]) {
      const { chat } = await startChat([calls(call), fine])
      chat.registerTools({
        echo: { handler: ({ value }) => value },
        keys: { handler: (args) => Object.keys(args) },
        throws: {
          handler: () => {
            throw new Error('no such table')
          },
        },
        rejects: { handler: () => Promise.reject(5) },
      })
      expect((await chat.prompt('Go.', { stream })).success).toBe(true)
      expect(results(chat)).toEqual([typeof reported === 'string' ? reported : expect.stringMatching(reported)])
      expect(chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    }
  })
})

describe('calls', () => {
  test('run one after the other, or all at once with results in order', async () => {
    for (const parallel of [false, true]) {
      const { chat } = await startChat([calls({ arguments: '{"n":1}' }, { arguments: '{"n":2}' }), fine], { parallel })
      const log: string[] = []
      let second = (): void => {}
      const started = new Promise<void>((resolve) => {
        second = resolve
      })
      chat.registerTool({ name: 'count' }, async ({ n }) => {
        log.push(`begin ${n}`)
        if (n === 2) second()
        // When calls run concurrently, the first waits for the second; otherwise it would hang.
        if (n === 1 && parallel) await started
        log.push(`end ${n}`)
        return `result ${n}`
      })
      await chat.prompt('Go.')
      expect(log).toEqual(
        parallel ? ['begin 1', 'begin 2', 'end 2', 'end 1'] : ['begin 1', 'end 1', 'begin 2', 'end 2'],
      )
      expect(results(chat)).toEqual(['result 1', 'result 2'])
    }
  })

  test('are confirmed one by one, and refused with a reason', async () => {
    for (const parallel of [false, true]) {
      const asked: string[] = []
      const { chat } = await startChat([calls({}, { name: 'drop' }, { name: 'wipe' }, { name: 'odd' }), fine], {
        parallel,
        confirm: async ({ name }) => {
          asked.push(name)
          if (name === 'odd') throw new Error('no terminal')
          return name === 'count' ? true : name === 'wipe' ? 'Not on Fridays.' : false
        },
      })
      const ran: string[] = []
      for (const name of ['count', 'drop', 'wipe', 'odd']) chat.registerTool({ name }, () => ran.push(name))
      await chat.prompt('Go.')
      expect([asked, ran]).toEqual([['count', 'drop', 'wipe', 'odd'], ['count']])
      expect(results(chat)).toEqual([
        '1',
        'Error: the call was refused.',
        'Error: the call was refused. Not on Fridays.',
        'Error: the call could not be confirmed: no terminal',
      ])
    }
  })

  test('that take too long time out and report it', async () => {
    const { chat, waits } = await startChat([calls({}, { name: 'slow' }), fine], { toolTimeoutMs: 7000 })
    const signals: AbortSignal[] = []
    const forever = (_: unknown, { signal }: { readonly signal: AbortSignal }): Promise<never> => {
      signals.push(signal)
      return new Promise(() => {})
    }
    chat.registerTool({ name: 'count' }, forever)
    chat.registerTool({ name: 'slow' }, forever, { timeoutMs: 90 })
    await chat.prompt('Go.')
    expect(waits).toEqual([7000, 90])
    expect(results(chat)).toEqual([
      "Error: 'count' did not end within 7000 ms.",
      "Error: 'slow' did not end within 90 ms.",
    ])
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
  })

  test('end after the maximum of rounds, all answered, and can be resumed', async () => {
    const again = Array.from({ length: 4 }, (_, at) => calls({ id: `r${at}` }))
    const { chat, server } = await startChat([...again, fine], { maxRounds: 2 })
    let ran = 0
    chat.registerTool({ name: 'count' }, () => ++ran)
    expect(await chat.prompt('Go.')).toMatchObject({ success: false, errors: [{ kind: 'rounds' }] })
    expect([ran, server.asked.length]).toEqual([2, 3])
    expect(validate(chat.messages)).toEqual([])
    expect((await chat.resume()).success).toBe(true)
    expect([ran, server.asked.length]).toEqual([3, 5])
    expect(historyText(chat)).toMatch(
      /^user Go\. \/ assistant r0 \/ tool r0 .* assistant r3 \/ tool r3 \/ assistant Fine\.$/,
    )
  })

  test('with repeated ids get their own', async () => {
    const { chat } = await startChat([calls({ id: 'call_0' }, { id: 'call_0' }), calls({ id: 'call_0' }), fine])
    chat.registerTool({ name: 'count' }, () => 'x')
    expect((await chat.prompt('Go.', { stream: true })).success).toBe(true)
    expect(historyText(chat)).toBe(
      'user Go. / assistant call_0+call_0_2 / tool call_0 / tool call_0_2 / assistant call_0_3 / tool call_0_3 / assistant Fine.',
    )
  })

  test('are reported as events, and their tokens are summed', async () => {
    const { chat } = await startChat([calls({ arguments: '{"n":1}' }, { name: 'gone' }), fine])
    chat.registerTool({ name: 'count' }, () => 'x')
    const events = await collectEvents(chat.stream('Go.'))
    const kinds = events.map(({ kind }) => kind).filter((kind, at, list) => kind !== list[at - 1])
    expect(kinds).toEqual(['call', 'message', 'tool_started', 'tool_finished', 'text', 'message', 'done'])
    expect(events.flatMap((event) => (event.kind === 'tool_finished' ? [[event.name, event.outcome]] : []))).toEqual([
      ['count', 'success'],
      ['gone', 'unknown_tool'],
    ])
    const last = events.at(-1)
    expect(last?.kind === 'done' && last.result.usage).toEqual({
      prompt_tokens: 40,
      completion_tokens: 20,
      total_tokens: 60,
    })
  })
})

describe('calls that the caller answers', () => {
  const own = { autoHandleToolCalls: false, tools: [{ name: 'count' }] }

  test('wait for the caller', async () => {
    const { chat, server } = await startChat([calls({}, {}), fine], own)
    const result = await chat.prompt('Go.')
    expect(result.success && result.message.tool_calls?.length).toBe(2)
    const [first, second] = chat.openCalls
    if (!first || !second) throw new Error('both are open')
    chat.answer(second, { rows: 2 })
    chat.answer(first, 'one')
    expect(() => chat.answer(first, 'again')).toThrow(/No call is waiting/)
    expect((await chat.resume()).success).toBe(true)
    expect(historyText(chat)).toBe('user Go. / assistant c1+c2 / tool c2 / tool c1 / assistant Fine.')
    expect(server.asked.length).toBe(2)
  })

  test('are closed when the caller sends something else', async () => {
    const { chat } = await startChat([calls({}, {}), fine], own)
    await chat.prompt('Go.')
    const [first] = chat.openCalls
    if (first) chat.answer(first, 'one')
    expect((await chat.prompt('Never mind.')).success).toBe(true)
    expect(historyText(chat)).toBe(
      'user Go. / assistant c1+c2 / tool c1 / tool c2 / user Never mind. / assistant Fine.',
    )
    expect(results(chat)).toEqual(['one', 'Error: there is no result of this call.'])
  })
})
