/** JSON that is cut anywhere can be closed, and nothing in it is made up. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { closeJson, closeList } from './cut.ts'

const structure = fc.oneof(
  fc.array(fc.jsonValue({ maxDepth: 4 }), { minLength: 1 }),
  fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }), { minKeys: 1 }),
)
const cutText = fc.tuple(structure, fc.constantFrom(0, 2), fc.nat()).map(([value, indent, cut]) => {
  const text = JSON.stringify(value, null, indent)
  return { value: JSON.parse(text) as unknown, text: text.slice(0, 1 + (cut % (text.length - 1))) }
})

describe('closeJson', () => {
  test('makes any beginning of an object or array whole', () => {
    fc.assert(fc.property(cutText, ({ text }) => void JSON.parse(closeJson(text) ?? 'no')))
  })

  test('keeps all that was finished', () => {
    expect(closeJson('{"a":1,"b":[{"c":"x"},{"d":"y","e')).toBe('{"a":1,"b":[{"c":"x"},{"d":"y"}]}')
    expect(closeJson('{"a":"\\"}')).toBe('{}')
    expect(closeJson('[1,23')).toBe('[1]')
  })

  test('has nothing to say about what is whole or no structure', () => {
    for (const text of ['[]', '{"a":1}', '', 'words', '"text"', '12']) expect(closeJson(text)).toBeUndefined()
  })
})

describe('closeList', () => {
  test('keeps just the first elements of a list, each as it was', () => {
    fc.assert(
      fc.property(cutText, ({ value, text }) => {
        if (!Array.isArray(value)) return
        const closed = JSON.parse(closeList(text) ?? 'no') as unknown[]
        expect(closed).toEqual(value.slice(0, closed.length))
      }),
    )
  })

  test('takes the outermost list, and objects that are called one', () => {
    expect(closeList('{"m":[{"p":[1,2]},{"p":[3')).toBe('{"m":[{"p":[1,2]}]}')
    const tree = '{"t":"x","mapping":{"a":{"parts":[1]},"b":{"parts":["hal'
    expect(closeList(tree, (key) => key === 'mapping')).toBe('{"t":"x","mapping":{"a":{"parts":[1]}}}')
    expect(closeList('{"a":{"b":1')).toBeUndefined()
  })
})
