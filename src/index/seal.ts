/**
 * Notices that something else than fumibako changed the file of the index. SQLite has no checksum: a changed letter in a row looks
 * like any other letter. So who closes the index last notes its size and time, and who opens it next compares.
 */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readRegularFile } from '../lib/files/regular-file.ts'
import { statOf } from '../lib/files/safe-fs.ts'
import { openSqlite } from '../lib/sqlite/driver.ts'

interface Seal {
  /** Another one is a copy, which has times of its own: it is believed. */
  readonly inode: number
  readonly size: number
  readonly modified: number
  /** How often in a row the index was not as it had been left. */
  readonly broken: number
}

/** On a disk that does not keep times, every look would make the index again: such seals are no longer believed. */
const MAX_MISMATCHES = 3

const sealPath = (directory: string): string => join(directory, 'index.sqlite3.seal')

/** While it is open nothing is known: a crash leaves no seal, and SQLite recovers from crashes by itself. */
export interface SealCheck {
  /** The file is ours, and another program or the disk changed it. */
  readonly isChanged: boolean
  /** For the next seal. */
  readonly mismatches: number
}

export function checkAndRemoveSeal(directory: string, index: string): SealCheck {
  const seal = readSeal(directory)
  rmSync(sealPath(directory), { force: true })
  if (!seal) return { isChanged: false, mismatches: 0 }
  const current = fileStateOf(index)
  const isSame = current?.size === seal.size && current.modified === seal.modified
  if (isSame || current?.inode !== seal.inode) return { isChanged: false, mismatches: 0 }
  return { isChanged: seal.broken < MAX_MISMATCHES && isOwnIndex(index), mismatches: seal.broken + 1 }
}

/** Nothing where another process still has it open: then its log is not empty, and the file changes later. */
export function sealIndex(directory: string, index: string, mismatches: number): void {
  const current = fileStateOf(index)
  if (!current || (statOf(`${index}-wal`)?.size ?? 0) > 0) return
  try {
    const seal: Seal = { ...current, broken: mismatches }
    writeFileSync(sealPath(directory), JSON.stringify(seal), { mode: 0o600, flag: 'wx' })
  } catch {
    // Without a seal the next one believes the file.
  }
}

export const removeSeal = (directory: string): void => rmSync(sealPath(directory), { force: true })

function readSeal(directory: string): Seal | undefined {
  try {
    const seal = JSON.parse(readRegularFile(sealPath(directory)).toString()) as {
      readonly [key in keyof Seal]: unknown
    }
    const { inode, size, modified, broken } = seal
    return [inode, size, modified, broken].every(Number.isFinite) ? (seal as Seal) : undefined
  } catch {
    return undefined
  }
}

function fileStateOf(index: string): Omit<Seal, 'broken'> | undefined {
  const stat = statOf(index)
  return stat && { inode: stat.ino, size: stat.size, modified: stat.mtimeMs }
}

/**
 * A database of another program is left alone. It is recognized by its tables: the numbers in the header may be damaged. A newer
 * version of fumibako leaves a seal that matches, so its index is never asked about here.
 */
function isOwnIndex(index: string): boolean {
  try {
    const db = openSqlite(index, { readonly: true, fileMustExist: true })
    try {
      return db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'said_config'").get() !== undefined
    } finally {
      db.close()
    }
  } catch {
    return false
  }
}
