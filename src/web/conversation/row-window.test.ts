import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hasMarginAround, rowWindowAround, rowWindowFrom } from './row-window.ts'

const place = fc
  .integer({ min: 1, max: 100_000 })
  .chain((count) => fc.record({ count: fc.constant(count), row: fc.integer({ min: 0, max: count - 1 }) }))

test('the row window contains the rows around the reader and is small', () => {
  fc.assert(
    fc.property(place, ({ count, row }) => {
      const rowWindow = rowWindowAround(row, count)
      expect(hasMarginAround(rowWindow, row, count)).toBe(true)
      expect(rowWindow.first).toBeLessThanOrEqual(row)
      expect(rowWindow.end).toBeGreaterThan(row)
      expect(rowWindow.end - rowWindow.first).toBe(Math.min(count, 600))
    }),
  )
})

test('the row window moves before its edge is visible, except at the first and last row', () => {
  const rowWindow = rowWindowFrom(1000, 50_000)
  expect([999, 1000, 1149, 1150, 1300, 1449, 1450, 1600].map((row) => hasMarginAround(rowWindow, row, 50_000))).toEqual(
    [...[false, false, false, true, true, true, false, false]],
  )
  expect([0, 599].map((row) => hasMarginAround(rowWindowFrom(0, 600), row, 600))).toEqual([true, true])
})
