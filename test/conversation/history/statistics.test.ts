import { describe, expect, test } from 'vitest'
import { type HistoryPair, historyStatistics, statisticsOf, summarizeHistory } from '../../../src/amazon-q.ts'
import { Entries } from '../../../src/conversation.ts'
import { answers, asks, cancelled, objectOf, prompt, turn, use } from './test-entries.ts'

const times = <T>(count: number, make: (at: number) => readonly T[]): readonly T[] =>
  Array.from({ length: count }, (_, at) => make(at)).flat()

/** 21 conversations with the same measures as those in the specification. */
const counted: readonly (readonly HistoryPair[])[] = [
  ...times(4, () => [turn(0)]),
  ...times(2, () => [turn(1)]),
  [...turn(44), ...times(27, () => turn(1))],
  ...times(12, () => [turn(14)]),
  turn(22),
  turn(15, 'goes on'),
]

test("統計データ: the specification's table", () => {
  const statistics = historyStatistics(counted.map((history) => ({ history })))
  expect(statistics).toEqual({
    conversations: 21,
    empty: 0,
    unreadable: 0,
    patterns: {
      simple: { count: 4, percent: 19 },
      single: { count: 2, percent: 10 },
      complex: { count: 15, percent: 71 },
    },
    incomplete: { count: 1, percent: 5 },
    entries: { total: 325, unreadable: 0, min: 1, max: 99, mean: 15.5 },
    turns: {
      total: 48,
      complete: 47,
      incomplete: 1,
      cancelled: 0,
      patterns: {
        simple: { count: 4, percent: 8 },
        single: { count: 29, percent: 61 },
        complex: { count: 15, percent: 31 },
      },
    },
    toolUses: { total: 278, max: 71, perTurn: 5.8, byName: [{ name: 'look', uses: 278 }] },
  })
})

test('it is the same in the shape of later versions, in shared lists, and counted one by one', () => {
  const expected = historyStatistics(counted)
  expect(historyStatistics(counted.map((history) => history.map(objectOf)))).toEqual(expected)
  expect(historyStatistics(counted.map((history) => ({ history: Entries.of(...history) })))).toEqual(expected)
  expect(statisticsOf(counted.map(summarizeHistory))).toEqual(expected)
})

describe('apart are', () => {
  test('conversations without entries', () => {
    const open = turn(1, 'goes on')
    const { conversations, empty, unreadable, patterns, incomplete, entries } = historyStatistics([
      [],
      { history: [] },
      open,
    ])
    expect({ conversations, empty, unreadable }).toEqual({ conversations: 3, empty: 2, unreadable: 0 })
    expect(incomplete).toEqual({ count: 1, percent: 100 })
    expect(patterns).toEqual({
      simple: { count: 0, percent: 0 },
      single: { count: 1, percent: 100 },
      complex: { count: 0, percent: 0 },
    })
    expect(entries).toEqual({ total: 1, unreadable: 0, min: 1, max: 1, mean: 1 })
  })

  test('invalid entries, and conversations with only these', () => {
    const statistics = historyStatistics([[...turn(1), { user: 1 }], ['?', '?'], null as never, { other: [] } as never])
    expect(statistics).toMatchObject({
      conversations: 4,
      empty: 0,
      unreadable: 3,
      patterns: { single: { count: 1, percent: 100 } },
      entries: { total: 5, unreadable: 3, min: 2, max: 3, mean: 2.5 },
      turns: { total: 1, complete: 1 },
    })
  })
})

test('empty input has empty statistics', () => {
  const none = { count: 0, percent: 0 }
  const patterns = { simple: none, single: none, complex: none }
  expect(historyStatistics([])).toEqual({
    conversations: 0,
    empty: 0,
    unreadable: 0,
    patterns,
    incomplete: none,
    entries: { total: 0, unreadable: 0, min: 0, max: 0, mean: 0 },
    turns: { total: 0, complete: 0, incomplete: 0, cancelled: 0, patterns },
    toolUses: { total: 0, max: 0, perTurn: 0, byName: [] },
  })
})

test('thirds share a hundred', () => {
  const { patterns } = historyStatistics([turn(0), turn(1), turn(2)])
  expect([patterns.simple, patterns.single, patterns.complex].map(({ percent }) => percent)).toEqual([34, 33, 33])
})

test('tools are counted by name over all conversations, most used first', () => {
  const first = [
    [prompt('q'), asks(use('1', 'fs_read'), use('2', 'fs_read'), use('3', '__proto__'))],
    [cancelled('no', '1', '2', '3'), answers('r')],
  ]
  const second = [[prompt('q'), asks({ ...use('4', 'search'), name: 'dummy' }, use('5', 'fs_read'))]]
  expect(historyStatistics([first, second])).toMatchObject({
    turns: { total: 3, complete: 1, incomplete: 1, cancelled: 1 },
    toolUses: {
      total: 5,
      max: 3,
      perTurn: 1.7,
      byName: [
        { name: 'fs_read', uses: 3 },
        { name: '__proto__', uses: 1 },
        { name: 'search', uses: 1 },
      ],
    },
  })
})

test('one conversation', () => {
  expect(summarizeHistory([...turn(2), 'broken'])).toEqual({
    isHistory: true,
    entries: 4,
    unreadableEntries: 1,
    pattern: 'complex',
    incomplete: false,
    turns: [{ pattern: 'complex', incomplete: false, status: 'complete' }],
    toolUses: 2,
    tools: [{ name: 'look', uses: 2 }],
  })
})
