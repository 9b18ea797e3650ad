/** Each problem with messages that have it, and their repair. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { repair, validate } from '../../../src/openai.ts'
import { CALL_CASES } from './call-cases.ts'
import { CONTENT_CASES } from './content-cases.ts'
import { MESSAGE_CASES } from './message-cases.ts'

const CASES = [...MESSAGE_CASES, ...CONTENT_CASES, ...CALL_CASES]

describe('validate and repair', () => {
  test.each(CASES.map((one) => [one.code, one.of, one] as const))('%s: %s', (_, __, one) => {
    const { messages, problems } = repair(one.given, one.for)
    expect(problems.map(({ code, path }) => `${code} ${path}`)).toContain(`${one.code} ${one.at}`)
    expect(messages).toEqual(one.mended)
    expect(validate(one.given, one.for)).toEqual(problems)
    expect(validate(messages, one.for)).toEqual([])
    for (const { what, repair: does } of problems) {
      expect(what).toMatch(/^\S.*\.$/s)
      expect(does).toMatch(/^[a-z]/)
    }
  })

  test('have a case for each code', () => {
    const source = readFileSync(join(import.meta.dirname, '../../../src/openai/check/problem.ts'), 'utf8')
    const codes = [...source.matchAll(/\| '([a-z_]+)'/g)].map((match) => match[1])
    expect([...new Set(CASES.map((one) => one.code))].sort()).toEqual(codes.sort())
  })
})
