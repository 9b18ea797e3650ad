/** Decompresses Zstandard with node:zlib if available, otherwise with fzstd. */
import { pipeline, Readable } from 'node:stream'
import * as zlib from 'node:zlib'
import { Decompress } from 'fzstd'
import { isSystemError } from './system-error.ts'

type ZstdParameters = { readonly [parameter: number]: number }
type DecompressorFactory = (options: {
  readonly params: ZstdParameters
}) => NodeJS.WritableStream & AsyncIterable<Buffer>

// Available in Node.js from 22.15 and 23.8.
const createNativeDecompressor = (zlib as { createZstdDecompress?: DecompressorFactory }).createZstdDecompress
const WINDOW_LOG_MAX = (zlib.constants as { readonly ZSTD_d_windowLogMax?: number }).ZSTD_d_windowLogMax

/**
 * Limit of the window size. The `zstd` tool has the same default, because a decompressor needs that much memory for any
 * file.
 */
const MAX_WINDOW_LOG = 27
const MAX_WINDOW_BYTES = 2 ** MAX_WINDOW_LOG

/** Why decompression ended early: the data is damaged, or needs more memory or work than a log justifies. */
export type ZstdFailure = 'damaged' | 'refused'

/**
 * Yields everything that can be decompressed. Ends with a ZstdFailure if the stream is damaged, truncated or hostile.
 */
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
  // Copied, because the stream may hold a chunk while the next one is read into the same memory.
  const frames = new FrameTracker()
  const copies = Readable.from(copyChunks(chunks, frames))
  const output = create({ params: WINDOW_LOG_MAX === undefined ? {} : { [WINDOW_LOG_MAX]: MAX_WINDOW_LOG } })
  // The consumer may stop early, which is not an error. Damage is reported by the output.
  pipeline(copies, output, () => {})
  const decoded: AsyncIterator<Buffer> = output[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await decoded.next().catch((error: unknown) => {
        if (isSystemError(error)) throw error
        return undefined
      })
      // Node 22 does not detect a truncated stream.
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
/** Skippable frames use one of sixteen magic numbers. */
const SKIPPABLE_MAGIC = 0x184d2a50

type HeaderKind = 'magic' | 'descriptor' | 'window' | 'length' | 'block' | 'nothing'

/** A block decompresses to at most 128 KB, so this bounds the size of a decompressed chunk. */
const MAX_BLOCKS_PER_CHUNK = 8

/**
 * Follows the headers in the compressed bytes. It detects a missing end, splits the data into small pieces, and rejects
 * excessive windows before memory is allocated for them.
 */
class FrameTracker {
  #next: HeaderKind = 'magic'
  /** Value and length of the header being read. */
  #value = 0
  #read = 0
  #wanted = 4
  /** Bytes until the next header. */
  #skip = 0
  #hasCheck = false
  /** Length of the header after its descriptor. */
  #rest = 0
  #isSingle = false
  #blocks = 0
  #frames = 0
  /** Window size of the current frame. */
  window = 0
  isRefused = false
  /** Work done so far: for each block and frame, the memory the decompressor walks through. */
  work = 0

  get areComplete(): boolean {
    return this.#next === 'magic' && this.#read === 0 && this.#skip === 0
  }

  /** Follows the chunk to its end, or to a position where a piece should end. @returns that position */
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
        // A single-segment frame has a window as large as its content.
        this.window = this.#isSingle ? value : windowSizeOf(value)
        this.work += this.window * NEW_MEMORY_WORK_FACTOR
        if (this.window > MAX_WINDOW_BYTES) this.isRefused = true
        return this.#await('block', 3, this.#isSingle ? 0 : this.#rest - 1)
      case 'block': {
        this.#blocks++
        this.work += this.window
        // A block of one repeated byte consists of that byte.
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
 * The portable decompressor walks its complete window for each block and frame, so tiny blocks with a large window
 * would keep it busy. The limit of work is this base plus a share per compressed byte: a block of a log has thousands
 * of them.
 */
const BASE_WORK = 2 ** 34
const WORK_PER_BYTE = 2 ** 14
/** Using newly allocated memory is slower than reusing memory. */
const NEW_MEMORY_WORK_FACTOR = 8

/** The window byte encodes a power of two and eighths of it. */
function windowSizeOf(byte: number): number {
  const base = 2 ** (10 + (byte >> 3))
  return base + (base / 8) * (byte & 7)
}

/** Length of the field that contains the content size. */
const contentLengthBytes = (descriptor: number): number =>
  [(descriptor & 32) !== 0 ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0

/** Length of the fields after the descriptor: window, dictionary and content size, as far as present. */
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
