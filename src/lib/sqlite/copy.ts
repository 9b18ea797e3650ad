/** A copy of a database in a folder of our own, where SQLite may put right what its owner left unfinished. */
import {
  type BigIntStats,
  chmodSync,
  constants,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Files } from './header.ts'
import { codeOf } from './problem.ts'

export interface Copy {
  readonly path: string
  remove(): void
}

/** A folder carries the number of the process that made it. Only its user may look inside. */
const PREFIX = 'fumibako-sqlite-'
/** Writes closer together than this may leave the same time on a file. */
const TICK_MS = 20

/** Nothing when its owner was at work meanwhile: files of different moments make no database. Throws what the system says. */
export function copyDatabase(files: Files): Copy | undefined {
  const before = momentOf(files)
  if (before === undefined) return undefined
  removeLeftovers()
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`))
  folders.add(folder)
  const path = join(folder, 'copy.sqlite3')
  let whole = false
  try {
    copyFile(files.main, path)
    if (statOf(files.wal)) copyFile(files.wal, `${path}-wal`)
    if (statOf(files.journal)) copyFile(files.journal, `${path}-journal`)
    whole = momentOf(files) === before
  } finally {
    if (!whole) removeFolder(folder)
  }
  return whole ? { path, remove: () => removeFolder(folder) } : undefined
}

/** Closes a descriptor of the database, which drops locks (see header.ts); but what needs a copy cannot be read in place. */
function copyFile(from: string, to: string): void {
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

const folders = new Set<string>()

process.once('exit', () => {
  for (const folder of folders) removeFolder(folder)
})

/** What cannot be removed now is a leftover for the next process. */
function removeFolder(folder: string): void {
  folders.delete(folder)
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch (error) {
    if (codeOf(error) === '') throw error
  }
}

/** Of processes that were killed. */
function removeLeftovers(): void {
  for (const entry of readdirSync(tmpdir(), { withFileTypes: true })) {
    const folder = join(tmpdir(), entry.name)
    const pid = entry.name.startsWith(PREFIX) ? Number.parseInt(entry.name.slice(PREFIX.length), 10) : Number.NaN
    if (entry.isDirectory() && pid > 0 && !isAlive(pid, folder)) removeFolder(folder)
  }
}

/** An earlier process may have had this one's number. */
function isAlive(pid: number, folder: string): boolean {
  if (pid === process.pid) return Number(statOf(folder)?.mtimeMs ?? 0) > Date.now() - process.uptime() * 1000 - 1000
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) !== 'ESRCH'
  }
}
