/** Puts a session where Kiro CLI 2 finds it: a journal and its description, under a new id or its own. */
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { writeFileAtomically } from '../../../lib/files/atomic-file.ts'
import { isRunning } from '../../../lib/files/file-holder.ts'
import { readRegularFile } from '../../../lib/files/regular-file.ts'
import { isFile, isFolder } from '../../../lib/files/safe-fs.ts'
import { sha256 } from '../../../lib/hash.ts'
import { type Fields, fieldsOf, numberOf, parseStructure } from '../../../lib/unknown-values.ts'
import { isUuid, UUID_PATTERN } from '../../../model/ids.ts'
import type { DeliverOptions, Delivery, HostEnvironment } from '../../agent.ts'
import {
  assertHome,
  assertIdle,
  deliverFile,
  type FileDelivery,
  notASession,
  readFirstRecord,
} from '../../kit/deliver-file.ts'
import { withWriteErrors } from '../../kit/source-file.ts'
import { KIRO } from '../stores.ts'
import { dataOf, isEntry } from './record.ts'
import { kiroHome, SESSION_SUFFIX, sessionsFolder, sidecarOf } from './store.ts'

const LABEL = 'Kiro CLI'

const folderOf = (environment: HostEnvironment): string => join(sessionsFolder(environment), 'cli')

/** Whether Kiro keeps its sessions as files on this machine. */
export const isSessionsHome = (environment: HostEnvironment): boolean => isFolder(folderOf(environment))

export async function deliverSession(file: string, options: DeliverOptions): Promise<Delivery> {
  const { environment, cwd, title, now } = options
  assertHome(LABEL, kiroHome(environment))
  const first = readFirstRecord(file)
  if (!first || !isEntry(first)) throw notASession(file, LABEL)
  const id = idFor(options.nativeId, first)
  const path = join(folderOf(environment), `${id}.jsonl`)
  const existing = isFile(path) ? path : undefined
  const sidecar = sidecarOf(path)
  const before = existing !== undefined && isFile(sidecar) ? readRegularFile(sidecar) : undefined
  const text = before ? movedSidecar(before, cwd) : newSidecar({ id, cwd, title, at: now.toISOString() })
  const target: FileDelivery = {
    ...{ agent: KIRO, label: LABEL, home: dirname(path), existing, path },
    assertIdle: assertNotInUse,
    writeBeside: () => writeSidecar(sidecar, text, before),
  }
  return deliverFile(file, target, options)
}

/** Returns the undo. */
function writeSidecar(path: string, text: string, before: Buffer | undefined): () => void {
  withWriteErrors(path, () => writeFileAtomically(path, [text], { mode: 0o600 }))
  return () => {
    if (before) writeFileAtomically(path, [before], { mode: 0o600 })
    else rmSync(path, { force: true })
  }
}

const UUID_AT_END = new RegExp(`(?:^|:)(${UUID_PATTERN})$`, 'i')

/** The same each time a conversation is handed over. */
function idFor(nativeId: string | undefined, first: Fields): string {
  const own = UUID_AT_END.exec(nativeId ?? '')?.[1]
  if (own !== undefined && isUuid(own)) return own
  const digest = sha256(`${nativeId ?? ''} ${String(dataOf(first)['message_id'])}`)
  return [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `4${digest.slice(13, 16)}`,
    `8${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ].join('-')
}

interface NewSession {
  readonly id: string
  readonly cwd: string
  readonly title: string | undefined
  readonly at: string
}

/** Kiro replaces a state that it cannot read by an empty one, but requires the field. */
const newSidecar = ({ id, cwd, title, at }: NewSession): string =>
  `${JSON.stringify({ session_id: id, cwd, created_at: at, updated_at: at, title: title ?? null, session_state: { version: 'v1' } }, null, 2)}\n`

/** As Kiro wrote it, in another directory. */
function movedSidecar(before: Buffer, cwd: string): string {
  const value = fieldsOf(parseStructure(before.toString('utf8')))
  return value ? `${JSON.stringify({ ...value, cwd }, null, 2)}\n` : before.toString('utf8')
}

/** Kiro notes its process while it has a session open. */
export function assertNotInUse(path: string): void {
  assertIdle(path, LABEL)
  const lock = path.replace(SESSION_SUFFIX, '.lock')
  if (!isFile(lock)) return
  const text = readRegularFile(lock).toString('utf8')
  const pid = numberOf(fieldsOf(parseStructure(text))?.['pid']) ?? Number(text.trim())
  if (Number.isInteger(pid) && pid > 0 && isRunning(pid)) assertIdle(path, LABEL, String(pid))
}
