import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { MessageItem } from '../../model/api/message.ts'
import {
  areSameRows,
  findLastBefore,
  isMessageShown,
  layOutRows,
  RowVisibility,
  rowOfMessage,
  shapeCodeOf,
} from './message-rows.ts'

const NONE = new RowVisibility()
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
  expect([...layOutRows('hiixxuddmcrxcrdaxd', NONE, false)]).toEqual([1, 5, 8, 9, 12, 15])
  expect([...layOutRows('iuis', NONE, false)]).toEqual([0, 1, 2])
})

test('a loaded message overrides its shape letter', () => {
  const read = new RowVisibility()
  read.set(1, true)
  read.set(2, false)
  expect([...layOutRows('ura', read, false)]).toEqual([0, 1])
  read.set(5000, false)
  expect([...layOutRows(`ura${'a'.repeat(4998)}`, read, false)].slice(-2)).toEqual([4998, 4999])
  read.clear()
  expect([...layOutRows('ura', read, false)]).toEqual([0, 2])
})

test('with everything shown there is a row for each message', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'uacreishmxdp') }), (shape) => {
      expect([...layOutRows(shape, NONE, true)]).toEqual(Array.from(shape, (_, at) => at))
    }),
  )
})

test('a message is found in its row', () => {
  const rows = layOutRows('hiiuacra', NONE, false)
  expect([0, 1, 2, 3, 4, 6, 7].map((offset) => rowOfMessage(rows, offset))).toEqual([0, 0, 0, 1, 2, 3, 4])
})

test('the last turn before any message is found', () => {
  const turns = [{ offset: 3 }, { offset: 9 }, { offset: 9 }, { offset: 20 }]
  expect([0, 3, 4, 9, 10, 20, 21, 99].map((offset) => findLastBefore(turns, offset))).toEqual([
    -1, -1, 0, 0, 2, 2, 3, 3,
  ])
  expect(findLastBefore([], 5)).toBe(-1)
})

test('row lists are equal only if every row is', () => {
  const rows = (...offsets: number[]): Int32Array => Int32Array.from(offsets)
  expect(areSameRows(rows(1, 2), rows(1, 2))).toBe(true)
  expect([
    areSameRows(rows(1, 2), rows(1, 3)),
    areSameRows(rows(1), rows(1, 2)),
    areSameRows(rows(1, 2), rows(1)),
  ]).toEqual([...[false, false, false]])
})

test('reasoning and marker events are shown without text', () => {
  expect(isMessageShown(message({ show: 'reasoning' }), 'x')).toBe(true)
  expect(isMessageShown(message({ metadata: { event_kind: 'thread_rolled_back' } }), 'x')).toBe(true)
  expect(isMessageShown(message({ metadata: { event_kind: 'token_count' } }), 'x')).toBe(false)
  expect(isMessageShown(message({ show: 'joined' }), 'e')).toBe(false)
})

test('shape letters of new messages match those of the server', () => {
  expect(shapeCodeOf(message({}))).toBe('x')
  expect(shapeCodeOf(message({ role: 'user', show: 'prompt' }))).toBe('u')
  expect(shapeCodeOf(message({ role: 'tool', source_type: 'tool_result', flags: { error: true } }))).toBe('e')
  expect(shapeCodeOf(message({ role: 'user', flags: { injected: true, duplicate: true } }))).toBe('d')
})
