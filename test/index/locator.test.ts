/** A stored locator round-trips, although values of its row are left out. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeLocator, encodeLocator } from '../../src/index/row-encoding.ts'

const known = { line: 1664, time: '2026-01-05T08:24:03.430Z', session: 'codex:019c' }

const again = (locator: { readonly [key: string]: unknown }): unknown =>
  decodeLocator(encodeLocator(locator, known), known)

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
