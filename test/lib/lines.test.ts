import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeLine } from '../../src/lib/lines.ts'

/** Short and long texts, of one script or of several. */
const texts = fc
  .tuple(
    fc.array(fc.string({ unit: fc.constantFrom('a', 'é', '語', '𝄞', '\ufeff', '"') }), { maxLength: 30 }),
    fc.nat(4000),
  )
  .map(([pieces, length]) => pieces.join('').padEnd(length, 'text 語 '))

test('a line is decoded as Node decodes it, whatever its length and script', () => {
  fc.assert(
    fc.property(texts, fc.boolean(), (text, isKnown) => {
      const bytes = Buffer.from(`{"text":${JSON.stringify(text)}}`)
      const decoded = decodeLine({ number: 2, utf8: isKnown }, bytes)
      expect(decoded).toEqual({ text: bytes.toString('utf8'), repaired: false, nuls: false })
    }),
    { numRuns: 60 },
  )
})

test('invalid bytes in a long line are replaced and reported', () => {
  fc.assert(
    fc.property(texts, fc.nat(4000), (text, place) => {
      const inner = Buffer.from(`${text}x`)
      inner[place % inner.length] = 0xff
      const bytes = Buffer.concat([Buffer.from('{'), inner, Buffer.from('}')])
      const decoded = decodeLine({ number: 2, utf8: false }, bytes)
      expect(decoded).toEqual({ text: bytes.toString('utf8'), repaired: true, nuls: false })
    }),
    { numRuns: 60 },
  )
})
