import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Spool } from './temp-files.ts'

it('returns the bytes written, from memory and from its file', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), fc.nat(200), (pieces, maxMemoryBytes) => {
      const spool = new Spool(maxMemoryBytes)
      for (const piece of pieces) spool.push(Buffer.from(piece))
      expect(spool.length).toBe(pieces.length)
      expect(pieces.map((_, at) => spool.at(at))).toEqual(pieces.map((piece) => Buffer.from(piece)))
      expect(spool.at(pieces.length)).toBeUndefined()
      spool.close()
    }),
  )
})
