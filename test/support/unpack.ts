/** Decompresses Zstandard as the product does. */
import { Readable } from 'node:stream'
import { unzstd } from '../../src/lib/files/zstd.ts'

export async function unpack(bytes: Buffer): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of unzstd(Readable.from([bytes]), (failure) => {
    throw new Error(failure)
  }))
    pieces.push(Buffer.from(piece))
  return Buffer.concat(pieces)
}
