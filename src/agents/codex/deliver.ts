/** Puts a log where Codex finds it: below `sessions`, under the name that Codex would give it. */

import { appendFileSync, closeSync, constants, ftruncateSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isCompressed } from '../../lib/files/file-bytes.ts'
import { findFileHolder, isLockFileHeld } from '../../lib/files/file-holder.ts'
import { openRegularFile, refuseSpecialAt } from '../../lib/files/regular-file.ts'
import { isFile, listEntries, statOf } from '../../lib/files/safe-fs.ts'
import { fieldsOf, nonEmptyStringOf } from '../../lib/unknown-values.ts'
import { AppError } from '../../model/error.ts'
import { toInstant } from '../../model/ids.ts'
import type { DeliverOptions, Delivery, DeliveryWarning, HostEnvironment } from '../agent.ts'
import {
  assertHome,
  deliverFile,
  type FileDelivery,
  notASession,
  readFirstRecord,
  undoOnError,
} from '../kit/deliver-file.ts'
import { AGENT_ID, findThreadLog, roots, SESSION_NAMES_FILE } from './find.ts'

const LABEL = 'Codex'

export async function deliver(file: string, options: DeliverOptions): Promise<Delivery> {
  const home = roots(options.environment)[0] ?? ''
  assertHome(LABEL, home)
  const { id, at } = readHeader(file)
  const existing = existingThreadLog(home, id)
  if (existing !== undefined) assertUncompressed(existing)
  const path = join(home, 'sessions', ...dateFolders(at), logFileName(id, at))
  const thread = { id, home }
  const target: FileDelivery = {
    ...{ agent: AGENT_ID, label: LABEL, home, existing, path },
    warnings: warningsFor(id, home, options),
    assertIdle: (used) => assertNotInUse(used, thread),
    writeBeside: () => nameThread(thread, options),
  }
  return deliverFile(file, target, options)
}

interface ThreadTarget {
  readonly id: string
  readonly home: string
}

/** Reads the session's header from the first line. */
function readHeader(file: string): { readonly id: string; readonly at: Date } {
  const line = readFirstRecord(file)
  const payload = fieldsOf(line?.['payload'])
  const id = nonEmptyStringOf(payload?.['id'])
  const at = toInstant(payload?.['timestamp'])
  if (line?.['type'] !== 'session_meta' || id === undefined || at === undefined) throw notASession(file, LABEL)
  return { id, at: new Date(at) }
}

function existingThreadLog(home: string, id: string): string | undefined {
  const path = findThreadLog({ agent: AGENT_ID, path: home, root: home }, id.toLowerCase(), true)
  return path !== undefined && isFile(path) ? path : undefined
}

function assertUncompressed(path: string): void {
  if (isCompressed(path))
    throw new AppError(
      'bad_usage',
      `Codex already has this session, compressed: ${path}. Continue that one.`,
      `Codex にはこの会話が圧縮された形ですでにあります: ${path}。その会話を続けてください。`,
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
