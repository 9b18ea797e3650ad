import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bandAround, bandFrom, holds } from './band.ts'

const place = fc
  .integer({ min: 1, max: 100_000 })
  .chain((count) => fc.record({ count: fc.constant(count), row: fc.integer({ min: 0, max: count - 1 }) }))

test('wherever the reader is, the rows around are in the band, and it is small', () => {
  fc.assert(
    fc.property(place, ({ count, row }) => {
      const band = bandAround(row, count)
      expect(holds(band, row, count)).toBe(true)
      expect(band.first).toBeLessThanOrEqual(row)
      expect(band.end).toBeGreaterThan(row)
      expect(band.end - band.first).toBe(Math.min(count, 600))
    }),
  )
})

test('a band is left before its edge is in sight, but not at the edges of all', () => {
  const band = bandFrom(1000, 50_000)
  expect([999, 1000, 1149, 1150, 1300, 1449, 1450, 1600].map((row) => holds(band, row, 50_000))).toEqual([
    ...[false, false, false, true, true, true, false, false],
  ])
  expect([0, 599].map((row) => holds(bandFrom(0, 600), row, 600))).toEqual([true, true])
})
