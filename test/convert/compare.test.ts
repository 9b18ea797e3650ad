/** The comparison after a handoff detects unreported differences. */
import { expect, test } from 'vitest'
import { type Exchange, findDifference } from '../../src/convert/compare.ts'
import type { ToolCall } from '../../src/model/normalized.ts'

const tool = (more: Partial<ToolCall> = {}): ToolCall => ({
  call_id: 'a',
  name: 'look',
  status: 'pending',
  arguments: '{"at":"tide"}',
  ...more,
})

function exchange(more: Partial<Exchange> = {}, name = 'look', result: Partial<ToolCall> = {}): Exchange {
  const calls = [{ tool: tool({ name }), result: tool({ name, status: 'success', output: 'reeds', ...result }) }]
  return { said: ['Look.'], answered: ['So.'], calls, images: ['1'], ...more }
}

async function* listed<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values
}

const compared = async (source: readonly Exchange[], target: readonly Exchange[], repaired = {}) =>
  (await findDifference(listed(source), listed(target), { names: false, images: 0, ...repaired }))?.en

test('joined texts and added notes compare as equal', async () => {
  const target = exchange({ said: ['[image]\n\nLook.\n\nMore.'], images: ['1', '2'] })
  expect(await compared([exchange()], [target])).toBeUndefined()
})

test.each<[string, Exchange]>([
  ['exchange 1: a prompt differs', exchange({ said: ['Hear.'] })],
  ['exchange 1: the answer differs', exchange({ answered: [] })],
  ['exchange 1: 1 calls became 0', exchange({ calls: [] })],
  ['exchange 1: the name of a tool differs', exchange({}, 'listen')],
  ['exchange 1: a result differs', exchange({}, 'look', { output: 'mud' })],
  ['exchange 1: a result is error, not success', exchange({}, 'look', { status: 'error' })],
  ['1 images are missing', exchange({ images: ['2'] })],
])('%s', async (difference, target) => {
  expect(await compared([exchange()], [target])).toBe(difference)
})

test('an image may be shown with another message than before', async () => {
  expect(await compared([exchange(), exchange({ images: [] })], [exchange({ images: [] }), exchange()])).toBeUndefined()
})

test('only images that became notes may be missing', async () => {
  const target = [exchange({ images: [] })]
  expect(await compared([exchange()], target, { images: 1 })).toBeUndefined()
  expect(await compared([exchange({ images: ['1', '2'] })], target, { images: 1 })).toBe('1 images are missing')
})

test('names that were changed are still names of one tool each', async () => {
  const source = [exchange({}, 'a.b'), exchange({}, 'a-b'), exchange({}, 'a.b')]
  const named = (...names: readonly string[]): readonly Exchange[] => names.map((name) => exchange({}, name))
  expect(await compared(source, named('a_b', 'a_b_2', 'a_b'), { names: true })).toBeUndefined()
  expect(await compared(source, named('a_b', 'a_b', 'a_b'), { names: true })).toContain('the name of a tool differs')
  expect(await compared(source, named('a_b', 'a_b_2', 'c'), { names: true })).toContain('the name of a tool differs')
})
