/** Tests that an array read in pieces yields the same elements as one read at once. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ByteLine } from '../lines.ts'
import { type ElementPosition, splitElements } from './split-elements.ts'

const SPACES = fc.constantFrom('', ' ', '\n', '\r\n  ', '\t')

/** Text of an array with random white space, and its values. */
const array = fc.array(fc.tuple(fc.jsonValue({ maxDepth: 3 }), SPACES, SPACES), { maxLength: 8 }).map((items) => ({
  values: items.map(([value]) => JSON.parse(JSON.stringify(value)) as unknown),
  text: `\uFEFF [${items.map(([value, before, after]) => before + JSON.stringify(value) + after).join(',')}]\n`,
}))

async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  // Reuses its memory, as reading a file does.
  const memory = Buffer.alloc(size)
  for (let at = 0; at < bytes.length; at += size) {
    const length = bytes.copy(memory, 0, at, at + size)
    yield memory.subarray(0, length)
  }
}

interface FoundElement extends Pick<ByteLine, 'number' | 'offset' | 'length' | 'ended'> {
  readonly text: string
}

async function split(
  bytes: Buffer,
  size: number,
  start?: ElementPosition,
  rest?: () => void,
): Promise<readonly FoundElement[]> {
  const found: FoundElement[] = []
  for await (const batch of splitElements(chunksOf(bytes.subarray(start?.offset ?? 0), size), start, rest)) {
    for (const { number, offset, length, ended, bytes: view } of batch)
      found.push({ number, offset, length, ended, text: view?.toString('utf8') ?? '' })
  }
  return found
}

test('yields every element with its position, whatever the chunks', async () => {
  await fc.assert(
    fc.asyncProperty(array, fc.integer({ min: 1, max: 40 }), async ({ values, text }, size) => {
      const bytes = Buffer.from(text)
      const found = await split(bytes, size)
      expect(found.map((one) => JSON.parse(one.text))).toEqual(values)
      expect(found.map(({ number }) => number)).toEqual(values.map((_, at) => at + 1))
      for (const { offset, length, text: elementText, ended } of found) {
        expect(bytes.toString('utf8', offset, offset + length)).toBe(elementText)
        expect(ended).toBe(true)
      }
    }),
  )
})

test('resumes after any element', async () => {
  await fc.assert(
    fc.asyncProperty(array, fc.nat(7), fc.integer({ min: 1, max: 40 }), async ({ text }, pick, size) => {
      const bytes = Buffer.from(text)
      const all = await split(bytes, 1000)
      const last = all[pick]
      if (!last) return
      const start = { offset: last.offset + last.length, number: last.number + 1 }
      expect(await split(bytes, size, start)).toEqual(all.slice(pick + 1))
    }),
  )
})

test('a truncated array gives the elements before the break, and the broken one as not ended', async () => {
  await fc.assert(
    fc.asyncProperty(array, fc.nat(), fc.integer({ min: 1, max: 40 }), async ({ text }, cut, size) => {
      const bytes = Buffer.from(text)
      const all = await split(bytes, 1000)
      const part = await split(bytes.subarray(0, cut % (bytes.length + 1)), size)
      const ended = part.filter((one) => one.ended)
      expect(ended).toEqual(all.slice(0, ended.length))
      expect(part.length - ended.length).toBeLessThanOrEqual(1)
    }),
  )
})

test('reports data after the array, and yields nothing for other values', async () => {
  let calls = 0
  const onTrailingBytes = (): void => {
    calls++
  }
  expect(await split(Buffer.from('[1] [2]'), 3, undefined, onTrailingBytes)).toHaveLength(1)
  expect(await split(Buffer.from('{"a":[1,2]}'), 3, undefined, onTrailingBytes)).toEqual([])
  expect(calls).toBe(2)
  expect(await split(Buffer.from('[1]\0\0\n'), 3, undefined, onTrailingBytes)).toHaveLength(1)
  expect(calls).toBe(2)
})
