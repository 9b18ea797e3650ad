/** Looks through a source's raw bytes for what a query needs. */
import { closeSync, readSync } from 'node:fs'
import type { Source } from '../../agents/agent.ts'
import { isCompressed, openFile } from '../../lib/bytes.ts'
import { openRegularFile } from '../../lib/files/regular-file.ts'
import { PIECE_OVERLAP_BYTES, type RawByteTest } from './raw-needle.ts'

const PIECE_BYTES = 1 << 20
/** The same memory for one piece after another; nobody waits between filling it and looking at it. */
const scanBuffer = Buffer.allocUnsafeSlow(PIECE_OVERLAP_BYTES + PIECE_BYTES)

/** False: it is not there, for sure. */
export async function mayContainQuery(source: Source, test: RawByteTest, signal?: AbortSignal): Promise<boolean> {
  if (source.bytes) return test.piece(Buffer.from(source.bytes)) || test.mayContain()
  if (source.key !== undefined) return true
  try {
    return isCompressed(source.path)
      ? await scanCompressedFile(source.path, test, signal)
      : scanPlainFile(source.path, test, signal)
  } catch {
    // Who reads it is told what is wrong with it.
    return true
  }
}

function scanPlainFile(path: string, test: RawByteTest, signal: AbortSignal | undefined): boolean {
  const fd = openRegularFile(path)
  try {
    let overlap = 0
    for (let at = 0; !signal?.aborted; ) {
      const read = readSync(fd, scanBuffer, overlap, PIECE_BYTES, at)
      if (read === 0) break
      if (test.piece(scanBuffer.subarray(0, overlap + read))) return true
      at += read
      const end = overlap + read
      overlap = Math.min(PIECE_OVERLAP_BYTES, end)
      scanBuffer.copyWithin(0, end - overlap, end)
    }
    return test.mayContain()
  } finally {
    closeSync(fd)
  }
}

async function scanCompressedFile(path: string, test: RawByteTest, signal: AbortSignal | undefined): Promise<boolean> {
  const file = openFile(path)
  try {
    let rest: Buffer = Buffer.alloc(0)
    for await (const chunk of file.chunks(0)) {
      if (signal?.aborted) break
      const piece = Buffer.concat([rest, chunk])
      if (test.piece(piece)) return true
      rest = piece.subarray(-PIECE_OVERLAP_BYTES)
    }
    return test.mayContain()
  } finally {
    file.close()
  }
}
