/** Texts and patterns made to break or slow down the search. */
import { describe, expect, test } from 'vitest'
import { makeSnippet } from '../../src/search/hit.ts'
import { matchesQuery, PatternTimeLimit } from '../../src/search/matching.ts'
import { analyse } from '../../src/search/words/analyse.ts'
import { queryOf, Table, tableOf } from './full-text-table.ts'

const LONG = 300_000

describe('very long texts', () => {
  test.each<[string, string, string]>([
    ['one word', `${'a'.repeat(LONG)} needle`, 'needle'],
    ['one word of changing case', `${'aB'.repeat(LONG / 2)} needle`, 'needle'],
    ['one run', `${'あ'.repeat(LONG)}針`, 'あ針'],
    ['one run beyond the basic plane', `${'𠮷'.repeat(LONG)}針`, '𠮷針'],
    ['marks', `a${'\u0301'.repeat(LONG)} needle`, 'needle'],
    ['marks that have to be put in order', `a${'\u0301\u0316'.repeat(LONG / 2)} needle`, 'needle'],
    ['pictures', `${'🚀'.repeat(LONG)}針`, '🚀針'],
    ['identifiers', `${Array.from({ length: 20_000 }, (_, at) => `someName${at}`).join(' ')} theNeedle`, 'needle'],
    ['nothing but separators', `${'-'.repeat(LONG)}needle`, 'needle'],
  ])('%s', (_, text, word) => {
    expect(tableOf(text).has(word)).toBe(true)
    expect(tableOf(text).has(`${word}x`)).toBe(false)
    expect(matchesQuery(queryOf(word), { prompt: text })).toBe(true)
    const { text: part, highlights } = makeSnippet(queryOf(word), text, 80)
    expect(part.length).toBeLessThanOrEqual(80)
    expect(highlights).toHaveLength(1)
  })

  test('words at the end of a line without spaces, in a text whose normal form is another', () => {
    const { highlights } = makeSnippet(queryOf('나'), `Ａ${'가'.repeat(LONG)}${'나'.repeat(64)}`, 80)
    expect(highlights.length).toBeGreaterThan(0)
  })

  test('text across a block boundary is found', () => {
    const table = new Table()
    for (const filler of ['x ', 'あ', 'é ', 'fooBar ', '𠮷'])
      for (let length = 8100; length < 8300; length += 7) {
        const text = `${filler.repeat(Math.ceil(length / filler.length)).slice(0, length)} theNeedleWord 東京タワー end`
        table.put(1, { prompt: text })
        for (const word of [
          'needle',
          'theneedleword',
          'needle_word',
          '東京タワー',
          'ワー',
          '"theneedleword 東京"',
          'end',
        ])
          expect(table.find(queryOf(word)), `${word} behind ${length} of ${filler}`).toEqual([1])
      }
  })
})

describe('patterns', () => {
  const trap = `${'a'.repeat(60)}!`

  test('that take too long are stopped and reported', () => {
    const time = new PatternTimeLimit(50)
    expect(matchesQuery(queryOf('/^(a+)+$/'), { prompt: trap }, time)).toBe(false)
    expect(time.isExhausted).toBe(true)
    expect(matchesQuery(queryOf('/a+/'), { prompt: trap }, time)).toBe(false)
    expect(matchesQuery(queryOf('/aa/'), { prompt: trap }, time)).toBe(true)
  })

  test('that branch without repetition are stopped too', () => {
    const time = new PatternTimeLimit(50)
    expect(matchesQuery(queryOf(`/${'(a|a)'.repeat(30)}b/`), { prompt: trap }, time)).toBe(false)
    expect(time.isExhausted).toBe(true)
  })

  test('that are fast leave the remaining time to others', () => {
    const time = new PatternTimeLimit(60_000)
    expect(matchesQuery(queryOf('/a+!$/'), { prompt: trap }, time)).toBe(true)
    expect(matchesQuery(queryOf('-/b+/'), { prompt: trap }, time)).toBe(true)
    expect(time.isExhausted).toBe(false)
  })

  test('do not block snippets', () => {
    expect(makeSnippet(queryOf('/^(a+)+$/ x'), `x ${trap}`, 80, new PatternTimeLimit(50)).highlights).toEqual([[0, 1]])
  })

  test('keep no state between texts', () => {
    const query = queryOf('/fo+/')
    expect(['foo', 'foo', 'bar', 'foo'].map((prompt) => matchesQuery(query, { prompt }))).toEqual([
      true,
      true,
      false,
      true,
    ])
  })
})

test('long output is found completely', () => {
  const text = `getUserName 東京 ${'filler '.repeat(1000)} hiddenWord ${'あ'.repeat(5000)} ${'x'.repeat(300_000)} exit_code 大阪`
  const { has } = tableOf(text)
  expect(
    ['user', '東京', 'exitCode', '大阪', 'filler', '"filler hiddenWord"', 'ああああ'].filter((one) => !has(one)),
  ).toEqual([])
  expect(['hidden filler-hidden-x', '"hidden filler"', `${'x'.repeat(80)}`].filter(has)).toEqual([])
  expect(has('x'.repeat(300))).toBe(false)
  expect(has(`${'x'.repeat(300)}*`)).toBe(true)
})

test('an analysed text contains only words and separators', () => {
  const all = Array.from({ length: 0x3000 }, (_, at) => String.fromCharCode(at * 5)).join('a')
  expect(analyse(all)).not.toMatch(/(?!_)[\p{Cs}\p{P}\p{S}]/u)
})
