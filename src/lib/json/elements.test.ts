/** Arrays that are read piece by piece give the same elements as arrays that are read at once. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Line } from '../jsonl.ts'
import { type AfterElement, splitElements } from './elements.ts'

const SPACES = fc.constantFrom('', ' ', '\n', '\r\n  ', '\t')

/** Text of an array with odd white space, and its values. */
const array = fc.array(fc.tuple(fc.jsonValue({ maxDepth: 3 }), SPACES, SPACES), { maxLength: 8 }).map((items) => ({
  values: items.map(([value]) => JSON.parse(JSON.stringify(value)) as unknown),
  text: `\uFEFF [${items.map(([value, before, after]) => before + JSON.stringify(value) + after).join(',')}]\n`,
}))

async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  // The same memory again and again, as files are read.
  const memory = Buffer.alloc(size)
  for (let at = 0; at < bytes.length; at += size) {
    const length = bytes.copy(memory, 0, at, at + size)
    yield memory.subarray(0, length)
  }
}

interface Found extends Pick<Line, 'number' | 'offset' | 'length' | 'ended'> {
  readonly text: string
}

async function split(bytes: Buffer, size: number, start?: AfterElement, rest?: () => void): Promise<readonly Found[]> {
  const found: Found[] = []
  for await (const batch of splitElements(chunksOf(bytes.subarray(start?.offset ?? 0), size), start, rest)) {
    for (const { number, offset, length, ended, bytes: view } of batch)
      found.push({ number, offset, length, ended, text: view?.toString('utf8') ?? '' })
  }
  return found
}

test('every element, at its place, whatever the chunks', async () => {
  await fc.assert(
    fc.asyncProperty(array, fc.integer({ min: 1, max: 40 }), async ({ values, text }, size) => {
      const bytes = Buffer.from(text)
      const found = await split(bytes, size)
      expect(found.map((one) => JSON.parse(one.text))).toEqual(values)
      expect(found.map(({ number }) => number)).toEqual(values.map((_, at) => at + 1))
      for (const { offset, length, text: own, ended } of found) {
        expect(bytes.toString('utf8', offset, offset + length)).toBe(own)
        expect(ended).toBe(true)
      }
    }),
  )
})

test('goes on behind any element', async () => {
  await fc.assert(
    fc.asyncProperty(array, fc.nat(7), fc.integer({ min: 1, max: 40 }), async ({ text }, pick, size) => {
      const bytes = Buffer.from(text)
      const whole = await split(bytes, 1000)
      const last = whole[pick]
      if (!last) return
      const start = { offset: last.offset + last.length, number: last.number + 1 }
      expect(await split(bytes, size, start)).toEqual(whole.slice(pick + 1))
    }),
  )
})

test('an array that is cut short gives the elements before the break, and the broken one as not ended', async () => {
  await fc.assert(
    fc.asyncProperty(array, fc.nat(), fc.integer({ min: 1, max: 40 }), async ({ text }, cut, size) => {
      const bytes = Buffer.from(text)
      const whole = await split(bytes, 1000)
      const part = await split(bytes.subarray(0, cut % (bytes.length + 1)), size)
      const ended = part.filter((one) => one.ended)
      expect(ended).toEqual(whole.slice(0, ended.length))
      expect(part.length - ended.length).toBeLessThanOrEqual(1)
    }),
  )
})

test('tells of what follows the array, and gives nothing for what is none', async () => {
  let told = 0
  const tell = (): void => {
    told++
  }
  expect(await split(Buffer.from('[1] [2]'), 3, undefined, tell)).toHaveLength(1)
  expect(await split(Buffer.from('{"a":[1,2]}'), 3, undefined, tell)).toEqual([])
  expect(told).toBe(2)
  expect(await split(Buffer.from('[1]\0\0\n'), 3, undefined, tell)).toHaveLength(1)
  expect(told).toBe(2)
})
