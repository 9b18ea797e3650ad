/** Brings a copy of a file to its place at once or not at all: nobody ever sees half of it there. */
import { closeSync, copyFileSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { syncFolder } from './replace-file.ts'

/** On disk when it returns. What lies there is replaced. Throws what the system says. */
export function placeFile(from: string, to: string): void {
  const folder = dirname(to)
  const top = mkdirSync(folder, { recursive: true, mode: 0o700 })
  // A name that no program takes for one of its files.
  const temporary = join(folder, `.${basename(to)}.${process.pid}.tmp`)
  try {
    copyFileSync(from, temporary)
    const fd = openSync(temporary, 'r+')
    try {
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(temporary, to)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  for (let made = folder; ; made = dirname(made)) {
    syncFolder(made)
    if (top === undefined || made === dirname(top) || !existsSync(dirname(made))) return
  }
}
