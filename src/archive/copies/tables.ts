/** The tables of the copies. */
import { sha256 } from '../../lib/hash.ts'
import type { AgentId } from '../../model/ids.ts'
import { pack, unpack } from '../keep/pack.ts'
import type { Db, Kind } from '../open.ts'

/**
 * `size` is what is copied of a file so far, and `probe` tells the file when it was copied to its end. A path has several copies when
 * another file took its place: only the latest one is added to.
 */
const FIRST = `
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
const BY_INODE = 'CREATE INDEX copy_inode ON copy (inode)'

/** The application id is `fumc` in ASCII: copies of fumibako. */
export const COPIES: Kind = { application: 0x66756d63, migrations: [FIRST, BY_INODE], shrinks: true }

export interface Copied {
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

export interface Piece {
  readonly start: number
  readonly length: number
  /** Hex. */
  readonly hash: string
}

const COPY = 'SELECT id, agent, path, root, inode, size, modified, probe FROM copy'
const PIECE = 'SELECT start, length, lower(hex(hash)) AS hash FROM piece WHERE copy_id = ?'

export class CopyTables {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  list(): readonly Copied[] {
    return (this.#db.prepare(`${COPY} ORDER BY id`).all() as RawCopied[]).map(copiedOf)
  }

  get(id: number): Copied | undefined {
    return maybe(this.#db.prepare(`${COPY} WHERE id = ?`).get(id))
  }

  latest(agent: AgentId, path: string): Copied | undefined {
    return maybe(this.#db.prepare(`${COPY} WHERE path = ? AND agent = ? ORDER BY id DESC LIMIT 1`).get(path, agent))
  }

  /** The latest first. */
  ofInode(agent: AgentId, inode: number): readonly Copied[] {
    const sql = `${COPY} WHERE inode = ? AND agent = ? ORDER BY id DESC`
    return (this.#db.prepare(sql).all(inode, agent) as RawCopied[]).map(copiedOf)
  }

  add({ agent, path, root }: Pick<Copied, 'agent' | 'path' | 'root'>, inode: number): Copied {
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

  firstPiece(copy: number): Piece | undefined {
    return this.#db.prepare(`${PIECE} ORDER BY start LIMIT 1`).get(copy) as Piece | undefined
  }

  lastPiece(copy: number): Piece | undefined {
    return this.#db.prepare(`${PIECE} ORDER BY start DESC LIMIT 1`).get(copy) as Piece | undefined
  }

  body(copy: number, start: number): Buffer {
    const sql = 'SELECT body FROM piece WHERE copy_id = ? AND start = ?'
    return unpack(this.#db.prepare(sql).pluck().get(copy, start) as Buffer)
  }

  *pieces(copy: number): Generator<Piece & { readonly body: Buffer }> {
    const sql = 'SELECT start, length, lower(hex(hash)) AS hash, body FROM piece WHERE copy_id = ? ORDER BY start'
    yield* this.#db.prepare(sql).iterate(copy) as Iterable<Piece & { readonly body: Buffer }>
  }

  /** All at once or nothing. The first piece may take the place of one that was there. */
  append(
    copy: number,
    pieces: readonly { readonly start: number; readonly bytes: Buffer }[],
    { size, modified, probe }: Pick<Copied, 'size' | 'modified' | 'probe'>,
  ): void {
    const put = this.#db.prepare(
      'INSERT OR REPLACE INTO piece (copy_id, start, length, hash, body) VALUES (?, ?, ?, ?, ?)',
    )
    const write = this.#db.transaction(() => {
      for (const { start, bytes } of pieces)
        put.run(copy, start, bytes.length, Buffer.from(sha256(bytes), 'hex'), pack(bytes))
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

type RawCopied = Omit<Copied, 'root'> & { readonly root: string | null }

const copiedOf = ({ root, ...rest }: RawCopied): Copied => ({ ...rest, ...(root !== null && { root }) })

const maybe = (row: unknown): Copied | undefined => (row === undefined ? undefined : copiedOf(row as RawCopied))
