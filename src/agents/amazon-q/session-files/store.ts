/** Where Kiro CLI 2 and Kiro's later versions keep sessions as files. */
import { basename, dirname, join, posix, win32 } from 'node:path'
import { findFilesBelow, isFile, listEntries, readHead } from '../../../lib/files/safe-fs.ts'
import { nonEmptyStringOf } from '../../../lib/unknown-values.ts'
import type { FileTest } from '../../../model/folder-search.ts'
import { phrase } from '../../../model/phrase.ts'
import type { FileDescription, HostEnvironment, Source } from '../../agent.ts'
import { originalPathOf } from '../../kit/place-message.ts'
import { beginsWithRecord, probeFile } from '../../kit/source-file.ts'
import { KIRO } from '../stores.ts'
import { isEvent, isPlainMessage } from './event.ts'
import { isEntry } from './record.ts'

export const kiroHome = ({ platform, home, variables }: HostEnvironment): string =>
  nonEmptyStringOf(variables['KIRO_HOME']) ?? (platform === 'win32' ? win32 : posix).join(home, '.kiro')

/** One folder per engine: `cli` for version 2, and one for each workspace for version 3. */
export const sessionsFolder = (environment: HostEnvironment): string => join(kiroHome(environment), 'sessions')

const EVENTS = 'messages.jsonl'
const SESSION = 'session.json'

export const SESSION_SUFFIX = /\.jsonl(?:\.zst)?$/i

/** A journal of version 2, or the events of version 3; somebody may have compressed it. Also before the file exists. */
export const isSessionFile = (path: string): boolean => SESSION_SUFFIX.test(path)

const isEventsFile = (path: string): boolean => basename(path).replace(/\.zst$/i, '') === EVENTS

/** The file that Kiro rewrites with each turn, next to the one to which it appends. */
export const sidecarOf = (path: string): string =>
  isEventsFile(path) ? join(dirname(path), SESSION) : path.replace(SESSION_SUFFIX, '.json')

/** The id of a session is the name of its file, or of its folder. */
export const idInPath = (path: string): string =>
  isEventsFile(path) ? basename(dirname(path)) : basename(path).replace(SESSION_SUFFIX, '')

/** The journal of another session of version 2, in the same folder: the id may be anything. */
export const siblingJournal = (path: string, id: string): string => join(dirname(path), `${win32.basename(id)}.jsonl`)

/** The source that a file belongs to. */
export const sessionAt = (path: string): Source => ({ agent: KIRO, path: journalOfSidecar(path) ?? path })

export const SESSIONS: FileTest = {
  names: /\.jsonl$/i,
  accepts: (path, head) => !isPartOfSession(path) && recognizeSession(head(), path),
}

/** Files of agents that a session started, whose form is not known, and an index of all sessions. */
const isPartOfSession = (path: string): boolean => /[\\/](?:sub-executions|session-index)[\\/]/.test(path)

/** Undefined unless the file describes a session whose journal is beside it. */
function journalOfSidecar(path: string): string | undefined {
  if (!/\.json$/i.test(path)) return undefined
  const journal = basename(path) === SESSION ? join(dirname(path), EVENTS) : `${path}l`
  return isFile(journal) && recognizeSession(readHead(journal), journal) ? journal : undefined
}

export const isSidecar = (head: Uint8Array, path: string): boolean =>
  /^\s*\{\s*"(?:session_id|id|schemaVersion)"\s*:/.test(Buffer.from(head).toString('utf8', 0, 64)) &&
  journalOfSidecar(path) !== undefined

/** Messages without an envelope may be of any program. */
const isEventsPath = (path: string): boolean => basename(path) === EVENTS && basename(dirname(path)).startsWith('sess_')

/** For a first line that is longer than the head. */
const OPENING = /^\{"version":"v1","kind":"[A-Z][A-Za-z]+"(?:,"data":\{|\})/

export function recognizeSession(head: Uint8Array, path: string): boolean {
  const mayBePlain = isEventsPath(path)
  const hint = mayBePlain ? /"(?:kind|payload|role)"/ : /"(?:kind|payload)"/
  return beginsWithRecord(
    head,
    hint,
    OPENING,
    (record) => isEntry(record) || isEvent(record) || (mayBePlain && isPlainMessage(record)),
  )
}

export function describeSession(head: Uint8Array, path: string): FileDescription | undefined {
  if (!recognizeSession(head, path)) return isSidecar(head, path) ? SIDECAR : undefined
  const [line = ''] = Buffer.from(head).toString('utf8').split('\n', 1)
  return OPENING.test(line) || /"kind"/.test(line) ? JOURNAL : EVENTS_OF_3
}

const SIDECAR: FileDescription = {
  format: 'description of a session',
  why: phrase('a journal of the same name', '同じ名前の記録ファイル'),
}
const JOURNAL: FileDescription = {
  format: 'session of version 2',
  why: phrase('lines with version, kind and data', 'version・kind・data を持つ行'),
}
const EVENTS_OF_3: FileDescription = {
  format: 'session of version 3',
  why: phrase('lines with id, timestamp and payload', 'id・timestamp・payload を持つ行'),
}

/** Ids of the sessions of version 2 in a folder. */
export const journalIdsIn = (sessions: string): ReadonlySet<string> =>
  new Set(listEntries(join(sessions, 'cli')).flatMap(({ name }) => (/\.jsonl$/i.test(name) ? [name.slice(0, -6)] : [])))

export async function probeSession(source: Source): Promise<string | undefined> {
  const own = await probeFile(source)
  if (own === undefined) return undefined
  const beside = await probeFile({ path: sidecarOf(originalPathOf(source)) })
  return beside === undefined ? own : `${own}+${beside}`
}

const STORED_BESIDE: readonly string[] = ['.json', '.history']

/** What is backed up with a session. A lock belongs to a process. */
export function* sideFiles({ path }: Source): Generator<string> {
  if (isEventsFile(path)) {
    for (const file of findFilesBelow(dirname(path), /./))
      if (file !== path && !/\.lock$|[\\/]publish\.cursor$/.test(file)) yield file
  } else
    for (const suffix of STORED_BESIDE) {
      const file = path.replace(SESSION_SUFFIX, suffix)
      if (isFile(file)) yield file
    }
}
