/** A snippet shows the match in the original text. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { edgeAfter, edgeBefore, makeSnippet } from '../../src/search/hit.ts'
import { matchesQuery } from '../../src/search/matching.ts'
import { parseQuery } from '../../src/search/query/parse-query.ts'
import { arbitrarySearch, mixedText, typedFrom } from './arbitrary-texts.ts'
import { queryOf } from './full-text-table.ts'

/** With highlights in brackets, and dots where it is cut. */
function shown(input: string, text: string, length = 40): string {
  const { text: part, highlights, cutBefore, cutAfter } = makeSnippet(queryOf(input), text, length)
  let all = part
  for (const [start, end] of [...highlights].reverse())
    all = `${all.slice(0, start)}[${all.slice(start, end)}]${all.slice(end)}`
  return `${cutBefore ? '…' : ''}${all}${cutAfter ? '…' : ''}`
}

test.each<[string, string, string]>([
  ['fox', 'The quick brown Fox', 'The quick brown [Fox]'],
  ['"brown fox" the', 'The quick brown\n  fox', '[The] quick [brown\n  fox]'],
  ['qui*', 'quick quiz', '[qui]ck [qui]z'],
  ['user', 'getUserName()', 'get[User]Name()'],
  ['userName', 'getUserName(user_name)', 'get[UserName]([user_name])'],
  ['東京', '東京都と東京タワー', '[東京]都と[東京]タワー'],
  ['カナ', 'ｶﾅ カナ カナ', '[ｶﾅ] [カナ] [カナ]'],
  ['ガ', 'ｶﾞ カ\u3099 ガ', '[ｶﾞ] [カ\u3099] [ガ]'],
  ['株式', '㍿です', '[㍿]です'],
  ['abc', 'ＡＢＣ', '[ＡＢＣ]'],
  ['cafe', 'Café cafe\u0301', '[Café] [cafe\u0301]'],
  ['fi', 'ﬁ', '[ﬁ]'],
  ['soft', 'so\u00adft', '[so\u00adft]'],
  ['葛', '葛\u{e0100}城', '[葛\u{e0100}]城'],
  ['0', 'ﬁ0\u05b0', 'ﬁ[0]\u05b0'],
  ['1', 'ﬁ①\u05b0', 'ﬁ[①]\u05b0'],
  ['🚀', 'go 🚀🚀', 'go [🚀🚀]'],
  ['한', '한글 ᄒ\u1161\u11ab글', '[한]글 [ᄒ\u1161\u11ab]글'],
  ['東 東京', '東京', '[東京]'],
  ['/o./', 'fox oxen', 'f[ox] [ox]en'],
  ['fox -/cat/', 'fox dog', '[fox] dog'],
  ['nothing agent:codex', 'some text', 'some text'],
])('%s in %s', (input, text, expected) => {
  expect(shown(input, text)).toBe(expected)
})

test('shows the position where the different words are close together', () => {
  const text = `alpha ${'x '.repeat(100)} alpha alpha ${'y '.repeat(100)} the alpha and the omega ${'z '.repeat(100)}`
  expect(shown('alpha omega', text)).toMatch(/^….*\[alpha\] and the \[omega\].*…$/)
})

test('cuts between words, and never inside of a character', () => {
  expect(shown('needle', `${'word '.repeat(30)}needle ${'word '.repeat(30)}`, 30)).toBe(
    '…word [needle] word word word…',
  )
  const family = '👨‍👩‍👧‍👦'
  const part = makeSnippet(queryOf('needle'), `${family.repeat(20)}needle${family.repeat(20)}`, 60).text
  expect(part.split('needle').every((side) => side === family.repeat(side.length / family.length))).toBe(true)
})

describe('laws', () => {
  test('a snippet is part of the text, within its length limit, with the matches highlighted', () => {
    fc.assert(
      fc.property(
        mixedText,
        mixedText,
        arbitrarySearch,
        fc.integer({ min: 1, max: 30 }),
        (before, after, one, length) => {
          const text = `${before} ${after}`
          const query = parseQuery(typedFrom({ ...one, not: '' }, text))
          if (query.kind === 'problem') return
          const { text: part, highlights, cutBefore, cutAfter } = makeSnippet(query, text, length)
          expect(text.includes(part)).toBe(true)
          expect(part.length).toBeLessThanOrEqual(length)
          expect(part.length === text.length).toBe(!cutBefore && !cutAfter)
          let last = -1
          for (const [start, end] of highlights) {
            expect(start).toBeGreaterThan(last)
            expect(end).toBeGreaterThan(start)
            last = end
          }
          expect(last).toBeLessThanOrEqual(part.length)
          const isOneTerm = query.must?.kind === 'term' && query.mustNot.length + query.patterns.length === 0
          if (isOneTerm && length >= 20) expect(highlights.length > 0).toBe(matchesQuery(query, { prompt: text }))
        },
      ),
      { numRuns: 2000 },
    )
  })

  test('each highlight matches on its own', () => {
    fc.assert(
      fc.property(mixedText, arbitrarySearch, (text, one) => {
        const query = parseQuery(typedFrom({ ...one, not: '' }, text))
        if (query.kind === 'problem' || query.must?.kind !== 'term') return
        if (query.mustNot.length + query.patterns.length > 0) return
        const { text: part, highlights } = makeSnippet(query, text, 1000)
        const isWhole = query.must.prefix || highlights.length === 0
        if (!isWhole)
          expect(
            matchesQuery(query, { prompt: highlights.map(([start, end]) => part.slice(start, end)).join(' ') }),
          ).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  test('a text is cut only where one character ends and another begins', () => {
    const characters = new Intl.Segmenter('en', { granularity: 'grapheme' })
    const unit = fc.constantFrom(
      'a',
      '東',
      '𠮷',
      'e\u0301',
      'か\u3099',
      'ｶﾞ',
      '👍🏽',
      '👨‍👩‍👧',
      '❤️',
      '🇯🇵',
      '각',
      '\u1112\u1161\u11ab',
    )
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 8 }), fc.nat({ max: 60 }), (units, at) => {
        const text = units.join('')
        const borders = [...characters.segment(text)].map(({ index }) => index)
        const expected = at >= text.length ? text.length : borders.findLast((border) => border <= at)
        expect(edgeBefore(text, at)).toBe(expected ?? 0)
        expect(edgeAfter(text, at)).toBe(borders.find((border) => border >= at) ?? text.length)
      }),
    )
  })
})
