/** Pieces of bytes, each stored once, whatever they are part of. */
import { sha256 } from '../lib/hash.ts'
import type { Db } from '../lib/sqlite/own-database.ts'
import { getRow, getValue, insertRow, runStatement } from '../lib/sqlite/statements.ts'
import { AppError } from '../model/error.ts'
import { packPiece, unpackPiece } from './pack-piece.ts'

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

  /**
   * Adds a piece that is compressed already.
   * @param hash SHA-256 of the bytes
   */
  putPacked(hash: Buffer, body: Uint8Array): number {
    const sql = 'INSERT INTO piece (id, hash, body) VALUES ((SELECT min(id) FROM hole), ?, ?)'
    return (
      getValue<number>(this.#db, 'SELECT id FROM piece WHERE hash = ?', hash) ?? insertRow(this.#db, sql, hash, body)
    )
  }

  /** The compressed bytes, as `putPacked` takes them. Throws `unusable_data` if they are damaged. */
  packed(id: number): Buffer {
    this.get(id)
    return getValue<Buffer>(this.#db, 'SELECT body FROM piece WHERE id = ?', id) ?? Buffer.alloc(0)
  }

  get(id: number): Buffer {
    const found = getRow<{ hash: Buffer; body: Buffer }>(this.#db, 'SELECT hash, body FROM piece WHERE id = ?', id)
    const bytes = found && unpackPiece(found.body)
    if (!found || !bytes || sha256(bytes) !== found.hash.toString('hex'))
      throw new AppError(
        'unusable_data',
        'Part of the backup is missing or does not match its checksum: the file is damaged.',
        'バックアップの一部が見つからないか、元の内容と一致しません。バックアップのファイルが壊れています。',
      )
    return bytes
  }

  /** Deletes the piece unless something still refers to it. */
  drop(id: number): void {
    const users = ['part', 'entry', 'spelling', 'file_piece'].map(
      (table) => `AND NOT EXISTS (SELECT 1 FROM ${table} WHERE piece_id = :id)`,
    )
    runStatement(this.#db, `DELETE FROM piece WHERE id = :id ${users.join(' ')}`, { id })
  }
}
