/** A lock that one process holds at a time, and that the system takes from a process that dies. */
import { connectToFile } from '../sqlite/connect.ts'
import { ensurePrivateFile } from './private-file.ts'

export interface FileLock {
  release(): void
}

/**
 * Nothing when somebody holds it, this process included. Never waits. The file stays behind, empty: removing it would let
 * two processes hold locks on files of the same name. Throws what the system says.
 */
export function tryLockFile(path: string): FileLock | undefined {
  ensurePrivateFile(path)
  const connection = connectToFile(path, { readonly: false, busyMs: 0 })
  try {
    // SQLite's locks are the only ones that Node has on every system. Nothing is ever written.
    connection.pragma('journal_mode = MEMORY')
    connection.exec('BEGIN EXCLUSIVE')
    return { release: () => connection.close() }
  } catch (error) {
    connection.close()
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')) return undefined
    throw error
  }
}
