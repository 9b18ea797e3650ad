/** Frames that we write are read by every decompressor. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { zstdFrame } from '../../src/lib/files/zstd-compress.ts'
import { unpack } from '../support/unpack.ts'

test.each([0, 1, (1 << 17) - 1, 1 << 17, (1 << 17) + 1, 300_000])('a stored frame of %i bytes', async (size) => {
  const bytes = Buffer.alloc(size, 'tea leaves ')
  expect((await unpack(zstdFrame(bytes, false))).equals(bytes)).toBe(true)
})

test('gives back any bytes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), fc.boolean(), async (bytes, isNative) => {
      expect((await unpack(zstdFrame(bytes, isNative))).equals(bytes)).toBe(true)
    }),
    { numRuns: 50 },
  )
})
