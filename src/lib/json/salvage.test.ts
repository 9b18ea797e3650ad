/** Tests that JSON truncated anywhere can be closed without inventing values. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { closeTruncatedJson, closeTruncatedList } from './salvage.ts'

const structure = fc.oneof(
  fc.array(fc.jsonValue({ maxDepth: 4 }), { minLength: 1 }),
  fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }), { minKeys: 1 }),
)
const cutText = fc.tuple(structure, fc.constantFrom(0, 2), fc.nat()).map(([value, indent, cut]) => {
  const text = JSON.stringify(value, null, indent)
  return { value: JSON.parse(text) as unknown, text: text.slice(0, 1 + (cut % (text.length - 1))) }
})

describe('closeJson', () => {
  test('completes any prefix of an object or array', () => {
    fc.assert(fc.property(cutText, ({ text }) => void JSON.parse(closeTruncatedJson(text) ?? 'no')))
  })

  test('keeps all complete values', () => {
    expect(closeTruncatedJson('{"a":1,"b":[{"c":"x"},{"d":"y","e')).toBe('{"a":1,"b":[{"c":"x"},{"d":"y"}]}')
    expect(closeTruncatedJson('{"a":"\\"}')).toBe('{}')
    expect(closeTruncatedJson('[1,23')).toBe('[1]')
  })

  test('returns undefined for complete values and for scalars', () => {
    for (const text of ['[]', '{"a":1}', '', 'words', '"text"', '12']) expect(closeTruncatedJson(text)).toBeUndefined()
  })
})

describe('closeList', () => {
  test('keeps only the first elements of a list, unchanged', () => {
    fc.assert(
      fc.property(cutText, ({ value, text }) => {
        if (!Array.isArray(value)) return
        const closed = JSON.parse(closeTruncatedList(text) ?? 'no') as unknown[]
        expect(closed).toEqual(value.slice(0, closed.length))
      }),
    )
  })

  test('takes the outermost list, including objects declared as lists', () => {
    expect(closeTruncatedList('{"m":[{"p":[1,2]},{"p":[3')).toBe('{"m":[{"p":[1,2]}]}')
    const tree = '{"t":"x","mapping":{"a":{"parts":[1]},"b":{"parts":["hal'
    expect(closeTruncatedList(tree, (key) => key === 'mapping')).toBe('{"t":"x","mapping":{"a":{"parts":[1]}}}')
    expect(closeTruncatedList('{"a":{"b":1')).toBeUndefined()
  })
})
