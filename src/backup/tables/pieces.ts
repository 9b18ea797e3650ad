/** Stretches of bytes, each stored once however often it is met. */
import type { Statement } from 'better-sqlite3'
import { sha256 } from '../../lib/hash.ts'
import type { Db } from '../../lib/sqlite/own-database.ts'
import { AppError } from '../../model/error.ts'
import { packPiece, unpackPiece } from '../compress-piece.ts'

export interface StoredPiece {
  readonly id: number
  /** What it added to the file; 0 when it was there. */
  readonly stored: number
}

export class PieceTable {
  readonly #find: Statement<[Buffer], { id: number }>
  readonly #insert: Statement<[Buffer, Buffer]>
  readonly #body: Statement<[number], { hash: Buffer; body: Buffer }>
  readonly #drop: Statement<{ id: number }>

  constructor(db: Db) {
    this.#find = db.prepare('SELECT id FROM piece WHERE hash = ?')
    this.#insert = db.prepare('INSERT INTO piece (id, hash, body) VALUES ((SELECT min(id) FROM hole), ?, ?)')
    this.#body = db.prepare('SELECT hash, body FROM piece WHERE id = ?')
    this.#drop = db.prepare(
      `DELETE FROM piece WHERE id = :id
       AND NOT EXISTS (SELECT 1 FROM part WHERE piece_id = :id)
       AND NOT EXISTS (SELECT 1 FROM entry WHERE piece_id = :id)
       AND NOT EXISTS (SELECT 1 FROM spelling WHERE piece_id = :id)`,
    )
  }

  /** @param hash SHA-256 of the bytes, hex */
  put(hash: string, bytes: Uint8Array): StoredPiece {
    const key = Buffer.from(hash, 'hex')
    const found = this.#find.get(key)
    if (found) return { id: found.id, stored: 0 }
    const body = packPiece(bytes)
    return { id: Number(this.#insert.run(key, body).lastInsertRowid), stored: body.length }
  }

  get(id: number): Buffer {
    const found = this.#body.get(id)
    const bytes = found && unpackPiece(found.body)
    if (!found || !bytes || sha256(bytes) !== found.hash.toString('hex'))
      throw new AppError(
        'unusable_data',
        'A piece of the keep is missing or not what it was: the file is damaged.',
        '控えの一部が見つからないか、元の内容と一致しません。控えのファイルが壊れています。',
      )
    return bytes
  }

  /** Unless something still needs it. */
  drop(id: number): void {
    this.#drop.run({ id })
  }
}
