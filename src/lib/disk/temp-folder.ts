/** Folders for what is needed only while this process lives. */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface TempFolder {
  readonly path: string
  remove(): void
}

/** A folder carries the number of the process that made it. Only its user may look inside. */
const NAME = /^fumibako-[a-z]+-(\d+)-/
const folders = new Set<string>()

/**
 * Gone at the latest when the process ends; those of processes that were killed go now. Throws what the system says.
 * @param what it is for, in small letters
 */
export function makeTempFolder(what: string): TempFolder {
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
  for (const entry of readdirSync(tmpdir(), { withFileTypes: true })) {
    const folder = join(tmpdir(), entry.name)
    const pid = Number(NAME.exec(entry.name)?.[1] ?? 0)
    if (entry.isDirectory() && pid > 0 && !isAlive(pid, folder)) removeFolder(folder)
  }
}

/** An earlier process may have had this one's number. */
function isAlive(pid: number, folder: string): boolean {
  if (pid === process.pid) return modifiedAt(folder) > Date.now() - process.uptime() * 1000 - 1000
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) !== 'ESRCH'
  }
}

const modifiedAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')
