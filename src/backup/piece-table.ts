/** Pieces of bytes, each stored once and compressed if that saves space. */
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import { sha256 } from '../lib/hash.ts'
import type { Db } from '../lib/sqlite/own-database.ts'
import { getRow, getValue, insertRow, runStatement } from '../lib/sqlite/statements.ts'
import { AppError } from '../model/error.ts'

const METHOD_PLAIN = 0
const METHOD_BROTLI = 1

/** Smaller pieces do not become smaller. */
const MIN_BYTES_TO_COMPRESS = 48
/** Higher qualities take ten times as long and save three percent. */
const BROTLI_QUALITY = 5

export function packPiece(bytes: Uint8Array): Buffer {
  const packed = bytes.length < MIN_BYTES_TO_COMPRESS ? undefined : brotliCompress(bytes)
  return packed !== undefined && packed.length < bytes.length
    ? prependMethod(METHOD_BROTLI, packed)
    : prependMethod(METHOD_PLAIN, bytes)
}

export function unpackPiece(stored: Uint8Array): Buffer {
  const body = Buffer.from(stored.buffer, stored.byteOffset + 1, stored.length - 1)
  switch (stored[0]) {
    case METHOD_PLAIN:
      return body
    case METHOD_BROTLI:
      return brotliDecompress(body)
    default:
      throw new AppError(
        'unusable_data',
        'Part of the backup has an unknown encoding: the file is damaged.',
        '控えの一部が知らない方式で保存されています。控えのファイルが壊れています。',
      )
  }
}

/** Uses a window no larger than the piece: setting up a larger one takes longer than compressing. */
function brotliCompress(bytes: Uint8Array): Buffer {
  const window = Math.min(22, Math.max(constants.BROTLI_MIN_WINDOW_BITS, Math.ceil(Math.log2(bytes.length + 16))))
  return brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: window,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  })
}

function brotliDecompress(body: Buffer): Buffer {
  try {
    return brotliDecompressSync(body)
  } catch {
    throw new AppError(
      'unusable_data',
      'Part of the backup cannot be decompressed: the file is damaged.',
      '控えの一部を展開できません。控えのファイルが壊れています。',
    )
  }
}

function prependMethod(method: number, body: Uint8Array): Buffer {
  const stored = Buffer.allocUnsafe(body.length + 1)
  stored[0] = method
  stored.set(body, 1)
  return stored
}

export interface StoredPiece {
  readonly id: number
  /** Bytes added to the file; 0 if the piece was already stored. */
  readonly stored: number
}

export class PieceTable {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  /** @param hash SHA-256 of the bytes, hex */
  put(hash: string, bytes: Uint8Array): StoredPiece {
    const key = Buffer.from(hash, 'hex')
    const id = getValue<number>(this.#db, 'SELECT id FROM piece WHERE hash = ?', key)
    if (id !== undefined) return { id, stored: 0 }
    const body = packPiece(bytes)
    const sql = 'INSERT INTO piece (id, hash, body) VALUES ((SELECT min(id) FROM hole), ?, ?)'
    return { id: insertRow(this.#db, sql, key, body), stored: body.length }
  }

  get(id: number): Buffer {
    const found = getRow<{ hash: Buffer; body: Buffer }>(this.#db, 'SELECT hash, body FROM piece WHERE id = ?', id)
    const bytes = found && unpackPiece(found.body)
    if (!found || !bytes || sha256(bytes) !== found.hash.toString('hex'))
      throw new AppError(
        'unusable_data',
        'Part of the backup is missing or does not match its checksum: the file is damaged.',
        '控えの一部が見つからないか、元の内容と一致しません。控えのファイルが壊れています。',
      )
    return bytes
  }

  /** Deletes the piece unless something still refers to it. */
  drop(id: number): void {
    const users = ['part', 'entry', 'spelling'].map(
      (table) => `AND NOT EXISTS (SELECT 1 FROM ${table} WHERE piece_id = :id)`,
    )
    runStatement(this.#db, `DELETE FROM piece WHERE id = :id ${users.join(' ')}`, { id })
  }
}
