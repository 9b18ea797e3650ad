/** Temporary folders, and lists of bytes that move to a temporary file when they outgrow the memory. */
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readRange } from './file-bytes.ts'
import { listEntries } from './safe-fs.ts'
import { toWriteError } from './system-error.ts'

export interface TempFolder {
  readonly path: string
  remove(): void
}

/** The name contains the process id of its owner. */
const FOLDER_NAME = /^fumibako-[a-z]+-(\d+)-/
const ownFolders = new Set<string>()

/**
 * Removed at the end of the process at the latest; also removes those of killed processes. Throws AppError. @param
 * purpose in small letters
 */
export function createTempFolder(purpose: string): TempFolder {
  try {
    return createTempFolderOrThrow(purpose)
  } catch (error) {
    throw toWriteError(join(tmpdir(), `fumibako-${purpose}`), error)
  }
}

/** Throws system errors. */
export function createTempFolderOrThrow(purpose: string): TempFolder {
  removeLeftovers()
  const path = mkdtempSync(join(tmpdir(), `fumibako-${purpose}-${process.pid}-`))
  ownFolders.add(path)
  return { path, remove: () => removeFolder(path) }
}

process.once('exit', () => {
  for (const folder of ownFolders) removeFolder(folder)
})

/** A folder that cannot be removed now is left for the next process. */
function removeFolder(folder: string): void {
  ownFolders.delete(folder)
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch (error) {
    if (errorCodeOf(error) === '') throw error
  }
}

function removeLeftovers(): void {
  for (const entry of listEntries(tmpdir())) {
    const folder = join(tmpdir(), entry.name)
    const pid = Number(FOLDER_NAME.exec(entry.name)?.[1] ?? 0)
    if (entry.isDirectory() && pid > 0 && !isInUse(pid, folder)) removeFolder(folder)
  }
}

/**
 * An earlier process may have had the same id. Folders of this thread are known. Folders of other threads are younger
 * than the process, by its start time measured with the clock then and now: the clock may have been set since, or the
 * machine may have slept.
 */
function isInUse(pid: number, folder: string): boolean {
  if (ownFolders.has(folder)) return true
  const startedMs = Math.min(performance.timeOrigin, Date.now() - process.uptime() * 1000)
  if (pid === process.pid) return modifiedMsOf(folder) > startedMs - 1000
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errorCodeOf(error) !== 'ESRCH'
  }
}

const modifiedMsOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

const errorCodeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')

const MAX_MEMORY_BYTES = 16_000_000
const PAGE_BYTES = 65_536

type SpooledPiece = Buffer | { readonly offset: number; readonly length: number }

/** Holds bytes in memory or in a temporary file. Close it to delete the file. */
export class Spool {
  readonly #pieces: SpooledPiece[] = []
  readonly #maxMemoryBytes: number
  #memoryBytes = 0
  /** Collects small pieces. */
  #page = Buffer.alloc(0)
  #file: { readonly fd: number; readonly folder: TempFolder; end: number } | undefined

  /** @param maxMemoryBytes limit of the bytes held in memory */
  constructor(maxMemoryBytes = MAX_MEMORY_BYTES) {
    this.#maxMemoryBytes = maxMemoryBytes
  }

  get length(): number {
    return this.#pieces.length
  }

  push(bytes: Buffer): void {
    if (this.#memoryBytes + bytes.length <= this.#maxMemoryBytes) {
      this.#memoryBytes += bytes.length
      this.#pieces.push(this.#copy(bytes))
      return
    }
    this.#file ??= createSpoolFile()
    const { fd, end } = this.#file
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done, end + done)
    this.#file.end += bytes.length
    this.#pieces.push({ offset: end, length: bytes.length })
  }

  /** Copies small buffers: each is a view of a larger one, which it would keep in memory. */
  #copy(bytes: Buffer): Buffer {
    if (bytes.length >= Buffer.poolSize >>> 1) return bytes
    if (this.#page.length < bytes.length) this.#page = Buffer.allocUnsafeSlow(PAGE_BYTES)
    const copy = this.#page.subarray(0, bytes.length)
    this.#page = this.#page.subarray(bytes.length)
    bytes.copy(copy)
    return copy
  }

  at(index: number): Buffer | undefined {
    const piece = this.#pieces[index]
    if (piece === undefined || Buffer.isBuffer(piece) || !this.#file) return Buffer.isBuffer(piece) ? piece : undefined
    return readRange(this.#file.fd, piece.offset, piece.length)
  }

  close(): void {
    if (!this.#file) return
    closeSync(this.#file.fd)
    this.#file.folder.remove()
    this.#file = undefined
  }
}

/** Readable by its user only, in a folder of its own so that other users cannot guess the name. */
function createSpoolFile(): { readonly fd: number; readonly folder: TempFolder; end: number } {
  const folder = createTempFolder('spool')
  return { fd: openSync(join(folder.path, 'spool'), 'wx+', 0o600), folder, end: 0 }
}
