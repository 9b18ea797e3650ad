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
  const frames = new Frames()
  const copies = Readable.from(copy(chunks, frames))
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
      // Node 22 does not notice an end that comes too soon.
      if (!next || (next.done && !frames.areWhole)) throw new Damage()
      if (next.done) return
      yield next.value
    }
  } finally {
    copies.destroy()
  }
}

async function* copy(chunks: AsyncIterable<Buffer>, frames: Frames): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    frames.follow(chunk)
    yield Buffer.from(chunk)
  }
}

const MAGIC = 0xfd2fb528
/** Frames that hold something else bear one of sixteen. */
const SKIPPABLE = 0x184d2a50

type Header = 'magic' | 'descriptor' | 'length' | 'block' | 'nothing'

/** Goes along compressed bytes from header to header, to know whether the last frame has its end. */
class Frames {
  #next: Header = 'magic'
  /** Of a header: its bytes so far, and how many it takes. */
  #value = 0
  #read = 0
  #wanted = 4
  /** Bytes until the next header. */
  #skip = 0
  #hasCheck = false

  get areWhole(): boolean {
    return this.#next === 'magic' && this.#read === 0 && this.#skip === 0
  }

  follow(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      const skipped = Math.min(this.#skip, chunk.length - at)
      this.#skip -= skipped
      at += skipped
      if (at === chunk.length || this.#next === 'nothing') return
      this.#value += (chunk[at++] ?? 0) * 2 ** (8 * this.#read++)
      if (this.#read < this.#wanted) continue
      this.#take(this.#value)
      this.#value = 0
      this.#read = 0
    }
  }

  #take(value: number): void {
    switch (this.#next) {
      case 'magic':
        if (value === MAGIC) return this.#await('descriptor', 1)
        return value - (value % 16) === SKIPPABLE ? this.#await('length', 4) : this.#await('nothing', 0)
      case 'length':
        return this.#await('magic', 4, value)
      case 'descriptor':
        this.#hasCheck = (value & 4) !== 0
        return this.#await('block', 3, headerLength(value))
      case 'block': {
        // A block of one repeated byte holds that byte alone.
        const length = ((value >> 1) & 3) === 1 ? 1 : value >> 3
        if ((value & 1) === 0) return this.#await('block', 3, length)
        return this.#await('magic', 4, length + (this.#hasCheck ? 4 : 0))
      }
    }
  }

  #await(next: Header, wanted: number, skip = 0): void {
    this.#next = next
    this.#wanted = wanted
    this.#skip = skip
  }
}

/** Behind the descriptor: window, dictionary and length of the content, each where it is told. */
function headerLength(descriptor: number): number {
  const isSingle = (descriptor & 32) !== 0
  const content = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0
  return (isSingle ? 0 : 1) + ([0, 1, 2, 4][descriptor & 3] ?? 0) + content
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
