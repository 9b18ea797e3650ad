import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { MessageItem } from '../../model/api/message.ts'
import { isShown, layRows, letterOf, rowOf } from './rows.ts'

const NONE = new Map<number, boolean>()
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
  const read = new Map([
    [1, true],
    [2, false],
  ])
  expect([...layRows('ura', read, false)]).toEqual([0, 1])
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
