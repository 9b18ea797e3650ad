/** Folders for what is needed only while this process lives. */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listEntries } from './safe-fs.ts'
import { toWriteError } from './write-error.ts'

export interface TempFolder {
  readonly path: string
  remove(): void
}

/** A folder carries the number of the process that made it. Only its user may look inside. */
const FOLDER_NAME = /^fumibako-[a-z]+-(\d+)-/
const ownFolders = new Set<string>()

/**
 * Gone at the latest when the process ends; those of processes that were killed go now. Throws AppError.
 * @param purpose it is for, in small letters
 */
export function createTempFolder(purpose: string): TempFolder {
  try {
    return createTempFolderOrThrow(purpose)
  } catch (error) {
    throw toWriteError(join(tmpdir(), `fumibako-${purpose}`), error)
  }
}

/** The same, but throws what the system says. */
export function createTempFolderOrThrow(purpose: string): TempFolder {
  removeLeftovers()
  const path = mkdtempSync(join(tmpdir(), `fumibako-${purpose}-${process.pid}-`))
  ownFolders.add(path)
  return { path, remove: () => removeFolder(path) }
}

process.once('exit', () => {
  for (const folder of ownFolders) removeFolder(folder)
})

/** What cannot be removed now is a leftover for the next process. */
function removeFolder(folder: string): void {
  ownFolders.delete(folder)
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch (error) {
    if (errorCodeOf(error) === '') throw error
  }
}

function removeLeftovers(): void {
  for (const entry of listEntries(tmpdir())) {
    const folder = join(tmpdir(), entry.name)
    const pid = Number(FOLDER_NAME.exec(entry.name)?.[1] ?? 0)
    if (entry.isDirectory() && pid > 0 && !isInUse(pid, folder)) removeFolder(folder)
  }
}

/**
 * An earlier process may have had this one's number. Those of this thread are known; those of other threads are younger than the
 * process, by the clock as it was when the process began or as it is now: it may have been set in between, or the machine slept.
 */
function isInUse(pid: number, folder: string): boolean {
  if (ownFolders.has(folder)) return true
  const startedMs = Math.min(performance.timeOrigin, Date.now() - process.uptime() * 1000)
  if (pid === process.pid) return modifiedMsOf(folder) > startedMs - 1000
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errorCodeOf(error) !== 'ESRCH'
  }
}

const modifiedMsOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

const errorCodeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')
