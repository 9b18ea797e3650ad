/** Tests of times and ids. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assignSessionIds, makeMessageId, makeSessionId, toInstant } from './ids.ts'

describe('instant', () => {
  test.each([
    ['2026-02-03T09:15:00.123Z', '2026-02-03T09:15:00.123Z'],
    ['2026-02-03T09:15:00Z', '2026-02-03T09:15:00.000Z'],
    ['2026-02-03T09:15:00.123456789Z', '2026-02-03T09:15:00.123Z'],
    ['2026-02-03T09:15:00.5+09:00', '2026-02-03T00:15:00.500Z'],
    ['2026-02-03T22:15:00-0330', '2026-02-04T01:45:00.000Z'],
    ['2026-02-03 09:15', '2026-02-03T09:15:00.000Z'],
    ['2024-02-29T00:00:00.000Z', '2024-02-29T00:00:00.000Z'],
    ['1970-01-30T00:00:00Z', '1970-01-30T00:00:00.000Z'],
    [1767323045.678, '2026-01-02T03:04:05.678Z'],
    [1767323045678, '2026-01-02T03:04:05.678Z'],
  ])('%s is %s', (given, wanted) => {
    expect(toInstant(given)).toBe(wanted)
  })

  test.each([
    '2025-02-30T00:00:00.000Z',
    '2025-02-29T00:00:00.000Z',
    '2025-13-01T00:00:00.000Z',
    '2025-01-01T24:00:00.000Z',
    '2025-01-01T00:60:00.000Z',
    '2025-01-01T00:00:00+99:99',
    'yesterday',
    '',
    Number.NaN,
    1e300,
    -1,
    1.7e15,
    '1969-12-31T23:59:59.999Z',
    '0000-01-01T00:00:00.000Z',
    '+300000-01-01T00:00:00Z',
    null,
    {},
  ])('%s is not a time', (given) => {
    expect(toInstant(given)).toBeUndefined()
  })

  test('round-trips any time', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }), (date) => {
        expect(toInstant(date.toISOString())).toBe(date.toISOString())
      }),
    )
  })
})

test('further messages of a line have their own numbers', () => {
  const at = toInstant('2026-02-03T09:15:00.000Z')
  if (!at) throw new Error('no time')
  expect([1, 2, 3].map((part) => makeMessageId(at, 7, part))).toEqual([`${at}#7`, `${at}#7.2`, `${at}#7.3`])
})

describe('settleClaims', () => {
  const id = makeSessionId('codex', 'a')
  const at = (day: number) => toInstant(`2026-02-0${day}T00:00:00.000Z`) ?? ('' as never)
  const claims = [
    { id, at: at(2), first: 'bbbbbbbbbb' },
    { id, at: at(1), first: 'cccccccccc' },
    { id, at: at(1), first: 'cccccccccc' },
    { id, at: at(3), first: 'aaaaaaaaaa' },
  ]

  test('copies share an id; the oldest keeps it unchanged, others add a hash of their first record', () => {
    expect(assignSessionIds(claims)).toEqual(['codex:a~bbbbbb', 'codex:a', 'codex:a', 'codex:a~aaaaaa'])
  })

  test('does not depend on the order of discovery', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(claims, { minLength: claims.length }), (shuffled) => {
        const settled = assignSessionIds(shuffled)
        for (const [at, claim] of shuffled.entries())
          expect(settled[at]).toBe(assignSessionIds(claims)[claims.indexOf(claim)])
      }),
    )
  })
})
