import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { MessageItem } from '../../model/api/message.ts'
import {
  areSameRows,
  countCalls,
  findLastBefore,
  groupOf,
  layOutRows,
  MIN_GROUPED_STEPS,
  RowKinds,
  type RowLayoutOptions,
  rowKindOf,
  rowOfMessage,
  shapeCodeOf,
} from './message-rows.ts'

const NONE = new RowKinds()
const STEPS: RowLayoutOptions = { view: 'steps', isGroupOpen: () => undefined, isLive: false }
const rowsOf = (shape: string, kinds = NONE, options: Partial<RowLayoutOptions> = {}): readonly number[] => [
  ...layOutRows(shape, kinds, { ...STEPS, ...options }).rows,
]
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
  expect(rowsOf('hiixxuddmcrxcrdaxd')).toEqual([1, 5, 8, 9, 12, 15])
  expect(rowsOf('iuis')).toEqual([0, 1, 2])
})

test('a loaded message overrides its shape letter', () => {
  const read = new RowKinds()
  read.set(1, 'shown')
  read.set(2, 'hidden')
  expect(rowsOf('ura', read)).toEqual([0, 1])
  read.set(5000, 'hidden')
  expect(rowsOf(`ura${'a'.repeat(4998)}`, read).slice(-2)).toEqual([4998, 4999])
  read.clear()
  expect(rowsOf('ura', read)).toEqual([0, 2])
})

describe('steps between two texts', () => {
  test('share one row until the reader opens it', () => {
    const { rows, groups } = layOutRows('umcrcrmcra', NONE, STEPS)
    expect([...rows]).toEqual([0, 1, 9])
    expect(groups.get(1)).toEqual({ first: 1, last: 7, steps: 5, isOpen: false })
    expect(countCalls('umcrcrmcra', NONE, 1, 7)).toBe(3)
    const read = new RowKinds()
    read.set(5, 'hidden')
    expect(countCalls('umcrcemcra', read, 1, 7)).toBe(3)
    expect(countCalls('umcremrcra', NONE, 1, 7)).toBe(3)
    expect(rowsOf('umcrcrmcra', NONE, { isGroupOpen: (first) => first === 1 })).toEqual([0, 1, 2, 4, 6, 7, 9])
    expect(groupOf(groups, 5)).toBe(groups.get(1))
    expect(groupOf(groups, 9)).toBeUndefined()
  })

  test('have their own rows if they are few', () => {
    const few = 'c'.repeat(MIN_GROUPED_STEPS - 1)
    expect(rowsOf(`u${few}a`)).toHaveLength(few.length + 2)
    expect(rowsOf(`u${few}ca`)).toHaveLength(3)
  })

  test('stay visible at the end of a live session', () => {
    expect(rowsOf('ucccc', NONE, { isLive: true })).toEqual([0, 1, 2, 3, 4])
    expect(rowsOf('ucccca', NONE, { isLive: true })).toEqual([0, 1, 5])
  })

  test('are separated by a message that is never a step, such as a compaction', () => {
    const kinds = new RowKinds()
    kinds.set(3, 'separate')
    expect(rowsOf('ucmmccccca', kinds)).toEqual([0, 1, 2, 3, 4, 9])
  })

  test('include reasoning whose letter does not tell', () => {
    const kinds = new RowKinds()
    kinds.set(1, 'step')
    expect(rowsOf('uxccca', kinds)).toEqual([0, 1, 5])
  })

  test('are hidden with words only, and so is context', () => {
    expect(rowsOf('iucmcrcmia', NONE, { view: 'words' })).toEqual([1, 9])
  })

  test('each message that has a row when all groups are open is in a row or a group when they are closed', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'uaccmmersixdp') }), (shape) => {
        const open = rowsOf(shape, NONE, { isGroupOpen: () => true })
        const { rows, groups } = layOutRows(shape, NONE, STEPS)
        for (const offset of open) expect(rows.includes(offset) || groupOf(groups, offset) !== undefined).toBe(true)
        for (const { first, steps } of groups.values()) {
          expect(rows.includes(first)).toBe(true)
          expect(steps).toBeGreaterThanOrEqual(MIN_GROUPED_STEPS)
        }
      }),
    )
  })
})

test('with everything shown there is a row for each message', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'uacreishmxdp') }), (shape) => {
      expect(rowsOf(shape, NONE, { view: 'everything' })).toEqual(Array.from(shape, (_, at) => at))
    }),
  )
})

test('a message is found in its row', () => {
  const { rows } = layOutRows('hiiuacra', NONE, STEPS)
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
  expect(rowKindOf(message({ show: 'reasoning' }), 'x')).toBe('step')
  expect(rowKindOf(message({ metadata: { event_kind: 'thread_rolled_back' } }), 'x')).toBe('separate')
  expect(rowKindOf(message({ metadata: { event_kind: 'token_count' } }), 'x')).toBe('hidden')
  expect(rowKindOf(message({ show: 'joined' }), 'e')).toBe('hidden')
})

test('shape letters of new messages match those of the server', () => {
  expect(shapeCodeOf(message({}))).toBe('x')
  expect(shapeCodeOf(message({ role: 'user', show: 'prompt' }))).toBe('u')
  expect(shapeCodeOf(message({ role: 'tool', source_type: 'tool_result', flags: { error: true } }))).toBe('e')
  expect(shapeCodeOf(message({ role: 'user', flags: { injected: true, duplicate: true } }))).toBe('d')
})
