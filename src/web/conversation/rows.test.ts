import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { MessageItem } from '../../model/api/message.ts'
import { isSame, isShown, lastBefore, layRows, letterOf, rowOf, Verdicts } from './rows.ts'

const NONE = new Verdicts()
const message = (more: Partial<MessageItem>): MessageItem => ({
  id: '1',
  offset: 0,
  timestamp: '2026-02-03T00:00:00.000Z',
  role: 'meta',
  source_type: 'meta',
  show: 'event',
  flags: {},
  segments: [],
  ...more,
})

test('copies, results and silent events take no row; a run of context takes one', () => {
  expect([...layRows('hiixxuddmcrxcrdaxd', NONE, false)]).toEqual([1, 5, 8, 9, 12, 15])
  expect([...layRows('iuis', NONE, false)]).toEqual([0, 1, 2])
})

test('what was read decides over its letter', () => {
  const read = new Verdicts()
  read.set(1, true)
  read.set(2, false)
  expect([...layRows('ura', read, false)]).toEqual([0, 1])
  read.set(5000, false)
  expect([...layRows(`ura${'a'.repeat(4998)}`, read, false)].slice(-2)).toEqual([4998, 4999])
  read.clear()
  expect([...layRows('ura', read, false)]).toEqual([0, 2])
})

test('with everything shown there is a row for each message', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'uacreishmxdp') }), (shape) => {
      expect([...layRows(shape, NONE, true)]).toEqual(Array.from(shape, (_, at) => at))
    }),
  )
})

test('a message is found in the row that holds it', () => {
  const rows = layRows('hiiuacra', NONE, false)
  expect([0, 1, 2, 3, 4, 6, 7].map((offset) => rowOf(rows, offset))).toEqual([0, 0, 0, 1, 2, 3, 4])
})

test('the last turn before a message is found wherever it is', () => {
  const turns = [{ offset: 3 }, { offset: 9 }, { offset: 9 }, { offset: 20 }]
  expect([0, 3, 4, 9, 10, 20, 21, 99].map((offset) => lastBefore(turns, offset))).toEqual([-1, -1, 0, 0, 2, 2, 3, 3])
  expect(lastBefore([], 5)).toBe(-1)
})

test('rows are the same only where every one is', () => {
  const rows = (...offsets: number[]): Int32Array => Int32Array.from(offsets)
  expect(isSame(rows(1, 2), rows(1, 2))).toBe(true)
  expect([isSame(rows(1, 2), rows(1, 3)), isSame(rows(1), rows(1, 2)), isSame(rows(1, 2), rows(1))]).toEqual([
    ...[false, false, false],
  ])
})

test('reasoning and marks of the way are shown though they say nothing', () => {
  expect(isShown(message({ show: 'reasoning' }), 'x')).toBe(true)
  expect(isShown(message({ metadata: { event_kind: 'thread_rolled_back' } }), 'x')).toBe(true)
  expect(isShown(message({ metadata: { event_kind: 'token_count' } }), 'x')).toBe(false)
  expect(isShown(message({ show: 'joined' }), 'e')).toBe(false)
})

test('letters of what is added are those that the server would tell', () => {
  expect(letterOf(message({}))).toBe('x')
  expect(letterOf(message({ role: 'user', show: 'prompt' }))).toBe('u')
  expect(letterOf(message({ role: 'tool', source_type: 'tool_result', flags: { error: true } }))).toBe('e')
  expect(letterOf(message({ role: 'user', flags: { injected: true, duplicate: true } }))).toBe('d')
})
