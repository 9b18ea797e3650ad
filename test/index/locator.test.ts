/** A stored locator round-trips, although values of its row are left out. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { joinLocator, packLocator, packNumbers, splitLocator, unpackNumbers } from '../../src/index/packed-locator.ts'
import { packRows, unpackRows } from '../../src/index/packed-rows.ts'
import { decodeLocator, encodeLocator } from '../../src/index/row-encoding.ts'
import { ByteBuffer } from '../../src/lib/byte-buffer.ts'

const known = { line: 1664, time: '2026-01-05T08:24:03.430Z', session: 'codex:019c' }

function packed(numbers: readonly number[]): Uint8Array {
  const bytes = new ByteBuffer()
  packNumbers(numbers, bytes)
  return bytes.take()
}

function expectToJoin(text: string): void {
  const split = splitLocator(text)
  if (!split) return
  expect(joinLocator({ shape: split.shape, numbers: unpackNumbers(packed(split.numbers)) })).toBe(text)
}

/** Also split, if it can be. */
function again(locator: { readonly [key: string]: unknown }): unknown {
  const text = encodeLocator(locator, known)
  expectToJoin(text)
  expect(packLocator(locator, known)).toEqual(splitLocator(text) ?? text)
  return decodeLocator(text, known)
}

test('locators round-trip', () => {
  const place = fc.constantFrom(
    'at',
    'marks',
    '2026-01-05T08:24:03.430Z#7',
    '2026-01-05T08:24:03.430Z#7.1',
    '1969-12-31T23:59:59.999Z#12.3',
    '2026-02-30T08:24:03.430Z#7',
    '2026-01-05T08:24:03.430Z#',
    'half \ud83d of a pair',
    '文箱',
  )
  const leaf = fc.oneof(
    place,
    fc.string(),
    fc.integer(),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
  )
  const key = fc.oneof(place, fc.string()).filter((name) => name !== '__proto__')
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie('value')),
      fc.dictionary(key, tie('value'), { noNullPrototype: true }),
    ),
  }))
  fc.assert(
    fc.property(fc.dictionary(key, value, { noNullPrototype: true }), (locator) => {
      expect(again(locator)).toEqual(locator)
    }),
  )
})

test('values that the row already has are omitted', () => {
  const locator = { at: [1_048_576, 605, 3_141_592_653, 1], ...known }
  expect(again(locator)).toEqual(locator)
  expect(encodeLocator(locator, known)).toBe('7{"at":[1048576,605,3141592653,1]}')
  expect(again({ ...locator, line: 7 })).toEqual({ ...locator, line: 7 })
})

test('locators that differ in numbers have one shape, and take few bytes', () => {
  const splits = [1, 2, 3].map((n) => {
    const duplicates = [`2026-01-0${n}T13:05:4${n}.06${n}Z#${n}`]
    return splitLocator(
      encodeLocator({ ...known, at: [743_080 * n, 1274, 2_516_760_180, 1], marks: { duplicates } }, known),
    )
  })
  expect(new Set(splits.map((one) => one?.shape)).size).toBe(1)
  for (const one of splits) expect(packed(one?.numbers ?? []).length).toBeLessThan(22)
})

test('a text that is not packed stays complete', () => {
  const texts = fc.oneof(fc.string(), fc.stringMatching(/^[0-7]\{"at":\[(0|00|01|7|\d{3}|\d{20}),\d*\]\}$/))
  fc.assert(
    fc.property(texts, (text) => {
      expectToJoin(text)
    }),
  )
})

test('rows that are packed by column round-trip', () => {
  const locator = fc.oneof(
    fc.string(),
    fc.tuple(fc.nat(), fc.nat()).map(([offset, length]) => `7{"at":[${offset},${length},3141592653,1]}`),
  )
  const row = fc.record({
    at: fc.oneof(fc.integer({ min: -8.64e15, max: 8.64e15 }), fc.nat()),
    line: fc.oneof(fc.nat(), fc.maxSafeNat()),
    part: fc.nat(100),
    kind: fc.nat(4095),
    tool: fc.option(fc.string()),
    locator,
  })
  fc.assert(
    fc.property(fc.array(row), (rows) => {
      expect(unpackRows(packRows(rows))).toEqual(rows)
    }),
  )
})
