/** Looks through a source's raw bytes for what a query needs. */
import { closeSync, readSync } from 'node:fs'
import type { Source } from '../../agents/agent.ts'
import { isCompressed, openFile } from '../../lib/bytes.ts'
import { openRegular } from '../../lib/files/regular-file.ts'
import { OVERLAP, type RawTest } from './raw-needle.ts'

const PIECE = 1 << 20
/** The same memory for one piece after another; nobody waits between filling it and looking at it. */
const buffer = Buffer.allocUnsafeSlow(OVERLAP + PIECE)

/** False: it is not there, for sure. */
export async function mayHold(source: Source, test: RawTest, signal?: AbortSignal): Promise<boolean> {
  if (source.bytes) return test.piece(Buffer.from(source.bytes)) || test.mayHold()
  if (source.key !== undefined) return true
  try {
    return isCompressed(source.path)
      ? await inCompressed(source.path, test, signal)
      : inPlain(source.path, test, signal)
  } catch {
    // Who reads it is told what is wrong with it.
    return true
  }
}

function inPlain(path: string, test: RawTest, signal: AbortSignal | undefined): boolean {
  const fd = openRegular(path)
  try {
    let kept = 0
    for (let at = 0; !signal?.aborted; ) {
      const read = readSync(fd, buffer, kept, PIECE, at)
      if (read === 0) break
      if (test.piece(buffer.subarray(0, kept + read))) return true
      at += read
      const end = kept + read
      kept = Math.min(OVERLAP, end)
      buffer.copyWithin(0, end - kept, end)
    }
    return test.mayHold()
  } finally {
    closeSync(fd)
  }
}

async function inCompressed(path: string, test: RawTest, signal: AbortSignal | undefined): Promise<boolean> {
  const file = openFile(path)
  try {
    let rest: Buffer = Buffer.alloc(0)
    for await (const chunk of file.chunks(0)) {
      if (signal?.aborted) break
      const piece = Buffer.concat([rest, chunk])
      if (test.piece(piece)) return true
      rest = piece.subarray(-OVERLAP)
    }
    return test.mayHold()
  } finally {
    file.close()
  }
}
