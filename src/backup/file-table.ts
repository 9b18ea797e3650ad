/** The files in the backup, each a list of pieces. */
import type { Db } from '../lib/sqlite/own-database.ts'
import { getRow, getRows, getValues, insertRow, runStatement } from '../lib/sqlite/statements.ts'
import type { AgentId, Instant } from '../model/ids.ts'
import type { PieceTable } from './piece-table.ts'

export interface BackedUpFile {
  readonly id: number
  readonly agent: AgentId
  readonly path: string
  readonly root?: string
  readonly inode: number
  readonly size: number
  /** Milliseconds. */
  readonly modified: number
  readonly probe: string
  /** Absent for files that version 0.1.0 backed up. */
  readonly first_seen?: Instant
  /** The file that this side file belongs to. */
  readonly side_of?: number
  /** The other machine that it came from; its path begins with the machine's name. Absent: this one. */
  readonly machine?: string
}

export interface FilePiece {
  readonly start: number
  readonly length: number
  readonly piece: number
  /** Hex. */
  readonly hash: string
}

/** How far a file is backed up, and what state it had then. */
export type FileState = Pick<BackedUpFile, 'size' | 'modified' | 'probe'>

const SELECT_FILE = 'SELECT id, agent, path, root, inode, size, modified, probe, first_seen, side_of, machine FROM file'
const SELECT_PIECE = `SELECT start, length, piece_id AS piece, lower(hex(hash)) AS hash
  FROM file_piece JOIN piece ON piece.id = piece_id WHERE file_id = ?`

export class FileTable {
  readonly #db: Db
  readonly #pieces: PieceTable

  constructor(db: Db, pieces: PieceTable) {
    this.#db = db
    this.#pieces = pieces
  }

  list(): readonly BackedUpFile[] {
    return getRows<FileRow>(this.#db, `${SELECT_FILE} ORDER BY id`).map(toBackedUpFile)
  }

  get(id: number): BackedUpFile | undefined {
    return toBackedUpFileOrUndefined(getRow(this.#db, `${SELECT_FILE} WHERE id = ?`, id))
  }

  latest(agent: AgentId, path: string): BackedUpFile | undefined {
    const sql = `${SELECT_FILE} WHERE path = ? AND agent = ? ORDER BY id DESC LIMIT 1`
    return toBackedUpFileOrUndefined(getRow(this.#db, sql, path, agent))
  }

  /** Latest first. */
  ofInode(agent: AgentId, inode: number): readonly BackedUpFile[] {
    const sql = `${SELECT_FILE} WHERE inode = ? AND agent = ? ORDER BY id DESC`
    return getRows<FileRow>(this.#db, sql, inode, agent).map(toBackedUpFile)
  }

  /** @param wanted an unused number for the file */
  add(file: Omit<BackedUpFile, 'id'>, wanted?: number): BackedUpFile {
    const sql = `INSERT INTO file (id, agent, path, root, inode, size, modified, probe, first_seen, side_of, machine)
      VALUES (:id, :agent, :path, :root, :inode, :size, :modified, :probe, :first_seen, :side_of, :machine)`
    const id = insertRow(this.#db, sql, {
      id: wanted ?? null,
      root: null,
      first_seen: null,
      side_of: null,
      machine: null,
      ...file,
    })
    return { id, ...file }
  }

  move(id: number, path: string): void {
    runStatement(this.#db, 'UPDATE file SET path = ? WHERE id = ?', path, id)
  }

  setState(id: number, { size, modified, probe }: FileState): void {
    const sql = 'UPDATE file SET size = ?, modified = ?, probe = ? WHERE id = ?'
    runStatement(this.#db, sql, size, modified, probe, id)
  }

  pieces(file: number): readonly FilePiece[] {
    return getRows(this.#db, `${SELECT_PIECE} ORDER BY start`, file)
  }

  firstPiece(file: number): FilePiece | undefined {
    return getRow(this.#db, `${SELECT_PIECE} ORDER BY start LIMIT 1`, file)
  }

  lastPiece(file: number): FilePiece | undefined {
    return getRow(this.#db, `${SELECT_PIECE} ORDER BY start DESC LIMIT 1`, file)
  }

  /** Adds a piece, or replaces the one that begins there. */
  setPiece(file: number, start: number, length: number, piece: number): void {
    const sql = 'SELECT piece_id FROM file_piece WHERE file_id = ? AND start = ?'
    const before = getValues<number>(this.#db, sql, file, start)
    const write = 'INSERT OR REPLACE INTO file_piece (file_id, start, length, piece_id) VALUES (?, ?, ?, ?)'
    runStatement(this.#db, write, file, start, length, piece)
    for (const id of before) if (id !== piece) this.#pieces.drop(id)
  }

  /** Compressed bytes by file. */
  storedBytes(): ReadonlyMap<number, number> {
    const sql =
      'SELECT file_id AS id, sum(length(body)) AS bytes FROM file_piece JOIN piece ON piece.id = piece_id GROUP BY 1'
    return new Map(getRows<{ id: number; bytes: number }>(this.#db, sql).map(({ id, bytes }) => [id, bytes]))
  }

  /** Deletes the file with its side files, and the pieces that nothing else needs. */
  drop(file: number): void {
    const pieces = getValues<number>(
      this.#db,
      `SELECT DISTINCT piece_id FROM file_piece
       WHERE file_id = :file OR file_id IN (SELECT id FROM file WHERE side_of = :file)`,
      { file },
    )
    runStatement(this.#db, 'DELETE FROM file WHERE id = ?', file)
    for (const piece of pieces) this.#pieces.drop(piece)
  }
}

interface FileRow extends Omit<BackedUpFile, 'root' | 'first_seen' | 'side_of' | 'machine'> {
  readonly root: string | null
  readonly first_seen: Instant | null
  readonly side_of: number | null
  readonly machine: string | null
}

const toBackedUpFile = ({ root, first_seen, side_of, machine, ...rest }: FileRow): BackedUpFile => ({
  ...rest,
  ...(root !== null && { root }),
  ...(first_seen !== null && { first_seen }),
  ...(side_of !== null && { side_of }),
  ...(machine !== null && { machine }),
})

const toBackedUpFileOrUndefined = (row: FileRow | undefined): BackedUpFile | undefined => row && toBackedUpFile(row)
