/** For any text and query, FTS5 and the search without an index agree. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { matchesQuery } from '../../src/search/matching.ts'
import { parseQuery } from '../../src/search/query/parse-query.ts'
import { analyse } from '../../src/search/words/analyse.ts'
import { arbitrarySearch, mixedText, typedFrom } from './arbitrary-texts.ts'
import { queryOf, Table } from './full-text-table.ts'

const operator = fc.constantFrom(' ', ' OR ')

describe('the index and the text itself agree', () => {
  test('on any text and any words', () => {
    const table = new Table()
    let found = 0
    fc.assert(
      fc.property(
        mixedText,
        mixedText,
        fc.array(arbitrarySearch, { minLength: 1, maxLength: 3 }),
        operator,
        (prompt, answer, list, or) => {
          const query = parseQuery(list.map((one, at) => typedFrom(one, at % 2 === 0 ? prompt : answer)).join(or))
          if (query.kind === 'problem' || query.patterns.length > 0) return
          table.put(1, { prompt, answer })
          const isFound = table.find(query).length > 0
          if (isFound) found++
          expect(matchesQuery(query, { prompt, answer })).toBe(isFound)
        },
      ),
      { numRuns: 2500 },
    )
    expect(found).toBeGreaterThan(250)
  })

  test('on words of scripts without spaces, which match anywhere', () => {
    const run = fc.string({ unit: fc.constantFrom(...'東京都あいアイー한글𠮷𰻝々'), minLength: 1, maxLength: 4 })
    const text = fc.array(fc.oneof(run, fc.constantFrom(' ', '、', 'a', '1', '。\n')), { maxLength: 8 })
    const table = new Table()
    fc.assert(
      fc.property(text, run, (pieces, word) => {
        const prompt = pieces.join('')
        table.put(1, { prompt })
        expect(table.find(queryOf(word)).length > 0).toBe(prompt.includes(word))
      }),
      { numRuns: 1500 },
    )
  })

  test('on words of letters and digits, which match completely', () => {
    const word = fc.string({ unit: fc.constantFrom(...'abcé019'), minLength: 1, maxLength: 3 })
    const text = fc.array(fc.tuple(word, fc.constantFrom(' ', '-', '_', '. ', '/', '(')), { maxLength: 8 })
    const plain = (one: string): string => one.toLowerCase().normalize('NFD').replaceAll(/\p{M}/gu, '')
    const table = new Table()
    fc.assert(
      fc.property(text, fc.array(word, { minLength: 1, maxLength: 3 }), (pieces, phrase) => {
        const prompt = pieces.flat().join('')
        table.put(1, { prompt })
        const padded = ` ${pieces.map(([one]) => plain(one)).join(' ')} `
        const isThere = padded.includes(` ${phrase.map(plain).join(' ')} `)
        const isFound = table.find(queryOf(`"${phrase.join(' ')}"`)).length > 0
        if (isThere) expect(isFound).toBe(true)
        else if (!pieces.some(([one]) => /[a-zé]\d|\d[a-zé]/.test(one))) expect(isFound).toBe(false)
      }),
      { numRuns: 1500 },
    )
  })
})

test('FTS5 splits the prepared text only between its words', () => {
  const points = Array.from({ length: 0x20000 }, (_, point) => point)
  const beyond = Array.from({ length: 0x1000 }, (_, at) => 0x20000 + at * 0xef)
  const blocks = [...points, ...beyond].map((point) => `q${String.fromCodePoint(point)}Q`)
  const table = new Table()
  for (let at = 0; at < blocks.length; at += 4096) {
    const text = blocks.slice(at, at + 4096).join(' ')
    table.put(1, { prompt: text })
    const words = analyse(text)
    expect(table.words()).toEqual(
      words
        .toLowerCase()
        .split(' ')
        .filter((word) => word !== ''),
    )
  }
})
