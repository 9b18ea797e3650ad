/** A copy of a database in a folder of our own, where SQLite may put right what its owner left unfinished. */
import { type BigIntStats, chmodSync, constants, copyFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { refuseSpecialAt } from '../files/regular-file.ts'
import { createTempFolderOrThrow } from '../files/temp-folder.ts'
import type { DatabaseFiles } from './header.ts'

export interface DatabaseCopy {
  readonly path: string
  remove(): void
}

/** Writes closer together than this may leave the same time on a file. */
const CLOCK_TICK_MS = 20

/** Nothing when its owner was at work meanwhile: files of different moments make no database. Throws what the system says. */
export function copyDatabase(files: DatabaseFiles): DatabaseCopy | undefined {
  const before = snapshotStamp(files)
  if (before === undefined) return undefined
  const folder = createTempFolderOrThrow('sqlite')
  const path = join(folder.path, 'copy.sqlite3')
  let isConsistent = false
  try {
    copyDatabaseFile(files.main, path)
    if (bigintStatOf(files.wal)) copyDatabaseFile(files.wal, `${path}-wal`)
    if (bigintStatOf(files.journal)) copyDatabaseFile(files.journal, `${path}-journal`)
    isConsistent = snapshotStamp(files) === before
  } finally {
    if (!isConsistent) folder.remove()
  }
  return isConsistent ? { path, remove: folder.remove } : undefined
}

/** Closes a descriptor of the database, which drops locks (see header.ts); but what needs a copy cannot be read in place. */
function copyDatabaseFile(from: string, to: string): void {
  refuseSpecialAt(from)
  copyFileSync(from, to, constants.COPYFILE_FICLONE)
  chmodSync(to, 0o600)
}

/** Nothing while a file's time would not show one more write. Of the shared memory only that it is there counts: readers write to it. */
function snapshotStamp(files: DatabaseFiles): string | undefined {
  const stats = [files.main, files.wal, files.journal].map(bigintStatOf)
  const now = Date.now()
  if (stats.some((stat) => stat && Math.abs(now - Number(stat.mtimeMs)) < CLOCK_TICK_MS)) return undefined
  const stamps = stats.map((stat) => (stat ? [stat.ino, stat.size, stat.mtimeNs].join() : ''))
  return [...stamps, bigintStatOf(files.shm)?.ino ?? ''].join(' ')
}

const bigintStatOf = (path: string): BigIntStats | undefined => statSync(path, { bigint: true, throwIfNoEntry: false })
