/** The tables of the copies. */
import { sha256 } from '../../lib/hash.ts'
import type { DatabaseFormat, Db } from '../../lib/sqlite/own-database.ts'
import type { AgentId } from '../../model/ids.ts'
import { packPiece, unpackPiece } from '../compress-piece.ts'

/**
 * `size` is what is copied of a file so far, and `probe` tells the file when it was copied to its end. A path has several copies when
 * another file took its place: only the latest one is added to.
 */
const FIRST_VERSION = `
CREATE TABLE copy (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  agent TEXT NOT NULL,
  path TEXT NOT NULL,
  root TEXT,
  inode INTEGER NOT NULL,
  size INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  probe TEXT NOT NULL
) STRICT;
CREATE INDEX copy_path ON copy (path);

CREATE TABLE piece (
  copy_id INTEGER NOT NULL REFERENCES copy ON DELETE CASCADE,
  start INTEGER NOT NULL,
  length INTEGER NOT NULL,
  hash BLOB NOT NULL,
  body BLOB NOT NULL,
  UNIQUE (copy_id, start)
) STRICT;
`

/** Files that were renamed are found by it. */
const INODE_INDEX_VERSION = 'CREATE INDEX copy_inode ON copy (inode)'

/** The application id is `fumc` in ASCII: copies of fumibako. */
export const COPIES_FORMAT: DatabaseFormat = {
  application: 0x66756d63,
  migrations: [FIRST_VERSION, INODE_INDEX_VERSION],
  canShrink: true,
}

export interface FileCopy {
  readonly id: number
  readonly agent: AgentId
  readonly path: string
  readonly root?: string
  readonly inode: number
  readonly size: number
  /** Milliseconds. */
  readonly modified: number
  readonly probe: string
}

export interface CopyPiece {
  readonly start: number
  readonly length: number
  /** Hex. */
  readonly hash: string
}

const SELECT_COPY = 'SELECT id, agent, path, root, inode, size, modified, probe FROM copy'
const SELECT_PIECE = 'SELECT start, length, lower(hex(hash)) AS hash FROM piece WHERE copy_id = ?'

export class CopyTables {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  list(): readonly FileCopy[] {
    return (this.#db.prepare(`${SELECT_COPY} ORDER BY id`).all() as CopyRow[]).map(toFileCopy)
  }

  get(id: number): FileCopy | undefined {
    return toFileCopyOrUndefined(this.#db.prepare(`${SELECT_COPY} WHERE id = ?`).get(id))
  }

  latest(agent: AgentId, path: string): FileCopy | undefined {
    return toFileCopyOrUndefined(
      this.#db.prepare(`${SELECT_COPY} WHERE path = ? AND agent = ? ORDER BY id DESC LIMIT 1`).get(path, agent),
    )
  }

  /** The latest first. */
  ofInode(agent: AgentId, inode: number): readonly FileCopy[] {
    const sql = `${SELECT_COPY} WHERE inode = ? AND agent = ? ORDER BY id DESC`
    return (this.#db.prepare(sql).all(inode, agent) as CopyRow[]).map(toFileCopy)
  }

  add({ agent, path, root }: Pick<FileCopy, 'agent' | 'path' | 'root'>, inode: number): FileCopy {
    const sql = `INSERT INTO copy (agent, path, root, inode, size, modified, probe) VALUES (?, ?, ?, ?, 0, 0, '')`
    const { lastInsertRowid } = this.#db.prepare(sql).run(agent, path, root ?? null, inode)
    return {
      id: Number(lastInsertRowid),
      agent,
      path,
      inode,
      size: 0,
      modified: 0,
      probe: '',
      ...(root !== undefined && { root }),
    }
  }

  move(id: number, path: string): void {
    this.#db.prepare('UPDATE copy SET path = ? WHERE id = ?').run(path, id)
  }

  firstPiece(copy: number): CopyPiece | undefined {
    return this.#db.prepare(`${SELECT_PIECE} ORDER BY start LIMIT 1`).get(copy) as CopyPiece | undefined
  }

  lastPiece(copy: number): CopyPiece | undefined {
    return this.#db.prepare(`${SELECT_PIECE} ORDER BY start DESC LIMIT 1`).get(copy) as CopyPiece | undefined
  }

  body(copy: number, start: number): Buffer {
    const sql = 'SELECT body FROM piece WHERE copy_id = ? AND start = ?'
    return unpackPiece(this.#db.prepare(sql).pluck().get(copy, start) as Buffer)
  }

  *pieces(copy: number): Generator<CopyPiece & { readonly body: Buffer }> {
    const sql = 'SELECT start, length, lower(hex(hash)) AS hash, body FROM piece WHERE copy_id = ? ORDER BY start'
    yield* this.#db.prepare(sql).iterate(copy) as Iterable<CopyPiece & { readonly body: Buffer }>
  }

  /** All at once or nothing. The first piece may take the place of one that was there. */
  append(
    copy: number,
    pieces: readonly { readonly start: number; readonly bytes: Buffer }[],
    { size, modified, probe }: Pick<FileCopy, 'size' | 'modified' | 'probe'>,
  ): void {
    const insertPiece = this.#db.prepare(
      'INSERT OR REPLACE INTO piece (copy_id, start, length, hash, body) VALUES (?, ?, ?, ?, ?)',
    )
    const write = this.#db.transaction(() => {
      for (const { start, bytes } of pieces)
        insertPiece.run(copy, start, bytes.length, Buffer.from(sha256(bytes), 'hex'), packPiece(bytes))
      const sql = 'UPDATE copy SET size = ?, modified = ?, probe = ? WHERE id = ?'
      this.#db.prepare(sql).run(size, modified, probe, copy)
    })
    write.immediate()
  }

  drop(copy: number): void {
    this.#db.prepare('DELETE FROM copy WHERE id = ?').run(copy)
  }

  remove(paths: readonly string[]): void {
    const write = this.#db.transaction(() => {
      for (const path of paths) this.#db.prepare('DELETE FROM copy WHERE path = ?').run(path)
    })
    write.immediate()
    this.#db.pragma('incremental_vacuum')
  }
}

type CopyRow = Omit<FileCopy, 'root'> & { readonly root: string | null }

const toFileCopy = ({ root, ...rest }: CopyRow): FileCopy => ({ ...rest, ...(root !== null && { root }) })

const toFileCopyOrUndefined = (row: unknown): FileCopy | undefined =>
  row === undefined ? undefined : toFileCopy(row as CopyRow)
