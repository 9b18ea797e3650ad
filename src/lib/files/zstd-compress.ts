/** Compresses to one Zstandard frame with node:zlib if available, otherwise into a frame whose blocks are stored as they are. */
import * as zlib from 'node:zlib'

/** Available in Node.js from 22.15 and 23.8. */
const compressNatively = (zlib as { zstdCompressSync?: (bytes: Uint8Array) => Buffer }).zstdCompressSync

const MAGIC = 0xfd2fb528
/** The size of the content in eight bytes, and a window. */
const DESCRIPTOR = 0b1100_0000
/** The largest block, and a window as large as one: 2 ** 17. */
const BLOCK_BYTES = 1 << 17
const WINDOW = (17 - 10) << 3

/** @param isNative whether to use node:zlib; default: if it can */
export function zstdFrame(bytes: Uint8Array, isNative = compressNatively !== undefined): Buffer {
  if (isNative && compressNatively) return compressNatively(bytes)
  const head = Buffer.alloc(14)
  head.writeUInt32LE(MAGIC, 0)
  head[4] = DESCRIPTOR
  head[5] = WINDOW
  head.writeBigUInt64LE(BigInt(bytes.length), 6)
  const parts: Uint8Array[] = [head]
  for (let at = 0; at === 0 || at < bytes.length; at += BLOCK_BYTES) {
    const block = bytes.subarray(at, at + BLOCK_BYTES)
    const isLast = at + BLOCK_BYTES >= bytes.length ? 1 : 0
    const header = Buffer.alloc(3)
    header.writeUIntLE(isLast | (block.length << 3), 0, 3)
    parts.push(header, block)
  }
  return Buffer.concat(parts)
}
