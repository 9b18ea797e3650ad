/**
 * Backups of complete files. A file that grows costs only what was added; one that is replaced or truncated keeps its
 * earlier content as another backup of the same path.
 */
import { closeSync, existsSync, fstatSync, openSync, rmSync, type Stats, utimesSync, writeSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readRange } from '../lib/files/file-bytes.ts'
import { openRegularFile } from '../lib/files/regular-file.ts'
import { statOf } from '../lib/files/safe-fs.ts'
import { isSystemError } from '../lib/files/system-error.ts'
import { createTempFolder, type TempFolder } from '../lib/files/temp-files.ts'
import { sha256 } from '../lib/hash.ts'
import { withDatabaseErrors } from '../lib/sqlite/own-database.ts'
import { AppError } from '../model/error.ts'
import type { AgentId, Instant } from '../model/ids.ts'
import type { BackupFile } from './backup-file.ts'
import type { BackupTables } from './backup-tables.ts'
import { firstPieceLength, MAX_PIECE_BYTES } from './cut-file.ts'
import type { BackedUpFile, FilePiece, FileState } from './file-table.ts'

/** Bytes of a file per transaction. */
export const BYTES_PER_TRANSACTION = 4 << 20
/** Length of the beginning by which files are compared. */
const HEAD_BYTES = 1024
/** Limit for the total size of restored files. */
const MAX_RESTORED_BYTES = 512 << 20

export interface FileLocation {
  readonly agent: AgentId
  readonly path: string
  readonly root?: string
  /** The file that this side file belongs to. */
  readonly side_of?: number
}

export interface FileBackup {
  readonly change:
    | 'new'
    | 'grown'
    /** Rewritten or truncated: the earlier content stays where the new one does not contain it. */
    | 'replaced'
    | 'unchanged'
    /** It cannot be read now, or another process is backing it up. */
    | 'skipped'
    /** The backup has reached its limit. */
    | 'full'
  /** The file in the backup, if it is there. */
  readonly file?: BackedUpFile
  /** Compressed bytes added to the backup. */
  readonly stored_bytes: number
}

export interface FileBackupOptions {
  readonly at: Instant
  /** Nothing is added to a database of this many bytes. */
  readonly limit?: number | undefined
}

export class FileBackups {
  readonly #file: BackupFile
  #restored: TempFolder | undefined
  /** Restored files, least recently used first. */
  readonly #files = new Map<string, { readonly path: string; readonly size: number }>()
  #count = 0
  readonly #maxRestoredBytes: number

  /** @param maxRestoredBytes limit for the total size of restored files */
  constructor(file: BackupFile, maxRestoredBytes = MAX_RESTORED_BYTES) {
    this.#file = file
    this.#maxRestoredBytes = maxRestoredBytes
  }

  /** Files of the same path are listed oldest first. */
  list(): readonly BackedUpFile[] {
    return this.#file.read<readonly BackedUpFile[]>(
      () => [],
      ({ files }) => files.list(),
    )
  }

  get(id: number): BackedUpFile | undefined {
    return this.#file.read<BackedUpFile | undefined>(
      () => undefined,
      ({ files }) => files.get(id),
    )
  }

  /** Backs up what is new in a file. */
  backUp(location: FileLocation, options: FileBackupOptions): FileBackup {
    const stat = statOf(location.path)
    const known = this.#latest(location)
    const as = (change: FileBackup['change']): FileBackup => ({
      change,
      stored_bytes: 0,
      ...(known && { file: known }),
    })
    if (!stat?.isFile()) return as('skipped')
    if (known && known.probe === fileProbeOf(stat)) return as('unchanged')
    if (options.limit !== undefined && this.usedBytes() >= options.limit) return as('full')
    try {
      const fd = openRegularFile(location.path)
      try {
        return this.#backUpOpenFile(fd, location, known, options.at) ?? as('skipped')
      } finally {
        closeSync(fd)
      }
    } catch (error) {
      if (isSystemError(error)) return as('skipped')
      return withDatabaseErrors(this.#file.path, () => {
        throw error
      })
    }
  }

  /** The latest backup, if it has all of the file. */
  current(location: FileLocation): BackedUpFile | undefined {
    const known = this.#latest(location)
    return known && known.probe === fileProbeAt(location.path) ? known : undefined
  }

  /** Everything that `work` backs up becomes part of the backup at once. */
  together(work: () => void): void {
    this.#file.write(work)
  }

  has(agent: AgentId, path: string): boolean {
    return this.#latest({ agent, path }) !== undefined
  }

  /** Bytes of the database that hold something. */
  usedBytes(): number {
    return this.#file.read(
      () => 0,
      ({ db }) => {
        const pragma = (name: string): number => Number(db.pragma(name, { simple: true }))
        return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size')
      },
    )
  }

  #latest({ agent, path }: FileLocation): BackedUpFile | undefined {
    return this.#file.read<BackedUpFile | undefined>(
      () => undefined,
      ({ files }) => files.latest(agent, path),
    )
  }

  /** Undefined if another process is backing up the same file. */
  #backUpOpenFile(
    fd: number,
    location: FileLocation,
    known: BackedUpFile | undefined,
    at: Instant,
  ): FileBackup | undefined {
    const stat = fstatSync(fd)
    const before = known ?? this.#findRenamed(stat, location.agent)
    const change = before ? this.#compare(fd, stat, before) : 'another'
    const last = before && change === 'grown' ? this.#lastPiece(before.id) : undefined
    let file = before && change === 'grown' ? before : undefined
    let stored_bytes = 0
    for (const { pieces, end, isLast } of cutFile(fd, last?.start ?? 0, stat.size)) {
      const state = { size: end, modified: Math.trunc(stat.mtimeMs), probe: isLast ? fileProbeOf(stat) : '' }
      const from = file
      const written = this.#file.write((tables) => writePieces(tables, location, stat.ino, from, pieces, state, at))
      if (!written) return undefined
      file = written.file
      stored_bytes += written.stored_bytes
    }
    if (before && change === 'rewritten') this.#file.write(({ files }) => files.drop(before.id))
    const changed = change === 'grown' ? 'grown' : 'replaced'
    return { change: before ? changed : 'new', stored_bytes, ...(file && { file }) }
  }

  #lastPiece(file: number): FilePiece | undefined {
    return this.#file.read<FilePiece | undefined>(
      () => undefined,
      ({ files }) => files.lastPiece(file),
    )
  }

  /**
   * Compares the file with its backup. A file that is not shorter and has the same beginning was rewritten: its new
   * content replaces the old one. So was a document that begins with the same id.
   */
  #compare(fd: number, { size }: Stats, file: BackedUpFile): 'grown' | 'rewritten' | 'another' {
    if (size < file.size) return 'another'
    return this.#file.read<'grown' | 'rewritten' | 'another'>(
      () => 'another',
      ({ files, pieces }) => {
        const [first, last] = [files.firstPiece(file.id), files.lastPiece(file.id)]
        const isSame = ({ start, length, hash }: FilePiece): boolean => sha256(readRange(fd, start, length)) === hash
        if (!first || !last || (isSame(first) && isSame(last))) return 'grown'
        const head = pieces.get(first.piece).subarray(0, HEAD_BYTES)
        const now = readRange(fd, 0, head.length)
        const id = firstIdIn(head)
        return head.equals(now) || (id !== undefined && id === firstIdIn(now)) ? 'rewritten' : 'another'
      },
    )
  }

  /** Finds the backup of a renamed file. */
  #findRenamed({ ino }: Stats, agent: AgentId): BackedUpFile | undefined {
    return this.#file
      .read<readonly BackedUpFile[]>(
        () => [],
        ({ files }) => files.ofInode(agent, ino),
      )
      .find(({ path }) => !existsSync(path))
  }

  pieces(id: number): readonly FilePiece[] {
    return this.#file.read<readonly FilePiece[]>(
      () => [],
      ({ files }) => files.pieces(id),
    )
  }

  /** The compressed bytes of a piece. Throws `unusable_data` if they are damaged. */
  packed(piece: number): Buffer {
    return this.#file.read<Buffer>(
      () => this.#require<Buffer>(undefined, piece),
      ({ pieces }) => pieces.packed(piece),
    )
  }

  /** The original bytes. Throws `not_found`, and `unusable_data` where they are damaged. */
  *read(id: number): Generator<Buffer> {
    for (const { piece } of this.#file.read<readonly FilePiece[]>(
      () => [],
      ({ files }) => {
        this.#require(files.get(id), id)
        return files.pieces(id)
      },
    ))
      yield this.#file.read<Buffer>(
        () => this.#require<Buffer>(undefined, id),
        ({ pieces }) => pieces.get(piece),
      )
  }

  #require<T>(found: T | undefined, id: number): T {
    if (found === undefined)
      throw new AppError('not_found', `There is no backup ${id} any more.`, `バックアップ ${id} はもうありません。`)
    return found
  }

  /** Writes the file to a temporary folder. It exists until this object is closed or more recent ones need the space. */
  restore(id: number): string {
    const file = this.#require(this.get(id), id)
    const key = `${id} ${file.size} ${file.probe}`
    const known = this.#files.get(key)
    if (known !== undefined) return this.#cacheRestored(key, known.path, known.size)
    this.#restored ??= createTempFolder('copies')
    const path = join(this.#restored.path, `${this.#count++}-${basename(file.path)}`)
    const fd = openSync(path, 'w', 0o600)
    try {
      for (const bytes of this.read(id)) writeSync(fd, bytes)
    } finally {
      closeSync(fd)
    }
    utimesSync(path, file.modified / 1000, file.modified / 1000)
    return this.#cacheRestored(key, path, file.size)
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

  /** All files with the compressed bytes of their pieces. Shared pieces are counted for each file. */
  listWithSizes(): readonly (BackedUpFile & { readonly stored_bytes: number })[] {
    return this.#file.read<ReturnType<FileBackups['listWithSizes']>>(
      () => [],
      ({ files }) => {
        const sizes = files.storedBytes()
        return files.list().map((file) => ({ ...file, stored_bytes: sizes.get(file.id) ?? 0 }))
      },
    )
  }

  /** Deletes these backups, with their side files. */
  drop(ids: readonly number[]): void {
    if (ids.length === 0 || !this.#file.exists()) return
    this.#file.write(({ files }) => {
      for (const id of ids) files.drop(id)
    })
    withDatabaseErrors(this.#file.path, () => this.#file.tables().db.pragma('incremental_vacuum'))
  }

  /** Deletes all backups of these paths. */
  forget(paths: readonly string[]): void {
    const dropped = new Set(paths)
    this.drop(this.list().flatMap(({ id, path }) => (dropped.has(path) ? [id] : [])))
  }

  /** Removes restored files. */
  close(): void {
    this.#restored?.remove()
    this.#restored = undefined
    this.#files.clear()
  }
}

interface CutFile {
  readonly pieces: readonly { readonly start: number; readonly bytes: Buffer }[]
  /** Where the pieces end. */
  readonly end: number
  readonly isLast: boolean
}

const WINDOW_BYTES = BYTES_PER_TRANSACTION + MAX_PIECE_BYTES

/** The pieces of a file from this position on. The last ones come even if there are none. */
function* cutFile(fd: number, from: number, size: number): Generator<CutFile> {
  let start = from
  for (;;) {
    // Most files are small, and large buffers cost more than reading. One byte more shows whether the file has grown.
    const asked = Math.min(WINDOW_BYTES, Math.max(0, size - start) + 1)
    const read = readRange(fd, start, asked)
    const window = read.length === asked && asked < WINDOW_BYTES ? readRange(fd, start, WINDOW_BYTES) : read
    const isLast = window.length < WINDOW_BYTES
    const pieces: { readonly start: number; readonly bytes: Buffer }[] = []
    let at = 0
    while (at < window.length && (isLast || at < BYTES_PER_TRANSACTION)) {
      const rest = window.subarray(at)
      const bytes = rest.subarray(0, firstPieceLength(rest) ?? rest.length)
      pieces.push({ start: start + at, bytes })
      at += bytes.length
    }
    start += at
    yield { pieces, end: start, isLast }
    if (isLast) return
  }
}

/** @returns undefined if another process has changed the file's backup since */
function writePieces(
  { files, pieces }: BackupTables,
  location: FileLocation,
  inode: number,
  before: BackedUpFile | undefined,
  found: CutFile['pieces'],
  state: FileState,
  at: Instant,
): { readonly file: BackedUpFile; readonly stored_bytes: number } | undefined {
  const now = before && files.get(before.id)
  if (before && (now?.size !== before.size || now.probe !== before.probe)) return undefined
  const file = before ?? files.add({ ...location, inode, size: 0, modified: 0, probe: '', first_seen: at })
  if (file.path !== location.path) files.move(file.id, location.path)
  let stored_bytes = 0
  for (const { start, bytes } of found) {
    const { id, stored } = pieces.put(sha256(bytes), bytes)
    files.setPiece(file.id, start, bytes.length, id)
    stored_bytes += stored
  }
  files.setState(file.id, state)
  return { file: { ...file, ...state, path: location.path }, stored_bytes }
}

const ID_PATTERN = /\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/i

/** Documents that are saved after every message begin with the id of their session, and times that change. */
const firstIdIn = (head: Buffer): string | undefined => ID_PATTERN.exec(head.toString('latin1'))?.[0]

/** Some systems cannot delete a file that is open. It is deleted later with its folder. */
function removeUnlessOpen(path: string): void {
  try {
    rmSync(path)
  } catch (error) {
    if (!isSystemError(error)) throw error
  }
}

/** As `probe` of a file that is completely backed up. Undefined if there is no such file. */
export function fileProbeAt(path: string): string | undefined {
  const stat = statOf(path)
  return stat?.isFile() ? fileProbeOf(stat) : undefined
}

const fileProbeOf = ({ size, mtimeMs, ino }: Stats): string => `${size}:${mtimeMs}:${ino}`
