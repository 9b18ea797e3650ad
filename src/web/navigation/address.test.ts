import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hrefOf, parseAddress, sessionHref } from './address.ts'

test('one state has one address, and an address gives the state back', () => {
  expect(hrefOf('/', { q: '', agent: 'codex', tag: undefined })).toBe('/?agent=codex')
  expect(parseAddress(sessionHref('codex:a/b?c', '2026-02-03T00:15:08.500Z#6'))).toEqual({
    path: '/session',
    query: { id: 'codex:a/b?c', at: '2026-02-03T00:15:08.500Z#6' },
  })
  fc.assert(
    fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.string({ minLength: 1, unit: 'grapheme' })), (query) => {
      expect(parseAddress(hrefOf('/session', query)).query).toEqual({ ...query })
    }),
  )
})
