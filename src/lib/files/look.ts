/** Looks around on a disk without failing: what cannot be seen is not there. */
import { closeSync, type Dirent, lstatSync, readdirSync, type Stats, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { readNow } from '../bytes.ts'
import { openRegular } from './regular-file.ts'

const HEAD = 65_536

/** Folders in which a walk that looks for logs would lose its way. */
export const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(['node_modules', '.git'])

/** A file's beginning: enough to see what it is. */
export function headOf(path: string): Uint8Array {
  try {
    const fd = openRegular(path)
    try {
      return readNow(fd, 0, HEAD)
    } finally {
      closeSync(fd)
    }
  } catch {
    return new Uint8Array()
  }
}

/** In the order of their names. */
export function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    return []
  }
}

/**
 * The files below a folder whose names are likely: of each folder its own first, all in the order of their names. A link to a
 * file is that file; links to folders are not followed: they would make the walk endless or count a file twice.
 * @param onClosed is told of each folder that cannot be opened
 */
export function* filesBelow(folder: string, likely: RegExp, onClosed?: (folder: string) => void): Generator<string> {
  const names: string[] = []
  const folders: string[] = []
  // Not `join` for each of a hundred thousand names.
  const prefix = join(folder, sep)
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const { name } = entry
      if (entry.isDirectory()) folders.push(name)
      // What is no file is never opened: a pipe would be waited for.
      else if (likely.test(name) && (entry.isFile() || isFile(prefix + name))) names.push(name)
    }
  } catch {
    if (isFolder(folder)) onClosed?.(folder)
    return
  }
  for (const name of names.sort()) yield prefix + name
  for (const name of folders.sort()) if (!SKIPPED_FOLDERS.has(name)) yield* filesBelow(prefix + name, likely, onClosed)
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
export function isHidden(path: string): boolean {
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
export function isUnlinkedFile(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false
  } catch {
    return false
  }
}
