import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findJsonSyntaxError, lineAndColumnOf } from './syntax-error.ts'

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('the position of a syntax error', () => {
  test.each([
    ['{\n  "a": 1 // why\n}', 'JSON does not allow comments; remove this one', 2, 10],
    ['/* first */ {}', 'JSON does not allow comments; remove this one', 1, 1],
    ['{"a": 1,\n}', 'JSON does not allow a comma before a closing bracket; remove it', 2, 1],
    ['[1, 2,]', 'JSON does not allow a comma before a closing bracket; remove it', 1, 7],
    ["{'a': 1}", 'JSON requires double quotes', 1, 2],
    ['{a: 1}', 'expected a name in double quotes', 1, 2],
    ['{"a" 1}', 'a colon is missing before this', 1, 6],
    ['{"a": 1\n "b": 2}', 'a comma is missing before this, or a bracket', 2, 2],
    ['{"a": yes}', 'not a JSON value', 1, 7],
    ['{"a": [1, 2', 'the text ends too early', 1, 12],
    ['{} {}', 'unexpected text after the end', 1, 4],
  ])('%j', (text, reason, line, column) => {
    const fault = findJsonSyntaxError(text)
    expect(fault?.reason.en).toBe(reason)
    expect(lineAndColumnOf(text, fault?.at ?? -1)).toEqual({ line, column })
  })

  test('exists exactly if JSON.parse rejects the text', () => {
    const characters = fc.constantFrom(...'{}[],:"\\ \n0123.-eEtruefalsn/*#a\u0001'.split(''))
    const nearly = fc
      .tuple(fc.json(), fc.nat(), fc.array(characters, { maxLength: 2 }), fc.nat(2))
      .map(([json, position, inserted, cut]) => {
        const at = position % (json.length + 1)
        return json.slice(0, at) + inserted.join('') + json.slice(at + cut)
      })
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          nearly,
          fc.array(characters).map((all) => all.join('')),
        ),
        (text) => {
          expect(findJsonSyntaxError(text) === undefined).toBe(isJson(text))
        },
      ),
      { numRuns: 3000 },
    )
  })

  test('depth is not an error', () => {
    const deep = '['.repeat(200_000)
    expect(findJsonSyntaxError(deep)?.reason.en).toBe('the text ends too early')
  })
})
