/** Looks around on a disk without failing: what cannot be seen counts as absent. */
import { closeSync, type Dirent, lstatSync, readdirSync, type Stats, statSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { readRange } from './file-bytes.ts'
import { openRegularFile } from './regular-file.ts'

const HEAD_BYTES = 65_536

/** Folders in which a walk that looks for logs would lose its way. */
export const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(['node_modules', '.git'])

/** A file's beginning: enough to see what it is. */
export function readHead(path: string): Uint8Array {
  try {
    const fd = openRegularFile(path)
    try {
      return readRange(fd, 0, HEAD_BYTES)
    } finally {
      closeSync(fd)
    }
  } catch {
    return new Uint8Array()
  }
}

/** In the order of their names. */
export function listEntries(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    return []
  }
}

/**
 * The files below a folder whose names are likely: of each folder its own first, all in the order of their names. A link to a
 * file is that file; links to folders are not followed: they would make the walk endless or count a file twice.
 * @param onUnreadable is told of each folder that cannot be opened
 */
export function* findFilesBelow(
  folder: string,
  namePattern: RegExp,
  onUnreadable?: (folder: string) => void,
): Generator<string> {
  const names: string[] = []
  const folders: string[] = []
  // Not `join` for each of a hundred thousand names.
  const prefix = join(folder, sep)
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const { name } = entry
      if (entry.isDirectory()) folders.push(name)
      // What is no file is never opened: a pipe would be waited for.
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

/** Nothing also where it may not be looked at. */
export function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** For sure: one that may not be looked at is not missing. */
export function isMissing(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOTDIR'
  }
}

/** It may be there, or not: the folder that it would lie in may not be looked into. */
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

/** A regular file, and not a symbolic link to one. */
export function isNonLinkFile(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false
  } catch {
    return false
  }
}

/** Of a link the link itself. Nothing where there is nothing, or nothing that may be looked at. */
export function tryLstat(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch {
    return undefined
  }
}

/**
 * Whether all folders on the way to a path exist and are no links. Looks at each folder once.
 * @returns takes a path below the root, with `/`
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
