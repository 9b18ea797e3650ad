/** Reads a file's bytes in order, plain or `.zst`, never for writing. */
import { closeSync, fstatSync, readSync, statSync } from 'node:fs'
import { openRegular } from './files/regular-file.ts'
import { type Broken, unzstd } from './zstd.ts'

const CHUNK = 1 << 18

export interface OpenFile {
  readonly size: number
  readonly modifiedMs: number
  readonly inode: number
  /** The file's beginning, decompressed: enough to see what it is. */
  head(length: number): Promise<Buffer>
  /** The bytes from `offset` on, decompressed. Each chunk is valid until the next one is asked for. */
  chunks(offset: number): AsyncGenerator<Buffer>
  /** Set once the bytes turned out not to be whole Zstandard, or to ask for too much. */
  damaged(): Broken | undefined
  close(): void
}

export const isCompressed = (path: string): boolean => path.endsWith('.zst')

/**
 * Throws what the file system says. Reads block: a quarter of a megabyte takes less time than the thread pool's
 * answer would. Larger chunks make larger batches, which outlive the garbage collector's young generation.
 */
export function openFile(path: string): OpenFile {
  const fd = openRegular(path)
  const { size, mtimeMs, ino } = fstatSync(fd)
  let damaged: Broken | undefined
  const chunks = (offset: number): AsyncGenerator<Buffer> => {
    if (!isCompressed(path)) return plain(fd, offset)
    const decompressed = unzstd(plain(fd, 0), (why) => {
      damaged = why
    })
    return skip(decompressed, offset)
  }
  return {
    size,
    modifiedMs: Math.trunc(mtimeMs),
    inode: ino,
    head: (length) => (isCompressed(path) ? take(chunks(0), length) : Promise.resolve(readNow(fd, 0, length))),
    chunks,
    damaged: () => damaged,
    close: () => closeSync(fd),
  }
}

/** Another file lies there now, or a part of it is gone. */
export function wasReplaced(path: string, { inode, size }: OpenFile): boolean {
  const now = statSync(path, { throwIfNoEntry: false })
  return !now || now.ino !== inode || now.size < size
}

/** A stretch of a file, decompressed. Shorter than asked for when the file is. */
export async function readAt(path: string, offset: number, length: number): Promise<Buffer> {
  if (isCompressed(path)) return unpackedAt(path, offset, length)
  const fd = openRegular(path)
  try {
    return readNow(fd, offset, length)
  } finally {
    closeSync(fd)
  }
}

/** The file that was last asked for, unless it is large: whoever asks for one stretch of it asks for more. */
let unpacked: { readonly path: string; readonly stamp: string; readonly bytes: Buffer } | undefined
const MOST_UNPACKED = 16 << 20

async function unpackedAt(path: string, offset: number, length: number): Promise<Buffer> {
  const file = openFile(path)
  try {
    const stamp = `${file.size} ${file.modifiedMs} ${file.inode}`
    if (unpacked?.path !== path || unpacked.stamp !== stamp) {
      const bytes = await take(file.chunks(0), MOST_UNPACKED)
      if (bytes.length >= MOST_UNPACKED) return await take(file.chunks(offset), length)
      unpacked = { path, stamp, bytes }
    }
    return unpacked.bytes.subarray(offset, offset + length)
  } finally {
    file.close()
  }
}

/** A stretch of an open file, as it is. Shorter than asked for when the file is. */
export function readNow(fd: number, offset: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const read = readSync(fd, bytes, filled, length - filled, offset + filled)
    if (read === 0) break
    filled += read
  }
  return bytes.subarray(0, filled)
}

async function take(chunks: AsyncIterable<Buffer>, length: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let left = length
  for await (const chunk of chunks) {
    pieces.push(Buffer.from(chunk.subarray(0, left)))
    left -= chunk.length
    if (left <= 0) break
  }
  return Buffer.concat(pieces)
}

/** Using chunks again keeps the garbage collector quiet. */
const spare: Buffer[] = []
const MOST_SPARE = 4

async function* plain(fd: number, from: number): AsyncGenerator<Buffer> {
  const buffer = spare.pop() ?? Buffer.allocUnsafeSlow(CHUNK)
  try {
    for (let at = from; ; ) {
      const read = readSync(fd, buffer, 0, CHUNK, at)
      if (read === 0) return
      yield buffer.subarray(0, read)
      at += read
    }
  } finally {
    if (spare.length < MOST_SPARE) spare.push(buffer)
  }
}

async function* skip(chunks: AsyncIterable<Buffer>, count: number): AsyncGenerator<Buffer> {
  let left = count
  for await (const chunk of chunks) {
    if (left < chunk.length) yield chunk.subarray(left)
    left = Math.max(0, left - chunk.length)
  }
}
