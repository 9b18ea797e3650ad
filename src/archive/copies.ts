/**
 * Copies of files that their program only ever adds to, for the day on which they are gone. Each is kept in pieces, so that what is
 * appended costs what is appended.
 */
import { closeSync, existsSync, fstatSync, openSync, rmSync, type Stats, utimesSync, writeSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readNow } from '../lib/bytes.ts'
import { makeTempFolder, type TempFolder } from '../lib/disk/temp-folder.ts'
import { statOf } from '../lib/files/look.ts'
import { openRegular } from '../lib/files/regular-file.ts'
import { isSystemError } from '../lib/files/system-error.ts'
import { sha256 } from '../lib/hash.ts'
import { AppError } from '../model/error.ts'
import type { AgentId } from '../model/ids.ts'
import { COPIES, type Copied, CopyTables, type Piece } from './copies/tables.ts'
import { unpack } from './keep/pack.ts'
import { explained, openToReadAtLeast } from './open.ts'

export type { Copied } from './copies/tables.ts'

/** Compresses nearly as well as a whole log. */
const PIECE = 1 << 18
/** A last piece that is smaller is made anew with what is appended to it. */
const SMALL = 1 << 16
/** Pieces of one transaction. */
const AT_ONCE = 16
/** So much of a beginning tells files apart. */
const HEAD = 1024
/** Bytes of files with what was copied. */
const MOST_RESTORED = 512 << 20

/** @param directory the data directory; it and the file in it are made with the first copy */
export const openCopies = (directory: string): Copies => new Copies(join(directory, 'copies.sqlite3'))

export class Copies {
  readonly path: string
  #open: { readonly tables: CopyTables; close(): void } | undefined
  #restored: TempFolder | undefined
  /** The one that was asked for last comes last. */
  readonly #files = new Map<string, { readonly path: string; readonly size: number }>()
  #count = 0
  readonly #most: number

  /** @param most bytes of files with what was copied */
  constructor(path: string, most = MOST_RESTORED) {
    this.path = path
    this.#most = most
  }

  /** Those of one path: the latest last. */
  list(): readonly Copied[] {
    return this.#isThere() ? explained(this.path, () => this.#tables().list()) : []
  }

  /** Copies what is new in a file. What cannot be read is left for the next time. */
  take(agent: AgentId, path: string, root: string | undefined): void {
    const stat = statOf(path)
    const known = this.#isThere() ? explained(this.path, () => this.#tables().latest(agent, path)) : undefined
    if (!stat?.isFile() || (known && known.probe === probeOf(stat))) return
    try {
      const file = openRegular(path)
      try {
        this.#takeOpen(file, { agent, path, ...(root !== undefined && { root }) }, known)
      } finally {
        closeSync(file)
      }
    } catch (error) {
      if (isSystemError(error)) return
      explained(this.path, () => {
        throw error
      })
    }
  }

  #takeOpen(file: number, where: Pick<Copied, 'agent' | 'path' | 'root'>, known: Copied | undefined): void {
    const tables = this.#tables()
    const stat = fstatSync(file)
    const before = known ?? this.#moved(stat, where.agent)
    const step = before ? this.#step(file, stat, before) : 'another'
    const copy = before && step === 'grown' ? before : tables.add(where, stat.ino)
    if (copy.path !== where.path) tables.move(copy.id, where.path)
    const last = tables.lastPiece(copy.id)
    let at = last && last.length < SMALL ? last.start : copy.size
    for (let isOver = false; !isOver; ) {
      const pieces: { readonly start: number; readonly bytes: Buffer }[] = []
      while (pieces.length < AT_ONCE && !isOver) {
        const bytes = readNow(file, at, PIECE)
        if (bytes.length > 0) pieces.push({ start: at, bytes })
        at += bytes.length
        isOver = bytes.length < PIECE
      }
      tables.append(copy.id, pieces, {
        size: at,
        modified: Math.trunc(stat.mtimeMs),
        probe: isOver ? probeOf(stat) : '',
      })
    }
    if (before && step === 'rewritten') tables.drop(before.id)
  }

  /** What the file is to a copy. One that was written anew begins alike and is not shorter: its new copy takes the old one's place. */
  #step(file: number, { size }: Stats, copy: Copied): 'grown' | 'rewritten' | 'another' {
    if (size < copy.size) return 'another'
    const tables = this.#tables()
    const [first, last] = [tables.firstPiece(copy.id), tables.lastPiece(copy.id)]
    const isSame = (piece: Piece): boolean => sha256(readNow(file, piece.start, piece.length)) === piece.hash
    if (!first || !last || (isSame(first) && isSame(last))) return 'grown'
    const head = tables.body(copy.id, first.start).subarray(0, HEAD)
    return head.equals(readNow(file, 0, head.length)) ? 'rewritten' : 'another'
  }

  /** A file that was renamed. */
  #moved({ ino }: Stats, agent: AgentId): Copied | undefined {
    return this.#tables()
      .ofInode(agent, ino)
      .find((copy) => !existsSync(copy.path))
  }

  /** A file with what was copied. It is there as long as this is open, and not too many others are asked for. */
  restore(id: number): string {
    try {
      return this.#restore(id)
    } catch (error) {
      // The disk that it is restored to is not the one that it lies on.
      if (isSystemError(error)) throw error
      return explained(this.path, () => {
        throw error
      })
    }
  }

  #restore(id: number): string {
    const copy = this.#isThere() ? this.#tables().get(id) : undefined
    if (!copy) throw new AppError('not_found', `copy ${id} is no longer kept`, `控え ${id} はもうありません。`)
    const key = `${id} ${copy.size} ${copy.probe}`
    const known = this.#files.get(key)
    if (known !== undefined) return this.#remembered(key, known.path, known.size)
    this.#restored ??= makeTempFolder('copies')
    const path = join(this.#restored.path, `${this.#count++}-${basename(copy.path)}`)
    const file = openSync(path, 'w', 0o600)
    try {
      for (const piece of this.#tables().pieces(id)) {
        const bytes = unpack(piece.body)
        if (sha256(bytes) !== piece.hash)
          throw new AppError(
            'unusable_data',
            `The copy of ${copy.path} is not what it was: ${this.path} is damaged.`,
            `${copy.path} の控えが元の内容と一致しません。${this.path} が壊れています。`,
          )
        writeSync(file, bytes, 0, bytes.length, piece.start)
      }
    } finally {
      closeSync(file)
    }
    utimesSync(path, copy.modified / 1000, copy.modified / 1000)
    return this.#remembered(key, path, copy.size)
  }

  /** Files that were not asked for in a long time go. */
  #remembered(key: string, path: string, size: number): string {
    this.#files.delete(key)
    let sum = size
    for (const one of this.#files.values()) sum += one.size
    for (const [oldest, one] of this.#files) {
      if (sum <= this.#most) break
      this.#files.delete(oldest)
      sum -= one.size
      removeUnlessOpen(one.path)
    }
    this.#files.set(key, { path, size })
    return path
  }

  /** Takes every copy of these paths out. */
  forget(paths: readonly string[]): void {
    if (this.#isThere()) explained(this.path, () => this.#tables().remove(paths))
  }

  close(): void {
    this.#open?.close()
    this.#open = undefined
    this.#restored?.remove()
    this.#restored = undefined
    this.#files.clear()
  }

  #isThere(): boolean {
    return this.#open !== undefined || existsSync(this.path)
  }

  #tables(): CopyTables {
    if (!this.#open) {
      const { db, close } = openToReadAtLeast(this.path, COPIES)
      this.#open = { tables: new CopyTables(db), close }
    }
    return this.#open.tables
  }
}

/** Some systems do not let go of a file that somebody reads; it goes with its folder. */
function removeUnlessOpen(path: string): void {
  try {
    rmSync(path)
  } catch (error) {
    if (!isSystemError(error)) throw error
  }
}

const probeOf = ({ size, mtimeMs, ino }: Stats): string => `${size}:${mtimeMs}:${ino}`
