/** Reads a file's bytes in order, plain or `.zst`, never for writing. */
import { closeSync, fstatSync, readSync, statSync } from 'node:fs'
import { openRegularFile } from './regular-file.ts'
import { unzstd, type ZstdFailure } from './zstd.ts'

const CHUNK_BYTES = 1 << 18

export interface OpenFile {
  readonly size: number
  readonly modifiedMs: number
  readonly inode: number
  /** The first bytes, decompressed. */
  head(length: number): Promise<Buffer>
  /** The bytes from `offset` on, decompressed. A chunk is valid until the next one is requested. */
  chunks(offset: number): AsyncGenerator<Buffer>
  /** Set when the bytes turn out to be damaged Zstandard, or need too much memory. */
  damaged(): ZstdFailure | undefined
  close(): void
}

export const isCompressed = (path: string): boolean => path.endsWith('.zst')

/**
 * Throws system errors. Reads are blocking: 256 KB take less time than a thread pool's answer. Larger chunks make
 * batches that outlive the garbage collector's young generation.
 */
export function openFile(path: string): OpenFile {
  const fd = openRegularFile(path)
  const { size, mtimeMs, ino } = fstatSync(fd)
  let damaged: ZstdFailure | undefined
  const chunks = (offset: number): AsyncGenerator<Buffer> => {
    if (!isCompressed(path)) return readChunks(fd, offset)
    const decompressed = unzstd(readChunks(fd, 0), (reason) => {
      damaged = reason
    })
    return skipBytes(decompressed, offset)
  }
  return {
    size,
    modifiedMs: Math.trunc(mtimeMs),
    inode: ino,
    head: (length) => (isCompressed(path) ? readFirst(chunks(0), length) : Promise.resolve(readRange(fd, 0, length))),
    chunks,
    damaged: () => damaged,
    close: () => closeSync(fd),
  }
}

/** Whether the path now names another file, or the file shrank. */
export function wasReplaced(path: string, { inode, size }: OpenFile): boolean {
  const now = statSync(path, { throwIfNoEntry: false })
  return !now || now.ino !== inode || now.size < size
}

/** Whether the bytes, decompressed, contain the ASCII text. Throws system errors. */
export async function fileContains(path: string, text: string): Promise<boolean> {
  const needle = Buffer.from(text, 'latin1')
  const file = openFile(path)
  try {
    let end = Buffer.alloc(0)
    for await (const chunk of file.chunks(0)) {
      if (chunk.includes(needle) || Buffer.concat([end, chunk.subarray(0, needle.length)]).includes(needle)) return true
      // The text may cross the border of two chunks, or of several small ones.
      end = Buffer.concat([end, chunk.subarray(-needle.length)]).subarray(-needle.length)
    }
    return false
  } finally {
    file.close()
  }
}

/** A range of a file, decompressed; shorter at the end of the file. */
export async function readFileRange(path: string, offset: number, length: number): Promise<Buffer> {
  if (isCompressed(path)) return readDecompressedRange(path, offset, length)
  const fd = openRegularFile(path)
  try {
    return readRange(fd, offset, length)
  } finally {
    closeSync(fd)
  }
}

/** The same inside of `keepFilesOpen`; there the bytes may be those of a file that was replaced a moment ago. */
export async function readKeptRange(path: string, offset: number, length: number): Promise<Buffer> {
  if (batches === 0 || isCompressed(path)) return readFileRange(path, offset, length)
  return readRange(keptDescriptor(path), offset, length)
}

interface KeptFile {
  readonly fd: number
  readonly until: number
}

const MAX_KEPT_FILES = 32
/** Milliseconds. A file may be replaced while batches overlap without end. */
const MAX_KEPT_TIME = 500
const keptFiles = new Map<string, KeptFile>()
let batches = 0

/** Files that `work` reads with `readKeptRange` stay open until it ends: opening takes longer than reading a line. */
export async function keepFilesOpen<T>(work: () => Promise<T>): Promise<T> {
  batches++
  try {
    return await work()
  } finally {
    batches--
    if (batches === 0) for (const path of [...keptFiles.keys()]) closeKept(path)
  }
}

function keptDescriptor(path: string): number {
  const known = keptFiles.get(path)
  if (known && known.until > performance.now()) return known.fd
  closeKept(path)
  for (const oldest of keptFiles.keys()) {
    if (keptFiles.size < MAX_KEPT_FILES) break
    closeKept(oldest)
  }
  const fd = openRegularFile(path)
  keptFiles.set(path, { fd, until: performance.now() + MAX_KEPT_TIME })
  return fd
}

function closeKept(path: string): void {
  const kept = keptFiles.get(path)
  if (!kept) return
  keptFiles.delete(path)
  closeSync(kept.fd)
}

/** The last small file: its readers usually request several ranges. */
let lastDecompressed: { readonly path: string; readonly stamp: string; readonly bytes: Buffer } | undefined
const MAX_CACHED_BYTES = 16 << 20

async function readDecompressedRange(path: string, offset: number, length: number): Promise<Buffer> {
  const file = openFile(path)
  try {
    const stamp = `${file.size} ${file.modifiedMs} ${file.inode}`
    if (lastDecompressed?.path !== path || lastDecompressed.stamp !== stamp) {
      const bytes = await readFirst(file.chunks(0), MAX_CACHED_BYTES)
      if (bytes.length >= MAX_CACHED_BYTES) return await readFirst(file.chunks(offset), length)
      lastDecompressed = { path, stamp, bytes }
    }
    return lastDecompressed.bytes.subarray(offset, offset + length)
  } finally {
    file.close()
  }
}

/** A range of an open file, as it is; shorter at the end of the file. */
export function readRange(fd: number, offset: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const read = readSync(fd, bytes, filled, length - filled, offset + filled)
    if (read === 0) break
    filled += read
  }
  return bytes.subarray(0, filled)
}

async function readFirst(chunks: AsyncIterable<Buffer>, length: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let remaining = length
  for await (const chunk of chunks) {
    pieces.push(Buffer.from(chunk.subarray(0, remaining)))
    remaining -= chunk.length
    if (remaining <= 0) break
  }
  return Buffer.concat(pieces)
}

/** Reused: new buffers for each file cost garbage collections. */
const freeBuffers: Buffer[] = []
const MAX_FREE_BUFFERS = 4

async function* readChunks(fd: number, from: number): AsyncGenerator<Buffer> {
  const buffer = freeBuffers.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES)
  try {
    for (let at = from; ; ) {
      const read = readSync(fd, buffer, 0, CHUNK_BYTES, at)
      if (read === 0) return
      yield buffer.subarray(0, read)
      at += read
    }
  } finally {
    if (freeBuffers.length < MAX_FREE_BUFFERS) freeBuffers.push(buffer)
  }
}

async function* skipBytes(chunks: AsyncIterable<Buffer>, count: number): AsyncGenerator<Buffer> {
  let remaining = count
  for await (const chunk of chunks) {
    if (remaining < chunk.length) yield chunk.subarray(remaining)
    remaining = Math.max(0, remaining - chunk.length)
  }
}
