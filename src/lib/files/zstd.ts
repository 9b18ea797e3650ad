/** Decompresses Zstandard: with node:zlib where it can, else with fzstd. */
import { pipeline, Readable } from 'node:stream'
import * as zlib from 'node:zlib'
import { Decompress } from 'fzstd'
import { isSystemError } from './system-error.ts'

type ZstdParameters = { readonly [parameter: number]: number }
type DecompressorFactory = (options: {
  readonly params: ZstdParameters
}) => NodeJS.WritableStream & AsyncIterable<Buffer>

// Node has it from 22.15 and 23.8 on.
const createNativeDecompressor = (zlib as { createZstdDecompress?: DecompressorFactory }).createZstdDecompress
const WINDOW_LOG_MAX = (zlib.constants as { readonly ZSTD_d_windowLogMax?: number }).ZSTD_d_windowLogMax

/** What the `zstd` tool refuses without an option too: a decompressor holds that much memory, whatever the file's size. */
const MAX_WINDOW_LOG = 27
const MAX_WINDOW_BYTES = 2 ** MAX_WINDOW_LOG

/** Why there is no more: the bytes break off, or they ask for more memory or work than any log is worth. */
export type ZstdFailure = 'damaged' | 'refused'

/** Gives all that can be decompressed; where the stream is damaged, cut or hostile it says so and ends. */
export async function* unzstd(
  chunks: AsyncIterable<Buffer>,
  onDamage: (failure: ZstdFailure) => void,
): AsyncGenerator<Buffer> {
  try {
    yield* createNativeDecompressor ? unzstdNative(chunks, createNativeDecompressor) : unzstdPortable(chunks)
  } catch (error) {
    if (!(error instanceof ZstdError)) throw error
    onDamage(error.why)
  }
}

class ZstdError extends Error {
  readonly why: ZstdFailure

  constructor(failure: ZstdFailure = 'damaged') {
    super(failure)
    this.why = failure
  }
}

async function* unzstdNative(chunks: AsyncIterable<Buffer>, create: DecompressorFactory): AsyncGenerator<Buffer> {
  // Copied, because the stream may hold a chunk after the next one was read into the same memory.
  const frames = new FrameTracker()
  const copies = Readable.from(copyChunks(chunks, frames))
  const output = create({ params: WINDOW_LOG_MAX === undefined ? {} : { [WINDOW_LOG_MAX]: MAX_WINDOW_LOG } })
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
      if (!next || (next.done && !frames.areComplete)) throw new ZstdError(frames.isRefused ? 'refused' : 'damaged')
      if (next.done) return
      yield next.value
    }
  } finally {
    copies.destroy()
  }
}

async function* copyChunks(chunks: AsyncIterable<Buffer>, frames: FrameTracker): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length && !frames.isRefused; ) at = frames.follow(chunk, at)
    if (frames.isRefused) throw new ZstdError('refused')
    yield Buffer.from(chunk)
  }
}

const FRAME_MAGIC = 0xfd2fb528
/** Frames that hold something else bear one of sixteen. */
const SKIPPABLE_MAGIC = 0x184d2a50

type HeaderKind = 'magic' | 'descriptor' | 'window' | 'length' | 'block' | 'nothing'

/** A block gives at most 128 KB: what is decompressed in one go stays small, whatever the blocks hold. */
const MAX_BLOCKS_PER_CHUNK = 8

/**
 * Goes along compressed bytes from header to header: to know whether the last frame has its end, to cut them into small
 * pieces, and to refuse windows that no log needs before anybody makes room for them.
 */
class FrameTracker {
  #next: HeaderKind = 'magic'
  /** Of a header: its bytes so far, and how many it takes. */
  #value = 0
  #read = 0
  #wanted = 4
  /** Bytes until the next header. */
  #skip = 0
  #hasCheck = false
  /** What stands behind the descriptor. */
  #rest = 0
  #isSingle = false
  #blocks = 0
  #frames = 0
  /** Of the frame that is open. */
  window = 0
  isRefused = false
  /** Blocks and frames so far, each with the memory that is gone through for it. */
  work = 0

  get areComplete(): boolean {
    return this.#next === 'magic' && this.#read === 0 && this.#skip === 0
  }

  /** Up to the end of the chunk, or to where a few more blocks or another frame begin. @returns the next byte */
  follow(chunk: Buffer, from: number): number {
    this.#blocks = 0
    this.#frames = 0
    for (let at = from; at < chunk.length; ) {
      const skipped = Math.min(this.#skip, chunk.length - at)
      this.#skip -= skipped
      at += skipped
      if (at === chunk.length || this.#next === 'nothing') return chunk.length
      this.#value += (chunk[at++] ?? 0) * 2 ** (8 * this.#read++)
      if (this.#read < this.#wanted) continue
      const value = this.#value
      this.#value = 0
      this.#read = 0
      this.#take(value)
      if (this.isRefused || this.#blocks >= MAX_BLOCKS_PER_CHUNK || this.#frames > 1) return at
    }
    return chunk.length
  }

  #take(value: number): void {
    switch (this.#next) {
      case 'magic':
        this.#frames++
        if (value === FRAME_MAGIC) return this.#await('descriptor', 1)
        return value - (value % 16) === SKIPPABLE_MAGIC ? this.#await('length', 4) : this.#await('nothing', 0)
      case 'length':
        return this.#await('magic', 4, value)
      case 'descriptor':
        this.#hasCheck = (value & 4) !== 0
        this.#isSingle = (value & 32) !== 0
        this.#rest = headerLengthBytes(value)
        if (this.#isSingle) {
          const size = contentLengthBytes(value)
          return this.#await('window', size, this.#rest - size)
        }
        return this.#await('window', 1)
      case 'window':
        // A frame of one segment is its own window, as long as it says.
        this.window = this.#isSingle ? value : windowSizeOf(value)
        this.work += this.window * NEW_MEMORY_WORK_FACTOR
        if (this.window > MAX_WINDOW_BYTES) this.isRefused = true
        return this.#await('block', 3, this.#isSingle ? 0 : this.#rest - 1)
      case 'block': {
        this.#blocks++
        this.work += this.window
        // A block of one repeated byte holds that byte alone.
        const length = ((value >> 1) & 3) === 1 ? 1 : value >> 3
        if ((value & 1) === 0) return this.#await('block', 3, length)
        return this.#await('magic', 4, length + (this.#hasCheck ? 4 : 0))
      }
    }
  }

  #await(next: HeaderKind, wanted: number, skip = 0): void {
    this.#next = next
    this.#wanted = wanted
    this.#skip = skip
  }
}

/**
 * The portable decompressor goes through its whole window for each block and each frame. So much is always done, and so much
 * more for each compressed byte: a block of a log has thousands of them. Tiny blocks with a large window keep a machine busy.
 */
const BASE_WORK = 2 ** 34
const WORK_PER_BYTE = 2 ** 14
/** New memory takes longer than memory that is there. */
const NEW_MEMORY_WORK_FACTOR = 8

/** Of the window's own byte: a power of two, and eighths of it. */
function windowSizeOf(byte: number): number {
  const base = 2 ** (10 + (byte >> 3))
  return base + (base / 8) * (byte & 7)
}

/** How many bytes tell the length of the content. */
const contentLengthBytes = (descriptor: number): number =>
  [(descriptor & 32) !== 0 ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0

/** Behind the descriptor: window, dictionary and length of the content, each where it is told. */
function headerLengthBytes(descriptor: number): number {
  const isSingle = (descriptor & 32) !== 0
  return (isSingle ? 0 : 1) + ([0, 1, 2, 4][descriptor & 3] ?? 0) + contentLengthBytes(descriptor)
}

async function* unzstdPortable(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let ready: Buffer[] = []
  const frames = new FrameTracker()
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
  let read = 0
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      const end = frames.follow(chunk, at)
      read += end - at
      if (frames.isRefused || frames.work > BASE_WORK + WORK_PER_BYTE * read) throw new ZstdError('refused')
      const isAccepted = push(Uint8Array.from(chunk.subarray(at, end)), false)
      at = end
      const out = ready
      ready = []
      yield* out
      if (!isAccepted) throw new ZstdError()
    }
  }
  const isAccepted = push(new Uint8Array(0), true)
  yield* ready
  if (!isAccepted) throw new ZstdError()
}
