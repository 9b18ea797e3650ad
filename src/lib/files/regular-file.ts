/** Opens files that anybody may have put there: regular files only, and never in a way that waits for another program. */
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { basename, dirname } from 'node:path'

export type SpecialKind = 'pipe' | 'device' | 'socket'

/** A system error like those of `open`, so that callers report it as they report a missing file. */
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

/** Nothing for regular files and folders. */
export function specialKindOf(stat: FileTypeStats): SpecialKind | undefined {
  if (stat.isFile() || stat.isDirectory()) return undefined
  if (stat.isFIFO()) return 'pipe'
  return stat.isSocket() ? 'socket' : 'device'
}

/** A pipe is opened at once, a terminal does not become ours. Windows knows neither flag. */
const NO_WAIT_FLAGS = (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)

/**
 * Throws what the file system says, EISDIR for a folder and {@link SpecialFileError} for what is neither. Opening alone can have
 * effects (a tape rewinds, a pipe's writer starts), so the path is looked at first; another file may take its place before it is
 * opened, so the descriptor is looked at again.
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

/** The same, for callers that must not block the thread. */
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

/** Everything in a regular file. Throws as {@link openRegularFile} does. */
export function readRegularFile(path: string): Buffer {
  const fd = openRegularFile(path)
  try {
    return readFileSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Nothing also where nothing is there, or nothing may be seen. */
export function specialKindAt(path: string): SpecialKind | undefined {
  try {
    const stat = statSync(path, { throwIfNoEntry: false })
    return stat && specialKindOf(stat)
  } catch {
    return undefined
  }
}

/** Throws {@link SpecialFileError} where a path names a pipe, a device or a socket. Other paths, also missing ones, pass. */
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
 * Whether a path is a descriptor that the caller of this program passed on: `/dev/stdin`, or `/dev/fd/63` of a shell's `<(…)`.
 * A pipe there was given on purpose. A pipe that lies in a folder was not.
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
 * Opens what is no regular file for output that the user sent there: a device, or a pipe that somebody reads. Throws what the
 * file system says: ENXIO for a pipe without a reader, which a plain open would wait for.
 */
export function openSpecialOutput(path: string): number {
  const probe = specialKindAt(path) === 'pipe' ? openSync(path, constants.O_WRONLY | NO_WAIT_FLAGS) : undefined
  try {
    return openSync(path, constants.O_WRONLY | (constants.O_NOCTTY ?? 0))
  } finally {
    if (probe !== undefined) closeSync(probe)
  }
}

/** A file that the user named on the command line: also what a shell's `<(…)` writes. */
export const readUserFile = (path: string): Buffer =>
  isPassedStream(path) ? readFileSync(path) : readRegularFile(path)
