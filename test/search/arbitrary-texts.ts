/** Texts that combine all kinds of characters, and queries cut from them. */
import fc from 'fast-check'

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
const KANA = ['ｱ', 'ｶﾞ', 'か\u3099', 'あ\u3099', '葛\u{e0100}', '㍿']
const RUNS = [...'東京都あアーが々〇한글ㅎㄅꀀ𠮷𰻝', ...KANA, 'ไ', 'ท', 'ิ', 'က', 'ᄒ', 'ᅡ']
const OTHERS = [...'हिन्दी', '🚀', '👩‍💻', '❤️', '☀', '🇯', '𐐀', '𐐨', '\u{11046}', '\u{10ffff}', '\uffff', 'א', 'ְ']

/** A small set, so that words repeat. */
export const mixedCharacter = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...SPACES) },
  { weight: 6, arbitrary: fc.constantFrom(...LATIN) },
  { weight: 2, arbitrary: fc.constantFrom(...DIGITS) },
  { weight: 5, arbitrary: fc.constantFrom(...RUNS) },
  { weight: 2, arbitrary: fc.constantFrom(...OTHERS) },
)

export const mixedText = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: mixedCharacter, maxLength: 20 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
)

interface SearchSample {
  readonly cut: { readonly start: number; readonly length: number } | null
  readonly text: string
  readonly isQuoted: boolean
  readonly star: string
  readonly not: string
}

/** Usually cut from a text. */
export const arbitrarySearch: fc.Arbitrary<SearchSample> = fc.record({
  cut: fc.option(fc.record({ start: fc.nat(), length: fc.integer({ min: 1, max: 6 }) }), { freq: 4 }),
  text: fc.string({ unit: mixedCharacter, minLength: 1, maxLength: 3 }),
  isQuoted: fc.boolean(),
  star: fc.constantFrom('', '', '*'),
  not: fc.constantFrom('', '', '', '-'),
})

export function typedFrom(one: SearchSample, text: string): string {
  const start = one.cut ? one.cut.start % (text.length + 1) : 0
  const words = (one.cut ? text.slice(start, start + one.cut.length) : one.text).replaceAll(/["「『｢“”＂]/g, '')
  return `${one.not}${one.isQuoted ? `"${words}"` : words}${one.star}`
}
