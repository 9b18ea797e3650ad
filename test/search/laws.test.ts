/** For any text and query, the index and the search without an index agree. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { matchesQuery } from '../../src/search/matching.ts'
import { parseQuery } from '../../src/search/query/parse-query.ts'
import { runs } from '../support/extent.ts'
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
      runs(1000, 2500),
    )
    expect(found).toBeGreaterThan(100)
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
      runs(500, 1500),
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
      runs(500, 1500),
    )
  })
})

describe('an index of many segments', () => {
  const message = fc.record({ id: fc.nat(40), prompt: mixedText, output: mixedText })
  const action = fc.oneof(
    { weight: 6, arbitrary: fc.record({ put: fc.array(message, { minLength: 1, maxLength: 6 }) }) },
    { weight: 2, arbitrary: fc.record({ delete: fc.nat(40) }) },
    { weight: 2, arbitrary: fc.constant({ merge: true } as const) },
    { weight: 1, arbitrary: fc.constant({ erase: true } as const) },
  )

  test('finds what a scan of all texts finds, whatever is written, deleted and merged', () => {
    let found = 0
    let merged = 0
    fc.assert(
      fc.property(
        fc.array(action, { minLength: 3, maxLength: 40 }),
        fc.array(fc.tuple(arbitrarySearch, fc.nat(40)), { minLength: 1, maxLength: 4 }),
        operator,
        (actions, searches, or) => {
          const table = new Table()
          const texts = new Map<number, { prompt: string; output: string }>()
          for (const one of actions) {
            if ('put' in one) {
              const last = new Map(one.put.map(({ id, ...fields }) => [id, fields]))
              table.putAll([...last])
              for (const [id, fields] of last) texts.set(id, fields)
            }
            if ('delete' in one && texts.delete(one.delete)) table.delete(one.delete)
            if ('merge' in one && table.merge()) merged++
            if ('erase' in one) table.erase()
          }
          for (const scope of ['', ' scope:prompt']) {
            const query = parseQuery(
              searches.map(([one, id]) => typedFrom(one, texts.get(id)?.prompt ?? 'a')).join(or) + scope,
            )
            if (query.kind === 'problem' || query.patterns.length > 0) return
            const expected = [...texts].filter(([, fields]) => matchesQuery(query, fields)).map(([id]) => id)
            found += expected.length
            expect(table.find(query)).toEqual(expected.sort((a, b) => a - b))
            const isCertain = [...table.lookUp(query)].filter(([, how]) => how === 'sure')
            for (const [id] of isCertain) expect(matchesQuery(query, texts.get(id) ?? {})).toBe(true)
          }
        },
      ),
      runs(40, 120),
    )
    expect(found).toBeGreaterThan(100)
    expect(merged).toBeGreaterThan(0)
  })

  test('contains no word of erased messages', () => {
    const table = new Table()
    table.putAll([
      [1, { prompt: 'alpha secretword' }],
      [2, { prompt: 'alpha beta' }],
    ])
    for (let id = 3; id < 20; id++) table.put(id, { prompt: `alpha gamma${id}` })
    while (table.merge());
    expect(table.segments).toBeLessThan(12)
    expect(table.bytes()).toContain('secretword')
    table.delete(1)
    expect(table.find(queryOf('secretword'))).toEqual([])
    table.erase()
    expect(table.bytes()).not.toContain('secretword')
    expect(table.find(queryOf('alpha'))).toEqual(Array.from({ length: 18 }, (_, at) => at + 2))
  })
})
