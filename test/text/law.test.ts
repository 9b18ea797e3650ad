/** Whatever the text and the query: FTS5 finds it in the index exactly when it is found in the text itself. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { matches } from '../../src/archive/text/matches.ts'
import { parseQuery } from '../../src/archive/text/parse-query.ts'
import { Table } from './table.ts'

/** Few different ones, so that words meet; of every kind, so that kinds meet. */
const SPACES = [' ', ' ', '\n', '-', '_', '.', '/', '、', '　', '―', '\0', '\x1f', '\ud83d', '\ue000']
const LATIN = [
  ...'aAbBcC',
  'é',
  'É',
  'e\u0301',
  'x\u0302',
  'ß',
  'ﬁ',
  'Ａ',
  'ｂ',
  '\u00ad',
  '\u200d',
  'σ',
  'ς',
  'Σ',
  'İ',
]
const DIGITS = [...'0119', '٣', '①', '½', '７']
const RUNS = [
  ...'東京都あアーが々〇한글ㅎㄅꀀ𠮷𰻝',
  'ｱ',
  'ｶﾞ',
  'か\u3099',
  'あ\u3099',
  '葛\u{e0100}',
  '㍿',
  'ไ',
  'ท',
  'ิ',
  'က',
  'ᄒ',
  'ᅡ',
]
const OTHERS = [...'हिन्दी', '🚀', '👩‍💻', '❤️', '☀', '🇯', '𐐀', '𐐨', '\u{11046}', '\u{10ffff}', '\uffff', 'א', 'ְ']
const character = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...SPACES) },
  { weight: 6, arbitrary: fc.constantFrom(...LATIN) },
  { weight: 2, arbitrary: fc.constantFrom(...DIGITS) },
  { weight: 5, arbitrary: fc.constantFrom(...RUNS) },
  { weight: 2, arbitrary: fc.constantFrom(...OTHERS) },
)
const text = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: character, maxLength: 20 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
)
/** Cut from the text, or anything. */
const cut = fc.record({ start: fc.nat(), length: fc.integer({ min: 1, max: 6 }) })
const sought = fc.record({
  cut: fc.option(cut, { freq: 4 }),
  text: fc.string({ unit: character, minLength: 1, maxLength: 3 }),
  isQuoted: fc.boolean(),
  star: fc.constantFrom('', '', '*'),
  not: fc.constantFrom('', '', '', '-'),
})

function typed(one: typeof sought extends fc.Arbitrary<infer T> ? T : never, source: string): string {
  const start = one.cut ? one.cut.start % (source.length + 1) : 0
  const words = (one.cut ? source.slice(start, start + one.cut.length) : one.text).replaceAll(/["「『｢“”＂]/g, '')
  return `${one.not}${one.isQuoted ? `"${words}"` : words}${one.star}`
}

describe('the index and the text itself agree', () => {
  test('on any text and any words', () => {
    const table = new Table()
    let found = 0
    fc.assert(
      fc.property(
        text,
        text,
        fc.array(sought, { minLength: 1, maxLength: 3 }),
        fc.constantFrom(' ', ' OR '),
        (prompt, answer, list, or) => {
          const query = parseQuery(list.map((one, at) => typed(one, at % 2 === 0 ? prompt : answer)).join(or))
          if (query.kind === 'problem') return
          table.put(1, { prompt, answer })
          const isFound = table.find(query).length > 0
          if (isFound) found++
          expect(matches(query, { prompt, answer })).toBe(isFound)
        },
      ),
      { numRuns: 5000 },
    )
    expect(found).toBeGreaterThan(500)
  })
})
