import { describe, expect, test } from 'vitest'
import { conversationTurns, type HistorySource, matchToolUses, readHistory, toolName } from '../../../src/amazon-q.ts'
import { answers, asks, cancelled, prompt, result, results, turn, use } from './test-entries.ts'

const reported = (history: HistorySource) =>
  conversationTurns(history).map(({ prompt: text, firstEntry, lastEntry, status }) => [
    text,
    firstEntry,
    lastEntry,
    status,
  ])

describe('turns', () => {
  test('a turn contains all its steps', () => {
    const history = [...turn(0), [prompt('q'), asks('a', 'b')], [results('a', 'b'), answers('r')]]
    const [, second] = conversationTurns(history)
    expect(second).toEqual({
      prompt: 'q',
      steps: [
        { index: 1, input: prompt('q'), response: asks('a', 'b') },
        { index: 2, input: results('a', 'b'), response: answers('r') },
      ],
      thinking: ['thinks of a,b'],
      response: 'r',
      toolsUsed: [use('a'), use('b')],
      messageIds: ['m-a,b', 'm-r'],
      firstEntry: 1,
      lastEntry: 2,
      status: 'complete',
      pattern: 'single',
      incomplete: false,
    })
  })

  test('the last one may be unfinished', () => {
    expect(reported([...turn(0), ...turn(2, 'goes on')])).toEqual([
      ['do it', 0, 0, 'complete'],
      ['do it', 1, 2, 'incomplete'],
    ])
    expect(conversationTurns(turn(2, 'goes on'))[0]).toMatchObject({
      response: null,
      pattern: 'complex',
      incomplete: true,
    })
  })

  test('a new prompt leaves one unfinished', () => {
    expect(reported([...turn(1, 'goes on'), ...turn(0)])).toEqual([
      ['do it', 0, 0, 'incomplete'],
      ['do it', 1, 1, 'complete'],
    ])
  })

  test('a cancellation with words ends one and opens the next', () => {
    const history = [
      [prompt('q'), asks('a')],
      [results('a'), asks('b')],
      [cancelled('rather this', 'b'), asks('c')],
      [cancelled('', 'c'), answers('fine')],
      [cancelled('again', 'x'), answers('fine')],
    ]
    expect(reported(history)).toEqual([
      ['q', 0, 1, 'cancelled'],
      ['rather this', 2, 2, 'cancelled'],
      ['', 3, 3, 'complete'],
      ['again', 4, 4, 'complete'],
    ])
  })

  test('a cancellation without words stays inside', () => {
    const unsaid = { content: { CancelledToolUses: { tool_use_results: [result('b')] } } }
    const history = [
      [prompt('q'), asks('a')],
      [cancelled(null, 'a'), asks('b')],
      [unsaid, answers('r')],
    ]
    expect(reported(history)).toEqual([['q', 0, 2, 'complete']])
  })

  test('entries without a prompt form a turn without one', () => {
    const history = [
      [results('gone'), asks('a')],
      [results('a'), answers('r')],
      ...turn(0),
      [results('late'), answers('r')],
    ]
    expect(reported(history)).toEqual([
      [null, 0, 1, 'complete'],
      ['do it', 2, 2, 'complete'],
      [null, 3, 3, 'complete'],
    ])
  })

  test('an invalid entry is not a step and does not end a turn', () => {
    const history = ['?', [prompt('q'), asks('a')], null, [results('a'), answers('r')], 7]
    expect(readHistory(history)).toMatchObject({ unreadable: [0, 2, 4], isHistory: true })
    expect(reported(history)).toEqual([['q', 1, 3, 'complete']])
    expect(conversationTurns(history)[0]?.steps.map(({ index }) => index)).toEqual([1, 3])
  })

  test('empty remarks and missing ids are left out', () => {
    const silent = { ToolUse: { message_id: null, content: '', tool_uses: [] } }
    expect(conversationTurns([[prompt('q'), silent]])).toMatchObject([
      { thinking: [], messageIds: [], toolsUsed: [], pattern: 'single', status: 'incomplete' },
    ])
  })
})

describe('tool uses', () => {
  const statuses = (history: HistorySource) =>
    matchToolUses(history).uses.map(({ use: { id }, entry, status, resultEntry }) => [id, entry, status, resultEntry])

  test('have a status', () => {
    const history = [
      [prompt('q'), asks('ok', 'bad', 'lost')],
      [results('bad', 'ok'), asks('no')],
      [cancelled('stop', 'no'), asks('open')],
    ]
    expect(statuses(history)).toEqual([
      ['ok', 0, 'success', 1],
      ['bad', 0, 'error', 1],
      ['lost', 0, 'pending', null],
      ['no', 1, 'cancelled', 2],
      ['open', 2, 'pending', null],
    ])
  })

  test('with the same id: the nearest earlier pending use is answered', () => {
    const history = [
      [prompt('1'), asks('t')],
      [prompt('2'), asks('t')],
      [results('t'), answers('r')],
      [results('bad', 't'), answers('r')],
      [results('t'), asks('t')],
    ]
    expect(statuses(history)).toEqual([
      ['t', 0, 'success', 3],
      ['t', 1, 'success', 2],
      ['t', 4, 'pending', null],
    ])
    expect(matchToolUses(history).orphans).toEqual([
      { result: result('bad'), entry: 3 },
      { result: result('t'), entry: 4 },
    ])
  })

  test('of the same id in one answer are answered in order', () => {
    const twice = { ToolUse: { content: '', tool_uses: [use('t', 'first'), use('t', 'second')] } }
    const { uses } = matchToolUses([
      [prompt('q'), twice],
      [results('t'), answers('r')],
    ])
    expect(uses.map(({ use: { name }, status }) => [name, status])).toEqual([
      ['first', 'success'],
      ['second', 'pending'],
    ])
  })

  test('an unknown status is an error', () => {
    const input = { content: { ToolUseResults: { tool_use_results: [{ ...result('t'), status: 'Later' }] } } }
    expect(
      statuses([
        [prompt('q'), asks('t')],
        [input, answers('r')],
      ]),
    ).toEqual([['t', 0, 'error', 1]])
  })

  test('the original tool name replaces the placeholder', () => {
    expect(toolName(use('t', 'fs_read'))).toBe('fs_read')
    expect(toolName({ ...use('t', 'search'), name: 'dummy' })).toBe('search')
    expect(toolName({ id: 't', name: 'dummy' })).toBe('dummy')
  })
})
