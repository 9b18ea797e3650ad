/** Opens files that anyone may have created: regular files only, without ever waiting for another program. */
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { basename, dirname } from 'node:path'

export type SpecialKind = 'pipe' | 'device' | 'socket'

/** Like a system error of `open`, so that callers report it like a missing file. */
export class SpecialFileError extends Error implements NodeJS.ErrnoException {
  /** The BSD name for "inappropriate file type"; Linux has none. */
  readonly code = 'EFTYPE'
  readonly syscall = 'open'
  readonly path: string
  readonly kind: SpecialKind

  constructor(path: string, kind: SpecialKind) {
    super(`EFTYPE: a ${kind}, not a regular file, open '${path}'`)
    this.name = 'SpecialFileError'
    this.path = path
    this.kind = kind
  }
}

type FileTypeStats = Pick<Stats, 'isFile' | 'isDirectory' | 'isFIFO' | 'isSocket'>

/** Undefined for regular files and folders. */
export function specialKindOf(stat: FileTypeStats): SpecialKind | undefined {
  if (stat.isFile() || stat.isDirectory()) return undefined
  if (stat.isFIFO()) return 'pipe'
  return stat.isSocket() ? 'socket' : 'device'
}

/** Opens a pipe without waiting and never takes over a terminal. Windows has neither flag. */
const NO_WAIT_FLAGS = (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)

/**
 * Throws system errors, EISDIR for a folder and {@link SpecialFileError} for anything else. Checks the path before
 * opening, because opening alone can have effects (a tape rewinds), and the descriptor after it, because the file may
 * have been replaced.
 */
export function openRegularFile(path: string, flags: number = constants.O_RDONLY): number {
  refuseSpecialAt(path)
  const fd = openSync(path, flags | NO_WAIT_FLAGS)
  try {
    refuseSpecial(path, fstatSync(fd))
    return fd
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

export async function openRegularHandle(path: string, flags: number = constants.O_RDONLY): Promise<FileHandle> {
  refuseSpecialAt(path)
  const file = await open(path, flags | NO_WAIT_FLAGS)
  try {
    refuseSpecial(path, await file.stat())
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}

export function readRegularFile(path: string): Buffer {
  const fd = openRegularFile(path)
  try {
    return readFileSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Undefined also for a missing or inaccessible path. */
export function specialKindAt(path: string): SpecialKind | undefined {
  try {
    const stat = statSync(path, { throwIfNoEntry: false })
    return stat && specialKindOf(stat)
  } catch {
    return undefined
  }
}

/** Throws {@link SpecialFileError} for a pipe, a device or a socket. A missing path passes. */
export function refuseSpecialAt(path: string): void {
  const kind = specialKindAt(path)
  if (kind) throw new SpecialFileError(path, kind)
}

function refuseSpecial(path: string, stat: FileTypeStats): void {
  const kind = specialKindOf(stat)
  if (kind) throw new SpecialFileError(path, kind)
  if (stat.isDirectory())
    throw Object.assign(new Error(`EISDIR: a folder, open '${path}'`), { code: 'EISDIR', syscall: 'open', path })
}

/**
 * Whether the path is a descriptor that our caller passed on: `/dev/stdin`, or `/dev/fd/63` of a shell's `<(…)`. Such a
 * pipe is intended; one in a folder is not.
 */
export function isPassedStream(path: string): boolean {
  if (path !== '/dev/stdin' && !(DESCRIPTOR_FOLDERS.has(dirname(path)) && /^\d+$/.test(basename(path)))) return false
  try {
    const stat = statSync(path)
    return !stat.isFile() && !stat.isDirectory()
  } catch {
    return false
  }
}

const DESCRIPTOR_FOLDERS: ReadonlySet<string> = new Set(['/dev/fd', '/proc/self/fd'])

/**
 * Opens a device or a pipe for output that the user sent there. Throws ENXIO for a pipe without a reader, which a plain
 * open would wait for.
 */
export function openSpecialOutput(path: string): number {
  const probe = specialKindAt(path) === 'pipe' ? openSync(path, constants.O_WRONLY | NO_WAIT_FLAGS) : undefined
  try {
    return openSync(path, constants.O_WRONLY | (constants.O_NOCTTY ?? 0))
  } finally {
    if (probe !== undefined) closeSync(probe)
  }
}

/** A file named on the command line, including a shell's `<(…)`. */
export const readUserFile = (path: string): Buffer =>
  isPassedStream(path) ? readFileSync(path) : readRegularFile(path)
