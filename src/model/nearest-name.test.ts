import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nearestName } from './nearest-name.ts'

const AGENTS = ['amazon-q', 'codex', 'fumibako', 'kiro', 'normalized', 'openai']

describe('nearestName', () => {
  test.each([
    ['cdex', 'codex'],
    ['codxe', 'codex'],
    ['CODEX', 'codex'],
    ['kir', 'kiro'],
    ['amazonq', 'amazon-q'],
    ['opanai', 'openai'],
    ['fumi', 'fumibako'],
  ])('%s is probably %s', (typed, meant) => {
    expect(nearestName(typed, AGENTS)).toBe(meant)
  })

  test.each(['zzz', 'x', '', 'a name that is quite different'])('nothing is similar to "%s"', (typed) => {
    expect(nearestName(typed, AGENTS)).toBeUndefined()
  })

  test('a known name is its own nearest name', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1 }), (names) => {
        const [first = ''] = names
        expect(nearestName(first, names)?.toLowerCase()).toBe(first.toLowerCase())
      }),
    )
  })
})
