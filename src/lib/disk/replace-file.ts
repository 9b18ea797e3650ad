/** Writes a file at once or not at all: nobody ever sees half of it, and a crash leaves the old one or the new one. */
import { closeSync, fsyncSync, mkdirSync, openSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * On disk when it returns, for its user alone. The folder is made where it does not exist; a link stays a link, and the
 * file that it points to is replaced. Throws what the system says.
 * @param text whole, or in pieces where it may be long
 */
export function replaceFile(path: string, text: string | Iterable<string>): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const target = targetOf(path)
  const temporary = `${target}.${process.pid}.tmp`
  try {
    const fd = openSync(temporary, 'w', 0o600)
    try {
      for (const piece of typeof text === 'string' ? [text] : text) writeFileSync(fd, piece)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(temporary, target)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  syncFolder(dirname(target))
}

function targetOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** The new name is on disk only when the folder is. Some systems cannot be asked for that. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const fd = openSync(folder, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
