/** Has a folder's names on disk: a new file is found after a power cut only when its folder is written too. */
import { closeSync, fsyncSync, openSync } from 'node:fs'
import { isSystemError } from './system-error.ts'

/** Some systems cannot be asked for that, nor can a folder that may be written and not read. */
export function syncFolder(folder: string): void {
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
