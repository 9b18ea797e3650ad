/** Writes files atomically: after a crash, either the old or the new file exists, never a part. */
import { randomBytes } from 'node:crypto'
import {
  accessSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { sha256 } from '../hash.ts'
import { readRange } from './file-bytes.ts'
import { openRegularFile, openSpecialOutput, refuseSpecialAt, specialKindAt } from './regular-file.ts'
import { isFile, statOf } from './safe-fs.ts'
import { isSystemError, toWriteError } from './system-error.ts'

interface AtomicFileOptions {
  /** Default: the mode of the file it replaces, or 0600. */
  readonly mode?: number
  /** Creates missing folders with this mode. Without it, the folder must exist. */
  readonly folders?: number
}

/**
 * Replaces the file that a link points to, not the link. Refuses a read-only file unless a mode is given. Writes to a
 * pipe or a device in place. Throws AppError. Call `discard` when done.
 */
export class AtomicFile {
  readonly #path: string
  readonly #target: string
  readonly #options: AtomicFileOptions
  #fd: number | undefined
  #temporary: string | undefined
  /** Backup of the replaced file, for a rollback. */
  #previous: string | undefined
  #isUnwritten = true
  #isCommitted = false

  constructor(path: string, options: AtomicFileOptions = {}) {
    this.#path = path
    this.#target = resolveTarget(path)
    this.#options = options
  }

  write(piece: string | Uint8Array): void {
    this.#try(() => {
      this.#fd ??= this.#open()
      writeFileSync(this.#fd, piece)
    })
  }

  /** On disk when it returns. Without any write, removes the target. */
  commit(): void {
    AtomicFile.commitAll([this])
  }

  /** Replaces all files or none: if one fails, the earlier ones are rolled back. */
  static commitAll(files: readonly AtomicFile[]): void {
    const committed: AtomicFile[] = []
    try {
      for (const file of files) file.#try(() => file.#finish())
      for (const file of files) {
        file.#try(() => file.#moveIntoPlace(files.length > 1))
        committed.push(file)
      }
    } catch (error) {
      for (const file of committed.reverse()) file.#try(() => file.#rollBack())
      throw error
    } finally {
      for (const file of files) file.discard()
    }
    for (const file of files) file.#try(() => syncFolder(dirname(file.#target)))
  }

  /** Removes temporary files. */
  discard(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
    for (const path of [this.#temporary, this.#previous]) if (path !== undefined) rmSync(path, { force: true })
    this.#temporary = undefined
    this.#previous = undefined
  }

  #open(): number {
    const { mode, folders } = this.#options
    this.#isUnwritten = false
    if (folders !== undefined) mkdirSync(dirname(this.#target), { recursive: true, mode: folders })
    const existing = statOf(this.#target)
    if (existing && !existing.isFile() && !existing.isDirectory()) return openSpecialOutput(this.#target)
    if (existing?.isFile() && mode === undefined) accessSync(this.#target, constants.W_OK)
    const temporary = temporaryPathFor(this.#target)
    const fd = openSync(temporary, 'wx', 0o600)
    this.#temporary = temporary
    const wantedMode = (mode ?? (existing?.isFile() ? existing.mode : 0o600)) & 0o777
    if ((fstatSync(fd).mode & 0o777) !== wantedMode) fchmodSync(fd, wantedMode)
    return fd
  }

  #finish(): void {
    if (this.#fd === undefined) return
    if (this.#temporary !== undefined) fsyncSync(this.#fd)
    closeSync(this.#fd)
    this.#fd = undefined
  }

  #moveIntoPlace(canRollBack: boolean): void {
    if (canRollBack && isFile(this.#target)) this.#previous = linkBackup(this.#target)
    if (this.#temporary !== undefined) renameSync(this.#temporary, this.#target)
    else if (this.#isUnwritten) removeIfPresent(this.#target)
    this.#isCommitted = this.#temporary !== undefined
    this.#temporary = undefined
  }

  #rollBack(): void {
    if (this.#previous !== undefined) renameSync(this.#previous, this.#target)
    else if (this.#isCommitted) removeIfPresent(this.#target)
    this.#previous = undefined
  }

  #try(work: () => void): void {
    try {
      work()
    } catch (error) {
      throw toWriteError(this.#path, error)
    }
  }
}

export function writeFileAtomically(
  path: string,
  pieces: Iterable<string | Uint8Array>,
  options?: AtomicFileOptions,
): void {
  const file = new AtomicFile(path, options)
  try {
    file.write('')
    for (const piece of pieces) file.write(piece)
    file.commit()
  } finally {
    file.discard()
  }
}

function resolveTarget(path: string): string {
  // The target of `/dev/stdout` may have no path of its own.
  if (specialKindAt(path) !== undefined) return path
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

const temporaryPathFor = (path: string): string => join(dirname(path), `.fumi-${randomBytes(6).toString('hex')}.tmp`)

/** A hard link, or a copy where the file system has no hard links. */
function linkBackup(path: string): string {
  const temporary = temporaryPathFor(path)
  try {
    linkSync(path, temporary)
  } catch (error) {
    if (!isSystemError(error)) throw error
    copyFileSync(path, temporary, constants.COPYFILE_EXCL)
  }
  return temporary
}

function removeIfPresent(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'ENOENT') throw error
  }
}

/** For a file of our own: private to its user, in a folder that is created if missing. On disk when it returns. Throws AppError. */
export function replaceOwnFile(path: string, text: string | Iterable<string>): void {
  writeFileAtomically(path, typeof text === 'string' ? [text] : text, { mode: 0o600, folders: 0o700 })
}

/** On disk when it returns. Replaces an existing file. Throws AppError, or the system error of the source. */
export function copyFileAtomically(from: string, to: string): void {
  const folder = dirname(to)
  const firstCreated = mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileAtomically(to, readPieces(from))
  for (let ancestor = folder; firstCreated !== undefined && ancestor !== dirname(firstCreated); ) {
    ancestor = dirname(ancestor)
    if (!existsSync(ancestor)) return
    syncFolder(ancestor)
  }
}

const PIECE_BYTES = 1 << 20

function* readPieces(path: string): Generator<Buffer> {
  const fd = openRegularFile(path)
  try {
    for (let at = 0; ; ) {
      const piece = readRange(fd, at, PIECE_BYTES)
      if (piece.length === 0) return
      yield piece
      at += piece.length
    }
  } finally {
    closeSync(fd)
  }
}

/** On disk when it returns. Returns the path. */
export function writeBackupFile(folder: string, bytes: Uint8Array, now: Date): string {
  const path = join(ensureFolder(folder), `${timestampForName(now)}-${sha256(bytes).slice(0, 8)}.json`)
  const fd = openSync(path, 'w', 0o600)
  try {
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
  syncFolder(folder)
  return path
}

/** Never overwrites another backup. */
export function copyToBackupFile(folder: string, file: string, now: Date): string {
  const path = join(ensureFolder(folder), `${timestampForName(now)}-${basename(file)}`)
  refuseSpecialAt(file)
  copyFileSync(file, path, constants.COPYFILE_EXCL)
  const fd = openSync(path, 'r+')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
  syncFolder(folder)
  return path
}

function ensureFolder(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return folder
}

const timestampForName = (now: Date): string => now.toISOString().replaceAll(/[:.]/g, '-')

/** A new file survives a power cut only when its folder is synced too. Skips systems and folders that do not support this. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const fd = openIfReadable(folder)
  if (fd === undefined) return
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

function openIfReadable(folder: string): number | undefined {
  try {
    return openSync(folder, 'r')
  } catch (error) {
    if (isSystemError(error) && error.code === 'EACCES') return undefined
    throw error
  }
}
