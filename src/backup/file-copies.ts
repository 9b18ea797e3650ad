/**
 * Copies of append-only files, kept in case the files disappear. Stored in pieces, so that an append costs only its own
 * size.
 */

import { closeSync, existsSync, fstatSync, openSync, rmSync, type Stats, utimesSync, writeSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readRange } from '../lib/files/file-bytes.ts'
import { openRegularFile } from '../lib/files/regular-file.ts'
import { statOf } from '../lib/files/safe-fs.ts'
import { isSystemError } from '../lib/files/system-error.ts'
import { createTempFolder, type TempFolder } from '../lib/files/temp-files.ts'
import { sha256 } from '../lib/hash.ts'
import { type DatabaseFormat, type Db, openWritableOrCopy, withDatabaseErrors } from '../lib/sqlite/own-database.ts'
import { AppError } from '../model/error.ts'
import type { AgentId } from '../model/ids.ts'
import { packPiece, unpackPiece } from './piece-table.ts'

/**
 * `size` is the number of bytes copied so far. `probe` identifies the file's state when it was completely copied. A
 * path has several copies if the file was replaced; only the latest one grows.
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

/** Finds renamed files. */
const INODE_INDEX_VERSION = 'CREATE INDEX copy_inode ON copy (inode)'

/** The application id is `fumc` in ASCII. */
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

  /** Latest first. */
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

  /** Atomic. The first piece may replace an existing one. */
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

/** Large enough to compress nearly as well as a complete log. */
const PIECE_BYTES = 1 << 18
/** A smaller last piece is rewritten together with the appended bytes. */
const MIN_LAST_PIECE_BYTES = 1 << 16
/** Number of pieces per transaction. */
const PIECES_PER_TRANSACTION = 16
/** Length of the beginning by which files are compared. */
const HEAD_BYTES = 1024
/** Limit for the total size of restored files. */
const MAX_RESTORED_BYTES = 512 << 20

/** @param directory the data directory; it and the file are created with the first copy */
export const openFileCopies = (directory: string): FileCopies => new FileCopies(join(directory, 'copies.sqlite3'))

export class FileCopies {
  readonly path: string
  #open: { readonly tables: CopyTables; close(): void } | undefined
  #restored: TempFolder | undefined
  /** Restored files, least recently used first. */
  readonly #files = new Map<string, { readonly path: string; readonly size: number }>()
  #count = 0
  readonly #maxRestoredBytes: number

  /** @param maxRestoredBytes limit for the total size of restored files */
  constructor(path: string, maxRestoredBytes = MAX_RESTORED_BYTES) {
    this.path = path
    this.#maxRestoredBytes = maxRestoredBytes
  }

  /** Copies of the same path are listed oldest first. */
  list(): readonly FileCopy[] {
    return this.#exists() ? withDatabaseErrors(this.path, () => this.#tables().list()) : []
  }

  /** Copies new bytes of a file. A file that cannot be read is skipped until the next call. */
  copyFile(agent: AgentId, path: string, root: string | undefined): void {
    const stat = statOf(path)
    const known = this.#exists() ? withDatabaseErrors(this.path, () => this.#tables().latest(agent, path)) : undefined
    if (!stat?.isFile() || (known && known.probe === fileProbeOf(stat))) return
    try {
      const file = openRegularFile(path)
      try {
        this.#copyOpenFile(file, { agent, path, ...(root !== undefined && { root }) }, known)
      } finally {
        closeSync(file)
      }
    } catch (error) {
      if (isSystemError(error)) return
      withDatabaseErrors(this.path, () => {
        throw error
      })
    }
  }

  #copyOpenFile(file: number, location: Pick<FileCopy, 'agent' | 'path' | 'root'>, known: FileCopy | undefined): void {
    const tables = this.#tables()
    const stat = fstatSync(file)
    const before = known ?? this.#findRenamed(stat, location.agent)
    const change = before ? this.#compareFile(file, stat, before) : 'another'
    const copy = before && change === 'grown' ? before : tables.add(location, stat.ino)
    if (copy.path !== location.path) tables.move(copy.id, location.path)
    const last = tables.lastPiece(copy.id)
    let at = last && last.length < MIN_LAST_PIECE_BYTES ? last.start : copy.size
    for (let isOver = false; !isOver; ) {
      const pieces: { readonly start: number; readonly bytes: Buffer }[] = []
      while (pieces.length < PIECES_PER_TRANSACTION && !isOver) {
        const bytes = readRange(file, at, PIECE_BYTES)
        if (bytes.length > 0) pieces.push({ start: at, bytes })
        at += bytes.length
        isOver = bytes.length < PIECE_BYTES
      }
      tables.append(copy.id, pieces, {
        size: at,
        modified: Math.trunc(stat.mtimeMs),
        probe: isOver ? fileProbeOf(stat) : '',
      })
    }
    if (before && change === 'rewritten') tables.drop(before.id)
  }

  /**
   * Compares the file with its copy. A file that is not shorter and has the same beginning was rewritten: its new copy
   * replaces the old one.
   */
  #compareFile(file: number, { size }: Stats, copy: FileCopy): 'grown' | 'rewritten' | 'another' {
    if (size < copy.size) return 'another'
    const tables = this.#tables()
    const [first, last] = [tables.firstPiece(copy.id), tables.lastPiece(copy.id)]
    const isSame = (piece: CopyPiece): boolean => sha256(readRange(file, piece.start, piece.length)) === piece.hash
    if (!first || !last || (isSame(first) && isSame(last))) return 'grown'
    const head = tables.body(copy.id, first.start).subarray(0, HEAD_BYTES)
    return head.equals(readRange(file, 0, head.length)) ? 'rewritten' : 'another'
  }

  /** Finds the copy of a renamed file. */
  #findRenamed({ ino }: Stats, agent: AgentId): FileCopy | undefined {
    return this.#tables()
      .ofInode(agent, ino)
      .find((copy) => !existsSync(copy.path))
  }

  /** Writes the copy to a file, which exists until this object is closed or more recent ones need the space. */
  restore(id: number): string {
    try {
      return this.#restore(id)
    } catch (error) {
      // The error concerns the temporary disk, not the database.
      if (isSystemError(error)) throw error
      return withDatabaseErrors(this.path, () => {
        throw error
      })
    }
  }

  #restore(id: number): string {
    const copy = this.#exists() ? this.#tables().get(id) : undefined
    if (!copy) throw new AppError('not_found', `no backup ${id}`, `控え ${id} はもうありません。`)
    const key = `${id} ${copy.size} ${copy.probe}`
    const known = this.#files.get(key)
    if (known !== undefined) return this.#cacheRestored(key, known.path, known.size)
    this.#restored ??= createTempFolder('copies')
    const path = join(this.#restored.path, `${this.#count++}-${basename(copy.path)}`)
    const file = openSync(path, 'w', 0o600)
    try {
      for (const piece of this.#tables().pieces(id)) {
        const bytes = unpackPiece(piece.body)
        if (sha256(bytes) !== piece.hash)
          throw new AppError(
            'unusable_data',
            `The backup of ${copy.path} does not match its checksum: ${this.path} is damaged.`,
            `${copy.path} の控えが元の内容と一致しません。${this.path} が壊れています。`,
          )
        writeSync(file, bytes, 0, bytes.length, piece.start)
      }
    } finally {
      closeSync(file)
    }
    utimesSync(path, copy.modified / 1000, copy.modified / 1000)
    return this.#cacheRestored(key, path, copy.size)
  }

  /** Deletes the least recently used files. */
  #cacheRestored(key: string, path: string, size: number): string {
    this.#files.delete(key)
    let sum = size
    for (const one of this.#files.values()) sum += one.size
    for (const [oldest, one] of this.#files) {
      if (sum <= this.#maxRestoredBytes) break
      this.#files.delete(oldest)
      sum -= one.size
      removeUnlessOpen(one.path)
    }
    this.#files.set(key, { path, size })
    return path
  }

  /** Deletes all copies of these paths. */
  forget(paths: readonly string[]): void {
    if (this.#exists()) withDatabaseErrors(this.path, () => this.#tables().remove(paths))
  }

  close(): void {
    this.#open?.close()
    this.#open = undefined
    this.#restored?.remove()
    this.#restored = undefined
    this.#files.clear()
  }

  #exists(): boolean {
    return this.#open !== undefined || existsSync(this.path)
  }

  #tables(): CopyTables {
    if (!this.#open) {
      const { db, close } = openWritableOrCopy(this.path, COPIES_FORMAT)
      this.#open = { tables: new CopyTables(db), close }
    }
    return this.#open.tables
  }
}

/** Some systems cannot delete a file that is open. It is deleted later with its folder. */
function removeUnlessOpen(path: string): void {
  try {
    rmSync(path)
  } catch (error) {
    if (!isSystemError(error)) throw error
  }
}

const fileProbeOf = ({ size, mtimeMs, ino }: Stats): string => `${size}:${mtimeMs}:${ino}`
