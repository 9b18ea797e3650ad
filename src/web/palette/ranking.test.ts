import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type PaletteEntry, rankEntries } from './ranking.ts'

const entry = (text: string, detail?: string): PaletteEntry => ({
  id: text,
  text,
  ...(detail !== undefined && { detail }),
  run: () => {},
})
const ranked = (typed: string, ...entries: readonly PaletteEntry[]): readonly string[] =>
  rankEntries(entries, typed, 10).map(({ text }) => text)

test('beginnings come before middles, and every word must occur', () => {
  expect(ranked('sta', entry('Restart'), entry('Show statistics'), entry('Statistics'))).toEqual([
    'Statistics',
    'Show statistics',
    'Restart',
  ])
  expect(ranked('app kettle', entry('app'), entry('app', '~/src/kettle'), entry('kettle'))).toEqual(['app'])
  expect(ranked('ＡＰＩ', entry('api'))).toEqual(['api'])
  expect(ranked('統計', entry('統計'), entry('設定'))).toEqual(['統計'])
})

test('without words the order stays; the limit holds', () => {
  const entries = ['c', 'a', 'b'].map((text) => entry(text))
  expect(ranked(' ', ...entries)).toEqual(['c', 'a', 'b'])
  fc.assert(
    fc.property(fc.array(fc.string()), fc.string(), fc.nat(5), (texts, typed, limit) => {
      const all = texts.map((text) => entry(text))
      const found = rankEntries(all, typed, limit)
      expect(found.length).toBeLessThanOrEqual(limit)
      expect(found.every((one) => all.includes(one))).toBe(true)
    }),
  )
})
