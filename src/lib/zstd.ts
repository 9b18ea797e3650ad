/** Decompresses Zstandard: with node:zlib where it can, else with fzstd. */
import { pipeline, Readable } from 'node:stream'
import * as zlib from 'node:zlib'
import { Decompress } from 'fzstd'
import { isSystemError } from './files/system-error.ts'

type Factory = () => NodeJS.WritableStream & AsyncIterable<Buffer>

// Node has it from 22.15 and 23.8 on.
const native = (zlib as { createZstdDecompress?: Factory }).createZstdDecompress

/** Gives all that can be decompressed; where the stream is damaged or cut it says so and ends. */
export async function* unzstd(chunks: AsyncIterable<Buffer>, onDamage: () => void): AsyncGenerator<Buffer> {
  try {
    yield* native ? unzstdNative(chunks, native) : unzstdPortable(chunks)
  } catch (error) {
    if (!(error instanceof Damage)) throw error
    onDamage()
  }
}

class Damage extends Error {}

async function* unzstdNative(chunks: AsyncIterable<Buffer>, create: Factory): AsyncGenerator<Buffer> {
  // Copied, because the stream may hold a chunk after the next one was read into the same memory.
  const copies = Readable.from(copy(chunks))
  const output = create()
  // What the file says ends the output too; what is thrown away before its end is no failure.
  pipeline(copies, output, () => {})
  const decoded: AsyncIterator<Buffer> = output[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await decoded.next().catch((error: unknown) => {
        if (isSystemError(error)) throw error
        return undefined
      })
      if (!next) throw new Damage()
      if (next.done) return
      yield next.value
    }
  } finally {
    copies.destroy()
  }
}

async function* copy(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) yield Buffer.from(chunk)
}

/** Fed in small pieces, so that one push never gives more than a few blocks of output. */
const SLICE = 1 << 16

async function* unzstdPortable(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let ready: Buffer[] = []
  const stream = new Decompress((data) => {
    if (data.length > 0) ready.push(Buffer.from(data))
  })
  const push = (bytes: Uint8Array, last: boolean): boolean => {
    try {
      stream.push(bytes, last)
      return true
    } catch {
      return false
    }
  }
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += SLICE) {
      const whole = push(Uint8Array.from(chunk.subarray(at, at + SLICE)), false)
      const out = ready
      ready = []
      yield* out
      if (!whole) throw new Damage()
    }
  }
  const whole = push(new Uint8Array(0), true)
  yield* ready
  if (!whole) throw new Damage()
}
