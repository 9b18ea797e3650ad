/** The raw-byte test may rule out a log only if it contains no match. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { matchesQuery } from '../../src/search/matching.ts'
import { parseQuery } from '../../src/search/query/parse-query.ts'
import { PIECE_OVERLAP_BYTES, rawByteTestOf } from '../../src/search/raw-needle.ts'
import { arbitrarySearch, mixedText, typedFrom } from './arbitrary-texts.ts'

/** Encodes the text as in a log, and splits it into overlapping pieces. */
function mayHold(typed: string, log: string, piece: number): boolean {
  const query = parseQuery(typed)
  if (query.kind === 'problem') return true
  const test = rawByteTestOf(query)?.()
  if (!test) return true
  const bytes = Buffer.from(log)
  for (let at = 0; at < bytes.length; at += piece)
    if (test.piece(bytes.subarray(Math.max(0, at - PIECE_OVERLAP_BYTES), at + piece))) return true
  return test.mayContain()
}

const escaped = (text: string): string =>
  JSON.stringify(text).replaceAll(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

test('existing text is never ruled out', () => {
  fc.assert(
    fc.property(mixedText, arbitrarySearch, fc.integer({ min: 1, max: 40 }), (text, one, piece) => {
      const typed = typedFrom(one, text)
      const query = parseQuery(typed)
      if (query.kind === 'problem' || !matchesQuery(query, { output: text })) return
      expect(mayHold(typed, JSON.stringify(text), piece)).toBe(true)
      expect(mayHold(typed, escaped(text), piece)).toBe(true)
    }),
    { numRuns: 3000 },
  )
})

test.each([
  ['cafe', 'CAF\u00c9'],
  ['config', 'con\u00adfig'],
  ['file', '\ufb01le'],
  ['kana', '\uff4b\uff41\uff4e\uff41'],
  ['株式', '㍿'],
  ['가', '\u1100\u1161'],
  ['a1', '\u{1d41a}\u{1d7cf}'],
  ['getUserName', 'GET_USER_NAME'],
  ['hiddenWord', 'see HIDDENWORD there'],
])('%s is possible in %s', (typed, text) => {
  expect(mayHold(typed, JSON.stringify(text), 8)).toBe(true)
})

test('other words are ruled out; punctuation and control characters are ignored', () => {
  expect(mayHold('hidden', JSON.stringify('nothing \u001b[31m of — that “kind” 検索 ✅ Ж'), 16)).toBe(false)
  expect(mayHold('検索', JSON.stringify('検査と探索'), 16)).toBe(false)
  expect(mayHold('hidden other', JSON.stringify('hidden'), 16)).toBe(false)
  expect(mayHold('hidden OR other', JSON.stringify('OTHER'), 16)).toBe(true)
})
