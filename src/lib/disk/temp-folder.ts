/** Folders for what is needed only while this process lives. */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { entriesOf } from '../files/look.ts'
import { writeError } from '../files/write-error.ts'

export interface TempFolder {
  readonly path: string
  remove(): void
}

/** A folder carries the number of the process that made it. Only its user may look inside. */
const NAME = /^fumibako-[a-z]+-(\d+)-/
const folders = new Set<string>()

/**
 * Gone at the latest when the process ends; those of processes that were killed go now. Throws AppError.
 * @param what it is for, in small letters
 */
export function makeTempFolder(what: string): TempFolder {
  try {
    return newTempFolder(what)
  } catch (error) {
    throw writeError(join(tmpdir(), `fumibako-${what}`), error)
  }
}

/** The same, but throws what the system says. */
export function newTempFolder(what: string): TempFolder {
  removeLeftovers()
  const path = mkdtempSync(join(tmpdir(), `fumibako-${what}-${process.pid}-`))
  folders.add(path)
  return { path, remove: () => removeFolder(path) }
}

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

function removeLeftovers(): void {
  for (const entry of entriesOf(tmpdir())) {
    const folder = join(tmpdir(), entry.name)
    const pid = Number(NAME.exec(entry.name)?.[1] ?? 0)
    if (entry.isDirectory() && pid > 0 && !isAlive(pid, folder)) removeFolder(folder)
  }
}

/**
 * An earlier process may have had this one's number. Those of this thread are known; those of other threads are younger than the
 * process, by the clock as it was when the process began or as it is now: it may have been set in between, or the machine slept.
 */
function isAlive(pid: number, folder: string): boolean {
  if (folders.has(folder)) return true
  const began = Math.min(performance.timeOrigin, Date.now() - process.uptime() * 1000)
  if (pid === process.pid) return modifiedAt(folder) > began - 1000
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) !== 'ESRCH'
  }
}

const modifiedAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')
