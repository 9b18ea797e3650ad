import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { JsonMap, JsonNumber, type JsonValue, parseJson, plainJson, writeJson } from './lossless.ts'

function read(text: string, options = {}): JsonValue {
  const parsed = parseJson(text, options)
  if (!parsed.ok) throw new Error(parsed.reason)
  return parsed.value
}

describe('input that JSON.parse would change round-trips', () => {
  test.each([
    '1.0',
    '-0',
    '-0.0',
    '1e3',
    '1E+3',
    '1e400',
    '18446744073709551615',
    '123456789012345678901234567890',
    '0.1000',
    '[1,-1,1.0,1.5,1e100,18446744073709551615]',
    '{"2":"b","1":"a","x":{"10":1.0,"9":[]}}',
    '{"__proto__":{"a":1}}',
    '{"a":"\\u0001n1.0","b":1.0}',
    '{"\\u0001k1":1,"1":2}',
    '"\\u0001\\u0001n"',
    '{"a":"x \\" , 1.0 \\\\","b":[1.0,"\\\\"]}',
    '[[],{},[[]],{"a":{}}]',
  ])('%s', (text) => {
    expect(writeJson(read(text))).toBe(text)
    expect(writeJson(read(writeJson(read(text), 2)))).toBe(text)
  })

  test('ordinary values are plain values', () => {
    expect(read('{"a":[1,1.5,-3,"x",null,true]}')).toEqual({ a: [1, 1.5, -3, 'x', null, true] })
    expect(read('1.0')).toEqual(new JsonNumber('1.0'))
    expect(read('{"1":2}')).toEqual(new JsonMap([['1', 2]]))
    expect(plainJson(read('{"1":[2.0,{"a":-0.5}]}'))).toEqual({ 1: [2, { a: -0.5 }] })
    expect(JSON.stringify(read('{"1":2.0}'))).toBe('{"1":2}')
  })

  test('whatever the value', () => {
    fc.assert(
      fc.property(fc.json({ noUnicodeString: false }), (text) => {
        const compact = JSON.stringify(JSON.parse(text))
        expect(JSON.parse(writeJson(read(text)))).toEqual(JSON.parse(text))
        expect(writeJson(read(compact), 2)).toBe(JSON.stringify(JSON.parse(compact), null, 2))
      }),
    )
  })

  test('whatever the numbers and keys', () => {
    const number = fc.oneof(
      fc.double({ noDefaultInfinity: true, noNaN: true }).map(String),
      fc.bigInt().map(String),
      fc.tuple(fc.nat(), fc.nat()).map(([a, b]) => `${a}.${b}0`),
      fc.tuple(fc.nat(9), fc.integer({ min: -400, max: 400 })).map(([a, b]) => `${a}e${b}`),
    )
    const key = fc.oneof(fc.nat().map(String), fc.string())
    const pairs = fc.uniqueArray(fc.tuple(key, number), { selector: ([name]) => name })
    fc.assert(
      fc.property(pairs, (entries) => {
        const text = `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${value.replace('e+', 'e')}`).join(',')}}`
        expect(writeJson(read(text))).toBe(text)
      }),
    )
  })
})

describe('invalid JSON stays invalid', () => {
  test.each([
    '',
    ' ',
    '{',
    '[1.0',
    '{1.0:2}',
    '01.0',
    '[1.]',
    '{"a":1.0,}',
    '"\n"',
    '1.0 2.0',
    '{"1" 2}',
    '+1.0',
    '[-]',
    '"abc',
  ])('%j', (text) => {
    expect(() => JSON.parse(text)).toThrow()
    expect(parseJson(text).ok).toBe(false)
  })

  test('the error message contains none of the input', () => {
    expect(JSON.stringify(parseJson('{"secret": secret}'))).not.toContain('secret')
  })
})

test('repeated keys are reported on request; the last value wins at the first position', () => {
  const parsed = parseJson('{"a":1,"b":{"\\u0063":1,"c":2},"a":3}', { duplicates: true })
  if (!parsed.ok) throw new Error(parsed.reason)
  expect(parsed.value).toEqual({ a: 3, b: { c: 2 } })
  expect([...parsed.duplicates.values()].sort()).toEqual(['a', 'c'])
})

test('a value that is too deep is refused, however it is written', () => {
  expect(parseJson('['.repeat(1001) + ']'.repeat(1001))).toEqual({ ok: false, reason: 'more than 1000 levels deep' })
  expect(parseJson('['.repeat(100_000)).ok).toBe(false)
  expect(parseJson('[[[]]]', { maxDepth: 2 }).ok).toBe(false)
})
