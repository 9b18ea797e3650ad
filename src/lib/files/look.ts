/** Looks around on a disk without failing: what cannot be seen is not there. */
import { closeSync, type Dirent, openSync, readdirSync, type Stats, statSync } from 'node:fs'
import { readNow } from '../bytes.ts'

const HEAD = 65_536

/** Folders in which a walk that looks for logs would lose its way. */
export const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(['node_modules', '.git'])

/** A file's beginning: enough to see what it is. */
export function headOf(path: string): Uint8Array {
  try {
    const fd = openSync(path, 'r')
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

export const isFolder = (path: string): boolean => statOf(path)?.isDirectory() ?? false

export const isFile = (path: string): boolean => statOf(path)?.isFile() ?? false
