/** File sources: finding them, fingerprints, reading the bytes of a locator, replacing them. */
import { statSync } from 'node:fs'
import { readKeptRange } from '../../lib/files/file-bytes.ts'
import { isFolder, statOf } from '../../lib/files/safe-fs.ts'
import { isSystemError, systemErrorReason, toWriteError } from '../../lib/files/system-error.ts'
import { checksum } from '../../lib/hash.ts'
import { type Fields, isObject, parseStructure } from '../../lib/unknown-values.ts'
import { AppError } from '../../model/error.ts'
import type { FileTest, FolderSearch } from '../../model/folder-search.ts'
import type { AgentId } from '../../model/ids.ts'
import type { Source, SourceFingerprint } from '../agent.ts'
import { filesMatching } from './folder-search.ts'

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

/** The files below a folder that the test accepts, or the file itself. */
export async function* findLogs(
  agent: AgentId,
  root: string,
  test: FileTest,
  search: FolderSearch | undefined,
): AsyncGenerator<Source> {
  if (!isFolder(root)) yield { agent, path: root }
  else for await (const path of filesMatching(root, test, search)) yield { agent, path, root }
}

/** Of all agents, which look at a file one after the other. */
interface FileBeginning {
  readonly head: Uint8Array
  readonly text: string
  /** The last one may be cut. */
  readonly lines: readonly string[]
  /** Lines that were parsed. */
  readonly values: unknown[]
}

let lastBeginning: FileBeginning | undefined

function beginningOf(head: Uint8Array): FileBeginning {
  if (lastBeginning?.head === head) return lastBeginning
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength)
  const text = bytes.toString('latin1').replace(BYTE_ORDER_MARK, '')
  lastBeginning = { head, text, lines: text.split('\n', MAX_HEAD_LINES), values: [] }
  return lastBeginning
}

const BYTE_ORDER_MARK = /^\u00EF\u00BB\u00BF/

/** A file's beginning for patterns of ASCII characters, decoded byte by byte because that is ten times faster. */
export const headText = (head: Uint8Array): string => beginningOf(head).text

const MAX_HEAD_LINES = 21

/** At most 21. The last one may be cut. */
export const headLines = (head: Uint8Array): readonly string[] => beginningOf(head).lines

/** The JSON value of one of these lines, or undefined. Only its keys and ASCII values are right. */
export function headValue(head: Uint8Array, line: number): unknown {
  const { lines, values } = beginningOf(head)
  if (!(line in values)) values[line] = parseStructure(lines[line] ?? '')
  return values[line]
}

const MAX_PROBED_LINES = 8

/** The last one may be cut. */
export const firstLines = (head: Uint8Array): readonly string[] => headLines(head).slice(0, MAX_PROBED_LINES)

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
  firstLines(head).some((line, at) => {
    if (opening.test(line)) return true
    const record = hint.test(line) ? headValue(head, at) : undefined
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
