/** Compresses a piece if that saves space. The first byte says how. */
import * as zlib from 'node:zlib'
import { decompress as decompressPortable } from 'fzstd'
import { AppError } from '../model/error.ts'
import { phrase } from '../model/phrase.ts'

const METHOD_PLAIN = 0
const METHOD_BROTLI = 1
const METHOD_ZSTD = 2

/** Smaller pieces do not become smaller. */
const MIN_BYTES_TO_COMPRESS = 48
/** From here on speed counts more than the last tenth of the size. */
const LARGE_PIECE_BYTES = 1 << 15
/** For small pieces; higher qualities take ten times as long and save three percent. */
const BROTLI_QUALITY = 5
/** 2 takes two thirds longer and saves seven percent of the size. */
const BROTLI_QUALITY_LARGE = 1
const ZSTD_LEVEL = 1

/** The longest text that Node.js can hold. A piece from an exchange folder that claims more is no piece of ours. */
export const UNPACK_LIMIT = { maxOutputLength: 1 << 29 } as const

type Zstd = (bytes: Uint8Array, options?: ZstdOptions) => Buffer

interface ZstdOptions {
  readonly maxOutputLength?: number
  readonly params?: { readonly [parameter: number]: number } | undefined
  /** Without it, tables for any size are prepared. */
  readonly pledgedSrcSize?: number
}

// Available in Node.js from 22.15 and 23.8.
const { zstdCompressSync, zstdDecompressSync } = zlib as { zstdCompressSync?: Zstd; zstdDecompressSync?: Zstd }
const ZSTD_COMPRESSION_LEVEL = (zlib.constants as { readonly ZSTD_c_compressionLevel?: number }).ZSTD_c_compressionLevel

export function packPiece(bytes: Uint8Array): Buffer {
  if (bytes.length < MIN_BYTES_TO_COMPRESS) return prependMethod(METHOD_PLAIN, bytes)
  const isZstd = bytes.length >= LARGE_PIECE_BYTES && zstdCompressSync !== undefined
  const packed = isZstd ? zstdCompress(bytes, zstdCompressSync) : brotliCompress(bytes)
  if (packed.length >= bytes.length) return prependMethod(METHOD_PLAIN, bytes)
  return prependMethod(isZstd ? METHOD_ZSTD : METHOD_BROTLI, packed)
}

/** Throws AppError if the bytes are damaged. The caller checks the hash of the result. */
export function unpackPiece(stored: Uint8Array): Buffer {
  const body = Buffer.from(stored.buffer, stored.byteOffset + 1, Math.max(0, stored.length - 1))
  switch (stored[0]) {
    case METHOD_PLAIN:
      return body
    case METHOD_BROTLI:
      return decompress(() => zlib.brotliDecompressSync(body, UNPACK_LIMIT))
    case METHOD_ZSTD:
      return decompress(() =>
        zstdDecompressSync ? zstdDecompressSync(body, UNPACK_LIMIT) : Buffer.from(decompressPortable(body)),
      )
    default:
      throw new AppError(
        'unusable_data',
        phrase(
          'Part of the backup has an unknown encoding: the file is damaged.',
          'バックアップの一部が知らない方式で保存されています。バックアップのファイルが壊れています。',
        ),
      )
  }
}

/** Uses a window no larger than the piece: setting up a larger one takes longer than compressing. */
function brotliCompress(bytes: Uint8Array): Buffer {
  const { constants } = zlib
  const window = Math.min(22, Math.max(constants.BROTLI_MIN_WINDOW_BITS, Math.ceil(Math.log2(bytes.length + 16))))
  return zlib.brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: bytes.length < LARGE_PIECE_BYTES ? BROTLI_QUALITY : BROTLI_QUALITY_LARGE,
      [constants.BROTLI_PARAM_LGWIN]: window,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  })
}

const zstdCompress = (bytes: Uint8Array, compress: Zstd): Buffer =>
  compress(bytes, {
    pledgedSrcSize: bytes.length,
    ...(ZSTD_COMPRESSION_LEVEL !== undefined && { params: { [ZSTD_COMPRESSION_LEVEL]: ZSTD_LEVEL } }),
  })

function decompress(work: () => Buffer): Buffer {
  try {
    return work()
  } catch {
    throw new AppError(
      'unusable_data',
      phrase(
        'Part of the backup cannot be decompressed: the file is damaged.',
        'バックアップの一部を展開できません。バックアップのファイルが壊れています。',
      ),
    )
  }
}

function prependMethod(method: number, body: Uint8Array): Buffer {
  const stored = Buffer.allocUnsafe(body.length + 1)
  stored[0] = method
  stored.set(body, 1)
  return stored
}
