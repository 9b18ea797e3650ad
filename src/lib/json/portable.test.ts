import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type JsonValue, parseJson, writeJson } from './lossless.ts'
import { fromPortableJson, plainPortableJson, portableJsonOf, toPortableJson } from './portable.ts'

function read(text: string): JsonValue {
  const parsed = parseJson(text)
  if (!parsed.ok) throw new Error(parsed.reason)
  return parsed.value
}

/** Through a file of plain JSON. */
const carried = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe('a carried value comes back as it was spelled', () => {
  test.each([
    '{"used_percent":17.0,"resets_at":1785958530}',
    '{"a":[{"b~/c":1e3}],"2":{"10":-0.0,"1":18446744073709551615}}',
    '{"__proto__":{"a":1.0}}',
    '[1e400,-1e400,0.10]',
    '1.0',
    '{"a":1}',
  ])('%s', (text) => {
    expect(writeJson(fromPortableJson(carried(toPortableJson(read(text)))))).toBe(text)
    expect(writeJson(fromPortableJson(carried(portableJsonOf(text, JSON.parse(text)))))).toBe(text)
  })

  test('whatever the numbers and keys', () => {
    const number = fc.oneof(
      fc.tuple(fc.nat(), fc.nat()).map(([a, b]) => `${a}.${b}0`),
      fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: -400, max: 400 })).map(([a, b]) => `${a}e${b}`),
      fc.integer().map(String),
    )
    const key = fc.oneof(fc.nat(20).map(String), fc.string(), fc.constantFrom('/', '~', '~1', '__proto__', ''))
    const pairs = fc.uniqueArray(fc.tuple(key, number), { selector: ([name]) => name })
    fc.assert(
      fc.property(pairs, (entries) => {
        const inner = `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`
        const text = `{"a":[${inner},${inner}]}`
        expect(writeJson(fromPortableJson(carried(toPortableJson(read(text)))))).toBe(text)
      }),
    )
  })
})

test('a value that plain JSON keeps is carried as it is', () => {
  const value = { a: [1, 1.5, 'x', null] }
  expect(toPortableJson(value)).toBe(value)
  expect(portableJsonOf('{"a":[1,1.5,"x",null]}', value)).toBe(value)
  expect(fromPortableJson(value)).toBe(value)
})

test('the spellings are facts beside the plain value, not the original text', () => {
  expect(toPortableJson(read('{"a":{"b":[17.0]},"c":{"2":1,"1":2}}'))).toEqual({
    exact_json: { numbers: { '/a/b/0': '17.0' }, keys: { '/c': ['2', '1'] } },
    value: { a: { b: [17] }, c: { 1: 2, 2: 1 } },
  })
  expect(plainPortableJson(toPortableJson(read('{"a":17.0}')))).toEqual({ a: 17 })
})

test.each([
  { exact_json: { numbers: { '/a': '18.0' } }, value: { a: 17 } },
  { exact_json: { numbers: { '/a': '17,"b":1' } }, value: { a: 17 } },
  { exact_json: { numbers: { '/b': '17.0', '/a/x': '1.0' } }, value: { a: 17 } },
  { exact_json: { keys: { '': ['a', 'b'] } }, value: { a: 17 } },
  { exact_json: { keys: { '': 'a' }, numbers: 7 }, value: { a: 17 } },
])('a spelling that does not spell the value is ignored: %j', (carriedValue) => {
  expect(writeJson(fromPortableJson(carriedValue))).toBe('{"a":17}')
})

test('texts that earlier versions carried are still read', () => {
  expect(writeJson(fromPortableJson({ exact_json: '{"a":17.0}' }))).toBe('{"a":17.0}')
  expect(plainPortableJson({ exact_json: '{"a":17.0}' })).toEqual({ a: 17 })
})
