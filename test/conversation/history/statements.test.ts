/** The statements of specification 001 about histories, section by section, and its code examples. */

import { describe, expect, test } from 'vitest'
import {
  conversationPattern,
  conversationTurns,
  convertToDisplayMessages,
  getLatestMessage,
  type HistoryEntry,
  isCancelledToolUsesMessage,
  isConversationTurnComplete,
  isHistoryData,
  isHistoryEntry,
  isHistoryInputMessage,
  isHistoryObject,
  isHistoryPair,
  isHistoryResponseMessage,
  isPromptMessage,
  isResponse,
  isToolUseResponse,
  isToolUseResultsMessage,
  matchToolUses,
  pairOf,
} from '../../../src/amazon-q.ts'
import { answers, asks, cancelled, objectOf, prompt, results, turn } from './test-entries.ts'

/** Minimal, like the specification's examples: no times, variables or original arguments. */
const simple = {
  history: [
    [
      {
        content: { Prompt: { prompt: 'git remote add が失敗します' } },
        env_context: { env_state: { operating_system: 'macos' } },
        additional_context: '',
        images: null,
      },
      { Response: { message_id: '6f0d', content: 'リモートの名前を確かめてください。' } },
    ],
  ],
} as const

const use = { id: 'tooluse_A1', name: 'fs_read', orig_name: 'fs_read', args: { mode: 'Line', path: './NOTES.md' } }

const withTool = {
  history: [
    [
      { content: { Prompt: { prompt: '書き方の決まりは？' } }, additional_context: '', images: null },
      { ToolUse: { message_id: '3a11', content: 'まず文書を読みます。', tool_uses: [use] } },
    ],
    [
      {
        content: {
          ToolUseResults: {
            tool_use_results: [{ tool_use_id: 'tooluse_A1', status: 'Success', content: [{ Text: '一、短く。' }] }],
          },
        },
        additional_context: '',
        images: null,
      },
      { Response: { message_id: 'b7c2', content: '短く書くことです。' } },
    ],
  ],
} as const

describe('発見1: the structure of the history', () => {
  const history = turn(1)

  test('is a list of entries, each an input and its response', () => {
    expect(isHistoryData({ history })).toBe(true)
    expect(isHistoryData({ history: history.flat() })).toBe(false)
    for (const entry of history) expect([isHistoryPair(entry), isHistoryObject(entry)]).toEqual([true, false])
  })

  test('of later versions has objects, and one list may contain both', () => {
    const [first, second] = history
    if (!first || !second) throw new Error('two entries')
    const mixed: HistoryEntry[] = [first, objectOf(second), [first[0], first[1], null]]
    expect(isHistoryData({ history: mixed })).toBe(true)
    expect(mixed.map(isHistoryObject)).toEqual([false, true, false])
    const texts = mixed.map(pairOf).map(([input]) => (input.content.Prompt ? 'prompt' : 'results'))
    expect(texts).toEqual(['prompt', 'results', 'prompt'])
  })

  test.each([
    ['nothing', null],
    ['an input alone', [prompt('q')]],
    ['one element too many', [prompt('q'), answers('a'), null, null]],
    ['halves in the wrong order', [answers('a'), prompt('q')]],
    ['an input of an unknown kind', [{ content: { Hologram: {} } }, answers('a')]],
    ['an answer of two kinds', [prompt('q'), { ...answers('a'), ...asks('t') }]],
    ['a prompt that is no text', [{ content: { Prompt: { prompt: 5 } } }, answers('a')]],
    ['a use without id', [prompt('q'), { ToolUse: { content: '', tool_uses: [{ name: 'look' }] } }]],
    [
      'a result without status',
      { user: { content: { ToolUseResults: { tool_use_results: [{ tool_use_id: 't' }] } } }, assistant: answers('a') },
    ],
  ])('%s is no entry', (_, entry) => {
    expect(isHistoryEntry(entry)).toBe(false)
    expect(isHistoryData({ history: [entry] })).toBe(false)
  })
})

test('型定義: each variant has its guard', () => {
  const inputs = [prompt('q'), results('t'), cancelled('no', 't'), cancelled(null)]
  expect(inputs.map(isPromptMessage)).toEqual([true, false, false, false])
  expect(inputs.map(isToolUseResultsMessage)).toEqual([false, true, false, false])
  expect(inputs.map(isCancelledToolUsesMessage)).toEqual([false, false, true, true])
  expect(inputs.every(isHistoryInputMessage)).toBe(true)
  const responses = [asks('t'), asks(), answers('a')]
  expect(responses.map(isToolUseResponse)).toEqual([true, true, false])
  expect(responses.map(isResponse)).toEqual([false, false, true])
  expect(responses.every(isHistoryResponseMessage)).toBe(true)
  expect([...inputs, undefined, 'Prompt', []].some(isHistoryResponseMessage)).toBe(false)
})

describe('発見2: patterns', () => {
  test.each([
    ['1, one entry', turn(0), 1, 'simple'],
    ['2, one tool use in two entries', turn(1), 2, 'single'],
    ['3, n entries', turn(5), 6, 'complex'],
    ['1 over several turns', [...turn(0), ...turn(0)], 2, 'simple'],
    ['2 with other turns around', [...turn(0), ...turn(1), ...turn(0)], 4, 'single'],
    ['3 over two turns of one tool each', [...turn(1), ...turn(1)], 4, 'complex'],
  ] as const)('pattern %s', (_, history, entries, pattern) => {
    expect(history.length).toBe(entries)
    expect(conversationPattern(history)).toEqual({ pattern, incomplete: false })
  })

  test('incomplete is a flag separate from the pattern', () => {
    expect(conversationPattern(turn(1, 'goes on'))).toEqual({ pattern: 'single', incomplete: true })
    expect(conversationPattern(turn(4, 'goes on'))).toEqual({ pattern: 'complex', incomplete: true })
  })

  test('a conversation without entries has none', () => {
    expect(conversationPattern([])).toBeNull()
    expect(conversationPattern({ history: [] })).toBeNull()
  })
})

test('発見3: prompt, thought and tool, result, and on until a response ends the turn', () => {
  const [only, ...others] = conversationTurns(turn(2))
  expect(others).toEqual([])
  expect(only).toMatchObject({
    prompt: 'do it',
    thinking: ['thinks of t1', 'thinks of t2'],
    response: 'done',
    status: 'complete',
  })
  expect(only?.toolsUsed.map(({ id }) => id)).toEqual(['t1', 't2'])
})

describe('発見4: ids', () => {
  test('each answer has a message id, each tool use its own', () => {
    const [only] = conversationTurns(withTool)
    expect(only?.messageIds).toEqual(['3a11', 'b7c2'])
    expect(only?.toolsUsed).toEqual([use])
  })

  test('results find their uses among those that ran at once', () => {
    const { uses } = matchToolUses([
      [prompt('q'), asks('a', 'b', 'c')],
      [results('c', 'bad-not-asked', 'a', 'b'), answers('done')],
    ])
    expect(uses.map(({ use: { id }, result }) => [id, result?.tool_use_id])).toEqual([
      ['a', 'a'],
      ['b', 'b'],
      ['c', 'c'],
    ])
  })
})

describe('会話ターンの定義: a turn', () => {
  test('is complete with its response, not with each entry', () => {
    const history = turn(2)
    expect(history.map(isConversationTurnComplete)).toEqual([false, false, true])
    expect(history.map(objectOf).map(isConversationTurnComplete)).toEqual([false, false, true])
    expect(conversationTurns([...history, ...turn(0)]).map(({ steps }) => steps.length)).toEqual([3, 1])
  })

  test('depends only on the answer', () => {
    expect(isConversationTurnComplete([{} as never, answers('a')])).toBe(true)
    for (const broken of [null, undefined, 5, [], {}, [prompt('q')]])
      expect(isConversationTurnComplete(broken as never)).toBe(false)
  })
})

describe('実装への影響 1: the last entry', () => {
  test('is a pair, not a message', () => {
    const { history } = withTool
    const [input, response] = pairOf(history[history.length - 1] ?? history[0])
    expect(input.content.Prompt).toBeUndefined()
    expect(response.Response?.content).toBe('短く書くことです。')
  })
})

describe('実装への影響 2: messages to show', () => {
  test('例1, a simple conversation', () => {
    expect(convertToDisplayMessages(simple)).toEqual([
      { type: 'user', content: 'git remote add が失敗します' },
      { type: 'assistant', content: 'リモートの名前を確かめてください。' },
    ])
  })

  test('例2, with a tool: thoughts name the tools, results are no messages', () => {
    const messages = [
      { type: 'user', content: '書き方の決まりは？' },
      { type: 'assistant', content: 'まず文書を読みます。', metadata: { toolsUsed: [use], thinking: true } },
      { type: 'assistant', content: '短く書くことです。' },
    ]
    expect(convertToDisplayMessages(withTool)).toEqual(messages)
    expect(convertToDisplayMessages(withTool.history)).toEqual(messages)
    const state = {
      conversation_id: 'c',
      next_message: null,
      history: withTool.history.map((entry) => objectOf(entry)),
    }
    expect(convertToDisplayMessages(state)).toEqual(messages)
  })

  test('the reply of a user who denies a tool is shown', () => {
    const history: HistoryEntry[] = [
      [prompt('q'), asks('t')],
      [cancelled('not that file', 't'), answers('a')],
    ]
    expect(convertToDisplayMessages(history).filter(({ type }) => type === 'user')).toEqual([
      { type: 'user', content: 'q' },
      { type: 'user', content: 'not that file', metadata: { cancelled: true } },
    ])
    expect(convertToDisplayMessages([[cancelled(null, 't'), answers('a')]])).toHaveLength(1)
  })

  test('an invalid entry is skipped', () => {
    expect(convertToDisplayMessages([...turn(0), { user: 'who?' }, ...turn(0)])).toHaveLength(4)
  })
})

describe('実装への影響 3: the latest message', () => {
  test.each([
    ['nothing in an empty history', [], null],
    ['the response', turn(1), 'done'],
    ['the thought, while tools run', turn(1, 'goes on'), 'thinks of t1'],
    ['that of the last entry that can be understood', [...turn(0), 'broken'], 'done'],
    ['nothing where no entry can be', ['broken'], null],
  ])('is %s', (_, history, message) => {
    expect(getLatestMessage(history)).toBe(message)
    expect(getLatestMessage({ history })).toBe(message)
  })
})
