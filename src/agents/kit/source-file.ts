/** File sources: finding them, fingerprints, reading the bytes of a locator, replacing them. */
import { closeSync, readSync, statSync } from 'node:fs'
import { readKeptRange } from '../../lib/files/file-bytes.ts'
import { openRegularFile } from '../../lib/files/regular-file.ts'
import { findFilesBelow, isFolder, statOf } from '../../lib/files/safe-fs.ts'
import { isSystemError, systemErrorReason, toWriteError } from '../../lib/files/system-error.ts'
import { checksum } from '../../lib/hash.ts'
import { type Fields, isObject, parseStructure } from '../../lib/unknown-values.ts'
import { AppError } from '../../model/error.ts'
import type { AgentId } from '../../model/ids.ts'
import type { Source, SourceFingerprint } from '../agent.ts'

/** Changes whenever the file is written or replaced. Undefined when there is no file. */
export async function probeFile({ path }: Pick<Source, 'path'>): Promise<SourceFingerprint | undefined> {
  // Blocking, because a sweep probes every source, and the thread pool takes ten times as long.
  try {
    const { size, mtimeMs, ino } = statSync(path)
    return `${size}:${mtimeMs}:${ino}`
  } catch (error) {
    // The file exists but may not be accessed: reading it reports why.
    if (!isSystemError(error)) throw error
    return error.code === 'ENOENT' ? undefined : systemErrorReason(error)
  }
}

/** The files below a folder that `isLog` accepts, or the file itself. */
export function* findLogs(
  agent: AgentId,
  root: string,
  namePattern: RegExp,
  isLog: (path: string) => boolean,
): Generator<Source> {
  if (!isFolder(root)) yield { agent, path: root }
  else for (const path of findFilesBelow(root, namePattern)) if (isLog(path)) yield { agent, path, root }
}

/** Whether `accepts` is true for the first bytes of a file, or for more of them. */
export function fileBeginsWith(path: string, buffer: Buffer, accepts: (head: Buffer) => boolean): boolean {
  try {
    const fd = openRegularFile(path)
    try {
      return accepts(buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, 0)))
    } finally {
      closeSync(fd)
    }
  } catch {
    return false
  }
}

/** A file's beginning for patterns of ASCII characters, decoded byte by byte because that is ten times faster. */
export const headText = (head: Uint8Array): string =>
  Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('latin1').replace(BYTE_ORDER_MARK, '')

const BYTE_ORDER_MARK = /^\u00EF\u00BB\u00BF/

const MAX_PROBED_LINES = 8

/** The last one may be cut. */
export const firstLines = (head: Uint8Array): readonly string[] => headText(head).split('\n', MAX_PROBED_LINES)

/**
 * Whether one of the first lines is a record that `accepts`. Only keys and ASCII values of the records are right.
 * @param hint matches every line with such a record; others are not parsed
 * @param opening matches such a record that is longer than the head
 */
export const beginsWithRecord = (
  head: Uint8Array,
  hint: RegExp,
  opening: RegExp,
  accepts: (record: Fields) => boolean,
): boolean =>
  firstLines(head).some((line) => {
    if (opening.test(line)) return true
    const record = hint.test(line) ? parseStructure(line) : undefined
    return isObject(record) && accepts(record)
  })

/** Offset, length and checksum of a stretch of bytes in a file. */
export type ByteSpan = readonly [offset: number, length: number, check: number]

/** Reads the bytes of a locator. Throws `not_found` if they have changed. */
export async function readSpan(source: Source, [offset, length, check]: ByteSpan): Promise<Buffer> {
  const bytes = await readKeptRange(source.path, offset, length)
  if (bytes.length !== length || checksum(bytes) !== check) throw changedSourceError(source)
  return bytes
}

export const changedSourceError = ({ path }: Pick<Source, 'path'>): AppError =>
  new AppError(
    'not_found',
    `${path} has changed since it was read; read it again`,
    `${path} は読み込んだ後に変更されました。もう一度読み込んでください。`,
  )

/** Taken after writing a file, to detect later writes by another program. */
export function fileFingerprint(path: string): string {
  const found = statOf(path)
  return found ? `${found.size}:${found.mtimeMs}:${found.ino}` : ''
}

/** Throws `busy` if the file was changed since. */
export function assertUnchanged(path: string, fingerprint: string): void {
  if (fileFingerprint(path) !== fingerprint)
    throw new AppError(
      'busy',
      `Another program changed ${path} in the meantime, so it was left unchanged.`,
      `${path} はその間に別のプログラムが書き換えたため、そのままにしました。`,
    )
}

export function withWriteErrors<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw toWriteError(path, error)
  }
}
