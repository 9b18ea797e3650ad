/** Tells whether a database may have changed, without opening it as one: no lock is taken and no file made. */
import { closeSync, readSync, statSync } from 'node:fs'
import { openRegularFile } from '../files/regular-file.ts'
import { type DatabaseFiles, databaseFilesAt, readSqliteHeader } from './header.ts'

export interface DatabaseFileState {
  /** Nothing when no such file is seen. */
  readonly fingerprint: string | undefined
  /** The owner adds one with each commit in rollback mode, shortly before it is complete. */
  readonly commits: number | undefined
  /** In rollback mode, from a transaction's first change to its end; also after a crash in between. */
  readonly inTransaction: boolean
}

/**
 * Equal ones mean that nothing was committed in between; nothing when no such file is seen. Take it before reading.
 * It may change without a commit, by a checkpoint or by what was rolled back. In WAL mode the log's size and time tell
 * commits apart, so two within one tick of the file system's clock may look alike.
 */
export const databaseFingerprint = (path: string): string | undefined =>
  readFingerprint(databaseFilesAt(path)).fingerprint

export function readDatabaseFileState(path: string): DatabaseFileState {
  const files = databaseFilesAt(path)
  return { ...readFingerprint(files), inTransaction: isJournalActive(files.journal) }
}

function readFingerprint({ main, wal }: DatabaseFiles): Pick<DatabaseFileState, 'fingerprint' | 'commits'> {
  const header = readSqliteHeader(main)
  const commits = header.ok ? header.value.commits : undefined
  const file = fileStampOf(main)
  return { fingerprint: file && [file, commits?.toString(36), fileStampOf(wal)].join('.'), commits }
}

function fileStampOf(path: string): string | undefined {
  try {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
    return stat && [stat.ino, stat.size, stat.mtimeNs].map((one) => one.toString(36)).join('-')
  } catch {
    return undefined
  }
}

/** An owner that does not delete its journal empties it, or fills its beginning with zeros. */
function isJournalActive(journal: string): boolean {
  let fd: number | undefined
  try {
    fd = openRegularFile(journal)
    const first = Buffer.alloc(1)
    return readSync(fd, first, 0, 1, 0) === 1 && first[0] !== 0
  } catch {
    return false
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}
