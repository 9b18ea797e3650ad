/** Puts a written session where its program finds it: a file of its own, completely or not at all, and reversibly. */
import { closeSync, fstatSync, rmSync } from 'node:fs'
import { copyFileAtomically } from '../../lib/files/atomic-file.ts'
import { readRange } from '../../lib/files/file-bytes.ts'
import { findFileHolder } from '../../lib/files/file-holder.ts'
import { openRegularFile } from '../../lib/files/regular-file.ts'
import { isFolder } from '../../lib/files/safe-fs.ts'
import { type Fields, fieldsOf, parseStructure } from '../../lib/unknown-values.ts'
import { AppError } from '../../model/error.ts'
import { type AgentId, type Instant, toInstant } from '../../model/ids.ts'
import type { DeliverOptions, Delivery, DeliveryWarning } from '../agent.ts'
import { assertUnchanged, fileFingerprint, withWriteErrors } from './source-file.ts'

export interface FileDelivery {
  readonly agent: AgentId
  /** Name of the program in messages. */
  readonly label: string
  /** Its home, which must exist. */
  readonly home: string
  /** The file of the session that the program already has, if any. */
  readonly existing: string | undefined
  /** Where a new one goes. */
  readonly path: string
  readonly warnings?: readonly DeliveryWarning[]
  /** Throws `busy` while the program uses the file. Default: if a process has it open for writing. */
  assertIdle?(path: string): void
  /** The last time in a file. Default: the latest one at the beginning of its last lines. */
  lastTimeIn?(path: string): Instant | undefined
  /** Writes what the program keeps beside the file. Returns the undo. */
  writeBeside?(path: string): () => void
}

/** The home of a program, which must exist. */
export function assertHome(label: string, home: string): void {
  if (!isFolder(home))
    throw new AppError(
      'not_found',
      `${home} does not exist: ${label} has not been used on this machine yet.`,
      `${home} がありません。このマシンではまだ ${label} が使われていません。`,
    )
}

/** Never replaces a newer conversation, and an older one only if `mayReplace`. */
export function deliverFile(file: string, target: FileDelivery, options: DeliverOptions): Delivery {
  const { agent, home, existing, label, lastTimeIn = lastTimeInTail } = target
  const assertFree = target.assertIdle ?? ((path: string) => assertIdle(path, label))
  if (existing !== undefined) {
    assertFree(existing)
    assertReplaceable({ label, place: existing, lastTime: lastTimeIn(existing) }, options)
  }
  const path = existing ?? target.path
  const delivery = {
    source: { agent, path, root: home },
    isReplacement: existing !== undefined,
    repairs: [],
    warnings: target.warnings ?? [],
  }
  if (options.isDry) return { ...delivery, undo: async () => {} }
  return withWriteErrors(path, () => {
    const copy = existing === undefined ? undefined : options.backup.file(existing)
    if (existing !== undefined) assertFree(existing)
    copyFileAtomically(file, path)
    const fingerprint = fileFingerprint(path)
    const rollBack = (): void => (copy === undefined ? rmSync(path) : copyFileAtomically(copy, path))
    const undoBeside = undoOnError(rollBack, () => target.writeBeside?.(path))
    const undo = async (): Promise<void> =>
      withWriteErrors(path, () => {
        assertUnchanged(path, fingerprint)
        assertFree(path)
        rollBack()
        undoBeside?.()
      })
    return { ...delivery, undo }
  })
}

/** Rolls back before it rethrows. */
export function undoOnError<T>(rollBack: () => void, work: () => T): T {
  try {
    return work()
  } catch (error) {
    rollBack()
    throw error
  }
}

export interface StoredSession {
  /** Name of the program in messages. */
  readonly label: string
  /** Its file, or its id. */
  readonly place: string
  readonly lastTime: Instant | undefined
}

export function assertReplaceable(
  { label, place, lastTime }: StoredSession,
  { lastAt, mayReplace }: DeliverOptions,
): void {
  if (lastTime !== undefined && (lastAt === undefined || lastTime > lastAt))
    throw new AppError(
      'busy',
      `${label} has a newer version of this session (${lastTime}): ${place}. Continue that one.`,
      `${label} で ${lastTime} に続きが進んでいます。${place} のほうが新しいので、その会話を続けてください。`,
    )
  if (!mayReplace)
    throw new AppError(
      'bad_usage',
      `${label} already has this session: ${place}. Pass --replace to replace it.`,
      `${label} にはこの会話がすでにあります: ${place}。--replace で置き換えられます。`,
    )
}

/** @param holder the process that uses the file; by default the one that has it open for writing */
export function assertIdle(path: string, label: string, holder = findFileHolder(path, 'writing')): void {
  if (holder !== undefined)
    throw new AppError(
      'busy',
      `${label} (${holder}) has this session open: ${path}. Quit it and try again.`,
      `${label}（${holder}）がこの会話を開いています: ${path}。終了してから、もう一度お試しください。`,
    )
}

/** A line with images may have many megabytes. */
const TAIL_BYTES = [1 << 20, 1 << 23, 1 << 26]

/** The latest time at the beginning of the last lines, else that of the file. */
function lastTimeInTail(path: string): Instant | undefined {
  const fd = openRegularFile(path)
  try {
    const { size, mtime } = fstatSync(fd)
    for (const length of TAIL_BYTES) {
      const tail = readRange(fd, Math.max(0, size - length), Math.min(size, length)).toString('latin1')
      const times = Array.from(tail.matchAll(TIME), ([, stamp]) => toInstant(stamp)).filter(
        (time) => time !== undefined,
      )
      if (times.length > 0) return times.sort().at(-1)
      if (length >= size) break
    }
    return toInstant(mtime.toISOString())
  } finally {
    closeSync(fd)
  }
}

const TIME = /^\{(?:"type":"[a-z_]+",)?(?:"[a-zA-Z]+":(?:"[^"]*"|null),)*?"timestamp":"([^"]+)"/gm

const MAX_HEADER_BYTES = 8_000_000
const CHUNK_BYTES = 65_536

/** The first line of a written file. */
export function readFirstRecord(file: string): Fields | undefined {
  const fd = openRegularFile(file)
  try {
    const pieces: Buffer[] = []
    for (let at = 0; at < MAX_HEADER_BYTES; at += CHUNK_BYTES) {
      const read = readRange(fd, at, CHUNK_BYTES)
      const end = read.indexOf(10)
      pieces.push(end < 0 ? read : read.subarray(0, end))
      if (end >= 0 || read.length === 0) break
    }
    return fieldsOf(parseStructure(Buffer.concat(pieces).toString()))
  } finally {
    closeSync(fd)
  }
}

export const notASession = (file: string, label: string): AppError =>
  new AppError(
    'nothing_readable',
    `${file} does not start like a session of ${label}.`,
    `${file} の先頭が ${label} の会話の形をしていません。`,
  )
