import { describe, expect, test } from 'vitest'
import { conversationSize, isLengthy } from '../../src/conversation/budget.ts'
import {
  automaticStrategy,
  clampMessageLength,
  createSummaryRequest,
  DEFAULT_STRATEGY,
  nextStrategy,
} from '../../src/conversation/compact.ts'
import { Entries } from '../../src/conversation/entries.ts'
import { truncateSafeToolUseResults } from '../../src/conversation/message-text.ts'
import { newResponse } from '../../src/conversation/new-message.ts'
import { EMPTY_METADATA } from '../../src/conversation/record.ts'
import { asSendable, contextMessage, contextPair, hookContext } from '../../src/conversation/request.ts'
import { newState } from '../../src/conversation/state.ts'
import type { JsonValue } from '../../src/lib/json/lossless.ts'
import { byteLength } from '../../src/model/token-estimate.ts'
import { continueWith, conversationOf, ENV, prompt, toolResult, toolUse, withExchange } from './test-states.ts'

const tool = (name: string) => ({ ToolSpecification: { name, description: '', input_schema: { json: null } } })
const tools = new Map([
  ['native___', [tool('look'), tool('dummy')]],
  ['srv', [tool('far')]],
])

describe('sending', () => {
  test('alternates the messages of the range, and offers all tools with the waiting one', () => {
    const state = { ...continueWith(newState('c', { tools }), 'a', 'b'), next_message: prompt('c') }
    const { request, state: after } = asSendable(state, { env: ENV })
    expect(request?.history.map(({ kind, message }) => [kind, message.content])).toEqual([
      ['user', 'a'],
      ['assistant', 'a!'],
      ['user', 'b'],
      ['assistant', 'b!'],
    ])
    expect(request?.user_input_message.content).toBe('c')
    expect(request?.user_input_message.user_input_message_context.tools).toHaveLength(3)
    expect(after.valid_history_range).toEqual([0, 2])
    expect(asSendable(conversationOf('a'), { env: ENV }).request).toBeUndefined()
  })

  test('drops entries outside the range permanently', () => {
    const entry = { user: prompt('p'), assistant: newResponse(null, 'r'), request_metadata: null }
    const long = {
      ...newState('c'),
      history: Entries.over(Array.from({ length: 4_998 }, () => entry)),
      next_message: prompt('n'),
    }
    const { state, request } = asSendable(long, { env: ENV })
    expect(state.history.length).toBe(4_997)
    expect(request?.history).toHaveLength(9_994)
  })

  test('puts summary, files, hooks and instruction before the history, in this order', () => {
    const state = {
      ...conversationOf('a'),
      next_message: prompt('b'),
      latest_summary: ['SUM', EMPTY_METADATA] as const,
    }
    const input = {
      env: ENV,
      files: [
        { path: '/x/A.md', content: 'alpha' },
        { path: 'B.md', content: 'beta' },
      ],
      spawnHooks: [{ trigger: 'agentSpawn', exitCode: 0, output: 'hooked' }],
      instruction: 'Be brief.',
      promptHooks: [{ trigger: 'userPromptSubmit', exitCode: 0, output: 'now' }],
    }
    const { request, state: after } = asSendable(state, input)
    const first = request?.history[0]?.message.content ?? ''
    const order = [
      'SUMMARY CONTENT:\nSUM\n--- CONTEXT ENTRY END',
      '--- CONTEXT ENTRY BEGIN ---\n[/x/A.md]\nalpha\n[B.md]\nbeta\n--- CONTEXT ENTRY END ---',
      'hooked\n\n--- CONTEXT ENTRY END ---\n\nFollow this instruction: Be brief.',
    ]
    const places = order.map((part) => first.indexOf(part))
    expect(places).toEqual([...places].sort((a, b) => a - b))
    expect(places).not.toContain(-1)
    expect(after.context_message_length).toBe(byteLength(contextMessage(state, input)?.text ?? ''))
    expect(request?.user_input_message.content).toMatch(
      /^--- CONTEXT ENTRY BEGIN ---\n[\s\S]*now\n\n--- CONTEXT ENTRY END ---\n\n\n--- USER MESSAGE BEGIN ---\nb--- USER MESSAGE END ---$/,
    )
    expect(contextMessage(conversationOf('a'), {})).toBeUndefined()
  })

  test('a hook without output adds no context', () => {
    expect(hookContext([], 'agentSpawn')).toBeUndefined()
    expect(hookContext([{ trigger: 'agentSpawn', exitCode: 1, output: 'x' }], 'agentSpawn')).toBeUndefined()
  })
})

describe('compaction', () => {
  const looped = withExchange(
    withExchange(newState('c', { tools }), prompt('a'), toolUse('1')),
    toolResult('1', 'y'.repeat(100)),
    toolUse('2'),
  )

  test('requests a summary with the placeholder as the only tool', () => {
    const request = createSummaryRequest(continueWith(looped, 'end'), ENV)
    expect(request?.user_input_message.user_input_message_context.tools).toEqual([tool('dummy')])
    const names = request?.history
      .flatMap(({ message }) => ('tool_uses' in message ? (message.tool_uses ?? []) : []))
      .map(({ name }) => name)
    expect(names).toEqual(['dummy', 'dummy'])
    expect(request?.user_input_message.content).toContain('summary')
  })

  test('turns its prompt into a cancellation if tool results are pending', () => {
    const request = createSummaryRequest(looped, ENV, DEFAULT_STRATEGY, 'mind the tests')
    expect(request?.user_input_message.user_input_message_context.tool_results).toHaveLength(1)
    expect(request?.user_input_message.content).toContain('mind the tests')
  })

  test('omits the newest entries, truncates long messages and includes the earlier summary', () => {
    const strategy = { messagesToExclude: 1, truncateLargeMessages: true, maxMessageLength: 50 }
    const request = createSummaryRequest(
      { ...continueWith(looped, 'end'), latest_summary: ['EARLIER', EMPTY_METADATA] },
      ENV,
      strategy,
    )
    expect(request?.history).toHaveLength(4)
    expect(JSON.stringify(request)).toContain('...content truncated due to length')
    expect(request?.user_input_message.content).toContain('SUMMARY CONTENT:\nEARLIER\n')
    expect(createSummaryRequest(newState('c'), ENV)).toBeUndefined()
  })

  test('retries with less and finally gives up', () => {
    const cut = { truncateLargeMessages: true, maxMessageLength: 25_000 }
    expect(nextStrategy(DEFAULT_STRATEGY, 2)).toEqual({ messagesToExclude: 0, ...cut })
    const second = nextStrategy(DEFAULT_STRATEGY, 9)
    expect(second).toEqual({ ...DEFAULT_STRATEGY, messagesToExclude: 1 })
    expect(nextStrategy(second ?? DEFAULT_STRATEGY, 9)).toEqual({ messagesToExclude: 1, ...cut })
    expect(nextStrategy({ messagesToExclude: 1, ...cut }, 9)).toBeUndefined()
    expect(automaticStrategy(3)).toEqual(DEFAULT_STRATEGY)
    expect(automaticStrategy(2)).toEqual({ messagesToExclude: 0, ...cut })
    expect([clampMessageLength(1), clampMessageLength(1e9)]).toEqual([34, 400_000])
  })
})

test('the size of a conversation counts its texts', () => {
  const size = conversationSize(conversationOf('ab', 'c').history, [contextPair('xyz', ENV)])
  expect(size).toMatchObject({ user: 3, assistant: 5 })
  expect(size.total).toBe(size.user + size.assistant + size.context)
  expect([isLengthy({ ...size, total: 800_000 }), isLengthy({ ...size, total: 799_999 })]).toEqual([true, false])
})

test('a result that is not JSON is unchanged, with a warning', () => {
  const cycle: { self?: JsonValue } = {}
  cycle.self = cycle as JsonValue
  const lines: string[] = []
  const given = [
    {
      tool_use_id: 'a',
      content: [{ Json: cycle as JsonValue }, { Json: { big: 1n } as unknown as JsonValue }, { Text: 'z'.repeat(60) }],
      status: 'Success',
    },
  ]
  const [cut] = truncateSafeToolUseResults(given, 40, (line) => lines.push(line))
  expect(cut?.content[0]).toBe(given[0]?.content[0])
  expect(cut?.content[1]).toBe(given[0]?.content[1])
  expect(cut?.content[2]).toEqual({ Text: 'zzzzzz...content truncated due to length' })
  expect(lines).toHaveLength(2)
})
