/** Makes the file of a database before SQLite does, so that it is private to its user. */
import { accessSync, closeSync, constants, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { isSystemError } from './system-error.ts'

/**
 * Its folder too. One that is there is not opened: closing it would drop all locks that this process holds on it, those of
 * other connections included. Throws what the system says, also about one that may not be written.
 */
export function ensurePrivateFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  try {
    closeSync(openSync(path, 'ax', 0o600))
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EEXIST') throw error
    accessSync(path, constants.R_OK | constants.W_OK)
  }
}
