/** Has bytes safe before they are replaced elsewhere. */
import { closeSync, constants, copyFileSync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { basename, join } from 'node:path'
import { sha256 } from '../hash.ts'
import { refuseSpecialAt } from './regular-file.ts'
import { syncFolder } from './sync-folder.ts'

/** On disk when it returns. Answers where it lies. */
export function writeBackupFile(folder: string, bytes: Uint8Array, now: Date): string {
  const path = join(ensureFolder(folder), `${timestampForName(now)}-${sha256(bytes).slice(0, 8)}.json`)
  const fd = openSync(path, 'w', 0o600)
  try {
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
  syncFolder(folder)
  return path
}

/** The same for a file of any length. Never over another backup. */
export function copyToBackupFile(folder: string, file: string, now: Date): string {
  const path = join(ensureFolder(folder), `${timestampForName(now)}-${basename(file)}`)
  refuseSpecialAt(file)
  copyFileSync(file, path, constants.COPYFILE_EXCL)
  const fd = openSync(path, 'r+')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
  syncFolder(folder)
  return path
}

function ensureFolder(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return folder
}

const timestampForName = (now: Date): string => now.toISOString().replaceAll(/[:.]/g, '-')
