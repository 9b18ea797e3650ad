/** File system checks that never throw: what cannot be accessed counts as absent. */
import { closeSync, type Dirent, lstatSync, readdirSync, type Stats, statSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { readRange } from './file-bytes.ts'
import { openRegularFile } from './regular-file.ts'

const HEAD_BYTES = 65_536

/** Folders too large to search for logs. */
export const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(['node_modules', '.git'])

export function readHead(path: string, bytes = HEAD_BYTES): Uint8Array {
  try {
    const fd = openRegularFile(path)
    try {
      return readRange(fd, 0, bytes)
    } finally {
      closeSync(fd)
    }
  } catch {
    return new Uint8Array()
  }
}

/** Sorted by name. */
export function listEntries(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    return []
  }
}

/**
 * Files below a folder whose names match, each folder's own files first, sorted by name. Follows links to files, not to
 * folders: those would loop or count a file twice.
 */
export function* findFilesBelow(
  folder: string,
  namePattern: Pick<RegExp, 'test'>,
  onUnreadable?: (folder: string) => void,
): Generator<string> {
  const names: string[] = []
  const folders: string[] = []
  // Faster than `join` for a hundred thousand names.
  const prefix = join(folder, sep)
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const { name } = entry
      if (entry.isDirectory()) folders.push(name)
      // Never opens a special file.
      else if (namePattern.test(name) && (entry.isFile() || isFile(prefix + name))) names.push(name)
    }
  } catch {
    if (isFolder(folder)) onUnreadable?.(folder)
    return
  }
  for (const name of names.sort()) yield prefix + name
  for (const name of folders.sort())
    if (!SKIPPED_FOLDERS.has(name)) yield* findFilesBelow(prefix + name, namePattern, onUnreadable)
}

/** Undefined also if inaccessible. */
export function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** An inaccessible path does not count as missing. */
export function isMissing(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOTDIR'
  }
}

/** The path may exist, but its folder cannot be accessed. */
export function isInaccessible(path: string): boolean {
  try {
    statSync(path, { throwIfNoEntry: false })
    return false
  } catch (error) {
    return error instanceof Error && 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM')
  }
}

export const isFolder = (path: string): boolean => statOf(path)?.isDirectory() ?? false

export const isFile = (path: string): boolean => statOf(path)?.isFile() ?? false

export function isNonLinkFile(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false
  } catch {
    return false
  }
}

/** Does not follow a link. Undefined if missing or inaccessible. */
export function tryLstat(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch {
    return undefined
  }
}

/**
 * Whether every folder on the way to a path exists and is not a link. Checks each folder once. @returns a check for a
 * path below the root, with `/`
 */
export function createRealFolderCheck(root: string): (path: string) => boolean {
  const known = new Map<string, boolean>([['.', true]])
  const isReal = (folder: string): boolean => {
    const answer =
      known.get(folder) ?? (isReal(dirname(folder)) && (tryLstat(join(root, folder))?.isDirectory() ?? false))
    known.set(folder, answer)
    return answer
  }
  return (path) => isReal(dirname(path))
}
