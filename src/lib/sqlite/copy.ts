/** A copy of a database in a folder of our own, where SQLite may put right what its owner left unfinished. */
import { type BigIntStats, chmodSync, constants, copyFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { newTempFolder } from '../disk/temp-folder.ts'
import { refuseSpecialAt } from '../files/regular-file.ts'
import type { Files } from './header.ts'

export interface Copy {
  readonly path: string
  remove(): void
}

/** Writes closer together than this may leave the same time on a file. */
const TICK_MS = 20

/** Nothing when its owner was at work meanwhile: files of different moments make no database. Throws what the system says. */
export function copyDatabase(files: Files): Copy | undefined {
  const before = momentOf(files)
  if (before === undefined) return undefined
  const folder = newTempFolder('sqlite')
  const path = join(folder.path, 'copy.sqlite3')
  let whole = false
  try {
    copyFile(files.main, path)
    if (statOf(files.wal)) copyFile(files.wal, `${path}-wal`)
    if (statOf(files.journal)) copyFile(files.journal, `${path}-journal`)
    whole = momentOf(files) === before
  } finally {
    if (!whole) folder.remove()
  }
  return whole ? { path, remove: folder.remove } : undefined
}

/** Closes a descriptor of the database, which drops locks (see header.ts); but what needs a copy cannot be read in place. */
function copyFile(from: string, to: string): void {
  refuseSpecialAt(from)
  copyFileSync(from, to, constants.COPYFILE_FICLONE)
  chmodSync(to, 0o600)
}

/** Nothing while a file's time would not show one more write. Of the shared memory only that it is there counts: readers write to it. */
function momentOf(files: Files): string | undefined {
  const stats = [files.main, files.wal, files.journal].map(statOf)
  const now = Date.now()
  if (stats.some((stat) => stat && Math.abs(now - Number(stat.mtimeMs)) < TICK_MS)) return undefined
  const traces = stats.map((stat) => (stat ? [stat.ino, stat.size, stat.mtimeNs].join() : ''))
  return [...traces, statOf(files.shm)?.ino ?? ''].join(' ')
}

const statOf = (path: string): BigIntStats | undefined => statSync(path, { bigint: true, throwIfNoEntry: false })
