/** Puts a log where Codex finds it: below `sessions`, under the name that Codex would give it. */

import { appendFileSync, closeSync, constants, fstatSync, ftruncateSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { copyFileAtomically } from '../../lib/files/atomic-file.ts'
import { isCompressed, readRange } from '../../lib/files/file-bytes.ts'
import { findFileHolder, isLockFileHeld } from '../../lib/files/file-holder.ts'
import { openRegularFile, refuseSpecialAt } from '../../lib/files/regular-file.ts'
import { isFile, isFolder, listEntries, statOf } from '../../lib/files/safe-fs.ts'
import { fieldsOf, nonEmptyStringOf, parseStructure } from '../../lib/unknown-values.ts'
import { AppError } from '../../model/error.ts'
import { type Instant, toInstant } from '../../model/ids.ts'
import type { DeliverOptions, Delivery, DeliveryWarning, HostEnvironment } from '../agent.ts'
import { assertUnchanged, fileFingerprint, withWriteErrors } from '../kit/source-file.ts'
import { AGENT_ID, findThreadLog, roots, SESSION_NAMES_FILE } from './find.ts'

export async function deliver(file: string, options: DeliverOptions): Promise<Delivery> {
  const home = roots(options.environment)[0] ?? ''
  if (!isFolder(home))
    throw new AppError(
      'not_found',
      `${home} does not exist: Codex has not been used on this machine yet.`,
      `${home} がありません。このマシンではまだ Codex が使われていません。`,
    )
  const { id, at } = readHeader(file)
  const before = existingThreadLog(home, id)
  if (before !== undefined) assertReplaceable(before, options)
  if (before !== undefined) assertNotInUse(before, { id, home })
  const path = before ?? join(home, 'sessions', ...dateFolders(at), logFileName(id, at))
  const source = { agent: AGENT_ID, path, root: home }
  const delivery = {
    source,
    isReplacement: before !== undefined,
    repairs: [],
    warnings: warningsFor(id, home, options),
  }
  if (options.isDry) return { ...delivery, undo: async () => {} }
  return { ...delivery, ...withWriteErrors(path, () => placeLog(file, path, before, { id, home }, options)) }
}

interface ThreadTarget {
  readonly id: string
  readonly home: string
}

function placeLog(
  file: string,
  path: string,
  before: string | undefined,
  thread: ThreadTarget,
  options: DeliverOptions,
): Pick<Delivery, 'undo'> {
  const copy = before === undefined ? undefined : options.backup.file(before)
  if (before !== undefined) assertNotInUse(before, thread)
  copyFileAtomically(file, path)
  const fingerprint = fileFingerprint(path)
  const rollBack = (): void => (copy === undefined ? rmSync(path) : copyFileAtomically(copy, path))
  const undoName = undoOnError(rollBack, () => nameThread(thread, options))
  return {
    undo: async () =>
      withWriteErrors(path, () => {
        assertUnchanged(path, fingerprint)
        assertNotInUse(path, thread)
        rollBack()
        undoName()
      }),
  }
}

/** Rolls back before it rethrows. */
function undoOnError<T>(rollBack: () => void, work: () => T): T {
  try {
    return work()
  } catch (error) {
    rollBack()
    throw error
  }
}

/** Reads the session's header from the first line. */
function readHeader(file: string): { readonly id: string; readonly at: Date } {
  const line = fieldsOf(parseStructure(firstLine(file)))
  const payload = fieldsOf(line?.['payload'])
  const id = nonEmptyStringOf(payload?.['id'])
  const at = toInstant(payload?.['timestamp'])
  if (line?.['type'] !== 'session_meta' || id === undefined || at === undefined)
    throw new AppError(
      'nothing_readable',
      `${file} does not start like a Codex log.`,
      `${file} の先頭が Codex のログの形をしていません。`,
    )
  return { id, at: new Date(at) }
}

/** Headers contain instructions, which may be long. */
const MAX_HEADER_BYTES = 8_000_000
const CHUNK_BYTES = 65_536

function firstLine(file: string): string {
  const fd = openRegularFile(file)
  try {
    const pieces: Buffer[] = []
    for (let at = 0; at < MAX_HEADER_BYTES; at += CHUNK_BYTES) {
      const read = readRange(fd, at, CHUNK_BYTES)
      const end = read.indexOf(10)
      pieces.push(end < 0 ? read : read.subarray(0, end))
      if (end >= 0 || read.length === 0) break
    }
    return Buffer.concat(pieces).toString()
  } finally {
    closeSync(fd)
  }
}

function existingThreadLog(home: string, id: string): string | undefined {
  const path = findThreadLog({ agent: AGENT_ID, path: home, root: home }, id.toLowerCase(), true)
  return path !== undefined && isFile(path) ? path : undefined
}

function assertReplaceable(path: string, { lastAt, mayReplace }: DeliverOptions): void {
  if (isCompressed(path))
    throw new AppError(
      'bad_usage',
      `Codex already has this session, compressed: ${path}. Continue that one.`,
      `Codex にはこの会話が圧縮された形ですでにあります: ${path}。その会話を続けてください。`,
    )
  const lastTime = lastMessageTime(path)
  if (lastTime !== undefined && (lastAt === undefined || lastTime > lastAt))
    throw new AppError(
      'busy',
      `Codex has a newer version of this session (${lastTime}): ${path}. Continue that one.`,
      `Codex で ${lastTime} に続きが進んでいます。${path} のほうが新しいので、その会話を続けてください。`,
    )
  if (!mayReplace)
    throw new AppError(
      'bad_usage',
      `Codex already has this session: ${path}. Pass --replace to replace it.`,
      `Codex にはこの会話がすでにあります: ${path}。--replace で置き換えられます。`,
    )
}

/**
 * If Codex has the thread open, it continues writing to the old file, and what it adds after a replacement is lost.
 * Versions from 0.166 hold a lock; earlier ones only keep the log open.
 */
function assertNotInUse(path: string, { id, home }: ThreadTarget): void {
  const lock = join(home, 'thread-writer-locks', `${id.toLowerCase()}.lock`)
  const holder = findFileHolder(lock, 'open') ?? findFileHolder(path, 'writing')
  if (holder === undefined && !isLockFileHeld(lock)) return
  const [who, by] = holder === undefined ? ['', ''] : [` (${holder})`, `（${holder}）`]
  const [left, leftJa] =
    holder === undefined
      ? [` If Codex is not running, delete ${lock}.`, `Codex が動いていない場合は ${lock} を削除してください。`]
      : ['', '']
  throw new AppError(
    'busy',
    `Codex${who} has this session open: ${path}. Quit Codex, run codex app-server daemon stop, and try again.${left}`,
    `Codex${by}がこの会話を開いています: ${path}。Codex を終了し、codex app-server daemon stop を実行してから、もう一度お試しください。${leftJa}`,
  )
}

/** Throws `busy` while Codex uses the log at this path. */
export function assertLogIdle(path: string, environment: HostEnvironment): void {
  const id = THREAD_ID_IN_NAME.exec(path)?.[1]
  const home = roots(environment).find((root) => path.startsWith(root))
  if (id !== undefined && home !== undefined) assertNotInUse(path, { id, home })
}

const THREAD_ID_IN_NAME = /([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\.jsonl(?:\.zst)?$/i

/** Time of the last line, or of the file if the last line is too long. */
function lastMessageTime(path: string): Instant | undefined {
  const fd = openRegularFile(path)
  try {
    const { size, mtime } = fstatSync(fd)
    // A line with images may have many megabytes.
    for (let length = CHUNK_BYTES * 16; length <= MAX_TAIL_BYTES; length *= 8) {
      const tail = readRange(fd, Math.max(0, size - length), Math.min(size, length))
      const stamps = [...tail.toString('latin1').matchAll(/^\{"timestamp":"([^"]+)"/gm)]
      const last = toInstant(stamps.at(-1)?.[1])
      if (last !== undefined || length >= size) return last
    }
    return toInstant(mtime.toISOString())
  } finally {
    closeSync(fd)
  }
}

const MAX_TAIL_BYTES = CHUNK_BYTES * 16 * 8 * 8

/** Codex names folders and files in local time. */
const dateFolders = (at: Date): readonly string[] => [
  String(at.getFullYear()),
  twoDigits(at.getMonth() + 1),
  twoDigits(at.getDate()),
]

function logFileName(id: string, at: Date): string {
  const clock = [at.getHours(), at.getMinutes(), at.getSeconds()].map(twoDigits).join('-')
  return `rollout-${dateFolders(at).join('-')}T${clock}-${id}.jsonl`
}

const twoDigits = (number: number): string => String(number).padStart(2, '0')

/** Codex uses the last line that names a thread. Returns the undo. */
function nameThread({ id, home }: ThreadTarget, { title, now }: DeliverOptions): () => void {
  if (title === undefined) return () => {}
  const path = join(home, SESSION_NAMES_FILE)
  refuseSpecialAt(path)
  const before = isFile(path) ? statSync(path).size : 0
  const line = JSON.stringify({ id, thread_name: title, updated_at: now.toISOString() })
  const rollBack = (): void => {
    const size = isFile(path) ? statSync(path).size : 0
    if (size > before && size - before <= Buffer.byteLength(line)) truncateFile(path, before)
  }
  undoOnError(rollBack, () => appendFileSync(path, `${line}\n`, { mode: 0o600 }))
  const after = statSync(path).size
  return () => {
    if (statOf(path)?.size !== after) return
    if (before === 0) rmSync(path)
    else truncateFile(path, before)
  }
}

function truncateFile(path: string, size: number): void {
  const fd = openRegularFile(path, constants.O_RDWR)
  try {
    ftruncateSync(fd, size)
  } finally {
    closeSync(fd)
  }
}

/** Some versions look for sessions in a database of their own, which only they can write. */
function warningsFor(id: string, home: string, { environment }: DeliverOptions): readonly DeliveryWarning[] {
  const name = listEntries(sqliteHome(environment) ?? home).find((entry) =>
    /^state_\d+\.sqlite$/.test(entry.name),
  )?.name
  if (name === undefined) return []
  return [
    {
      code: 'unlisted',
      what: `Codex lists sessions from ${name}, which does not know this one yet. Versions that look nowhere else do not show it in their list; codex resume ${id} finds it in all others.`,
      what_ja: `Codex は会話の一覧を ${name} から作りますが、この会話はまだそこにありません。版によっては一覧に出ませんが、codex resume ${id} で開けます。`,
    },
  ]
}

const sqliteHome = ({ variables }: HostEnvironment): string | undefined =>
  nonEmptyStringOf(variables['CODEX_SQLITE_HOME'])
