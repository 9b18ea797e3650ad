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
}

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
  const { agent, home, existing, label } = target
  if (existing !== undefined) assertReplaceable(existing, label, options)
  if (existing !== undefined) assertIdle(existing, label)
  const path = existing ?? target.path
  const delivery = {
    source: { agent, path, root: home },
    isReplacement: existing !== undefined,
    repairs: [],
    warnings: target.warnings ?? [],
  }
  if (options.isDry) return { ...delivery, undo: async () => {} }
  const copy = existing === undefined ? undefined : options.backup.file(existing)
  return withWriteErrors(path, () => {
    copyFileAtomically(file, path)
    const fingerprint = fileFingerprint(path)
    const undo = async (): Promise<void> =>
      withWriteErrors(path, () => {
        assertUnchanged(path, fingerprint)
        assertIdle(path, label)
        if (copy === undefined) rmSync(path)
        else copyFileAtomically(copy, path)
      })
    return { ...delivery, undo }
  })
}

function assertReplaceable(path: string, label: string, { lastAt, mayReplace }: DeliverOptions): void {
  const lastTime = lastTimeIn(path)
  if (lastTime !== undefined && (lastAt === undefined || lastTime > lastAt))
    throw new AppError(
      'busy',
      `${label} has a newer version of this session (${lastTime}): ${path}. Continue that one.`,
      `${label} で ${lastTime} に続きが進んでいます。${path} のほうが新しいので、その会話を続けてください。`,
    )
  if (!mayReplace)
    throw new AppError(
      'bad_usage',
      `${label} already has this session: ${path}. Pass --replace to replace it.`,
      `${label} にはこの会話がすでにあります: ${path}。--replace で置き換えられます。`,
    )
}

export function assertIdle(path: string, label: string): void {
  const holder = findFileHolder(path, 'writing')
  if (holder !== undefined)
    throw new AppError(
      'busy',
      `${label} (${holder}) has this session open: ${path}. Quit it and try again.`,
      `${label}（${holder}）がこの会話を開いています: ${path}。終了してから、もう一度お試しください。`,
    )
}

const TAIL_BYTES = 1 << 20

/** The latest time in the last lines, else that of the file. */
function lastTimeIn(path: string): Instant | undefined {
  const fd = openRegularFile(path)
  try {
    const { size, mtime } = fstatSync(fd)
    const tail = readRange(fd, Math.max(0, size - TAIL_BYTES), Math.min(size, TAIL_BYTES)).toString('utf8')
    const stamps = tail.matchAll(/^\{(?:"type":"[a-z_]+",)?(?:"[a-zA-Z]+":(?:"[^"]*"|null),)*?"timestamp":"([^"]+)"/gm)
    const times = Array.from(stamps, ([, stamp]) => toInstant(stamp)).filter((time) => time !== undefined)
    return times.sort().at(-1) ?? toInstant(mtime.toISOString())
  } finally {
    closeSync(fd)
  }
}

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
