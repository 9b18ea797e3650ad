import fc from 'fast-check'
import { expect, test } from 'vitest'
import { markWords, type WordPart } from './word-marks.ts'

const shown = (parts: readonly WordPart[] = []): string =>
  parts.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join('')

test('marks the words that differ', () => {
  const marks = markWords('const limit = 10', 'const limit = 20 + margin')
  expect(shown(marks?.before)).toBe('const limit = [10]')
  expect(shown(marks?.after)).toBe('const limit = [20 + margin]')
  expect(shown(markWords('f(a, b)', 'g(a, b)')?.after)).toBe('[g](a, b)')
})

test('marks nothing in lines that have nothing in common', () => {
  expect(markWords('import fs from fs', 'return undefined')).toBeUndefined()
})

test('loses no character, and what is unmarked is the same on both sides', () => {
  const line = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '(', 'word', '語') })
  fc.assert(
    fc.property(line, line, (before, after) => {
      const marks = markWords(before, after)
      if (!marks) return
      const text = (parts: readonly WordPart[]): string => parts.map((part) => part.text).join('')
      expect([text(marks.before), text(marks.after)]).toEqual([before, after])
      const kept = (parts: readonly WordPart[]): string =>
        text(parts.filter(({ isChanged }) => !isChanged)).replaceAll(' ', '')
      expect(kept(marks.before)).toBe(kept(marks.after))
    }),
    { numRuns: 100 },
  )
})
