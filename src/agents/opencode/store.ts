/** Where OpenCode keeps its sessions, and which of several copies counts. */
import { stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, sep } from 'node:path'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { isFile, isFolder, listEntries } from '../../lib/files/safe-fs.ts'
import { isSystemError, systemErrorReason } from '../../lib/files/system-error.ts'
import { type DatabaseProblem, isSqliteFile } from '../../lib/sqlite/database-file.ts'
import { nonEmptyStringOf } from '../../lib/unknown-values.ts'
import type { FolderSearch } from '../../model/folder-search.ts'
import type { Issue, IssueCode } from '../../model/issue.ts'
import { phrase } from '../../model/phrase.ts'
import type { FileDescription, HostEnvironment, Source, SourceFingerprint } from '../agent.ts'
import { filesMatching } from '../kit/folder-search.ts'
import { pathOf } from '../kit/place-message.ts'
import type { RecordStore, StoredItem, StoredRecord } from '../kit/record-store.ts'
import { probeFile } from '../kit/source-file.ts'
import { documentTexts, startsLikeDocument } from './document.ts'
import { infoOf, isOpen, roleOf } from './record.ts'
import { recordOf } from './record-text.ts'
import { hasSessionTables, listSessions, sessionFingerprint, sessionTextsIn } from './rows.ts'
import type { SessionTexts } from './session-texts.ts'
import { filesOfSession, sessionFilesIn, sessionIdOf, treeFingerprint, treeTexts } from './tree.ts'

export const AGENT_ID = 'opencode'

/** The same folder on every system. */
export function dataFolder({ home, variables }: HostEnvironment): string {
  return join(nonEmptyStringOf(variables['XDG_DATA_HOME']) ?? join(home, '.local', 'share'), 'opencode')
}

const DEFAULT_DATABASE = 'opencode.db'
/** `opencode-<channel>.db` for other channels than the released ones. */
const DATABASE_NAME = /^opencode(?:-[\w.-]+)?\.db$/

/** Not the whole folder: it also holds snapshots of projects and copies of repositories. */
export function roots(environment: HostEnvironment): readonly string[] {
  const folder = dataFolder(environment)
  return [...stores(environment), join(folder, 'storage'), join(folder, 'project')]
}

function chosenDatabase(environment: HostEnvironment): string | undefined {
  const name = nonEmptyStringOf(environment.variables['OPENCODE_DB'])
  if (name === undefined || name === ':memory:') return undefined
  return isAbsolute(name) ? name : join(dataFolder(environment), name)
}

/** The database that the program uses. */
export const databaseOf = (environment: HostEnvironment): string =>
  chosenDatabase(environment) ?? join(dataFolder(environment), DEFAULT_DATABASE)

export function stores(environment: HostEnvironment): readonly string[] {
  return [...new Set([databaseOf(environment), ...databasesIn(dataFolder(environment))])]
}

/** Decides by the name: opening and closing the file would drop the locks of a read in progress. */
export const isDatabasePath = (path: string): boolean => /\.db$/i.test(path)

export function recognize(head: Uint8Array, path: string): boolean {
  if (isSqliteFile(head)) return DATABASE_NAME.test(basename(path)) || (isDatabasePath(path) && isOurs(path))
  return startsLikeDocument(head) || isSessionFile(head, path)
}

function isOurs(path: string): boolean {
  const found = hasSessionTables(path)
  return found.ok && found.value
}

const isSessionFile = (head: Uint8Array, path: string): boolean =>
  filesOfSession(path) !== undefined && /^\uFEFF?\s*\{/.test(Buffer.from(head).toString('utf8', 0, 16))

export const describe = (head: Uint8Array, path: string): FileDescription | undefined =>
  startsLikeDocument(head)
    ? { format: 'export', why: phrase('an `info` whose id begins with `ses`', '`ses` で始まる ID を持つ `info`') }
    : isSqliteFile(head) && recognize(head, path)
      ? { format: 'database', why: phrase('a database of OpenCode', 'OpenCode のデータベース') }
      : undefined

export async function* find(root: string, search?: FolderSearch): AsyncGenerator<Source> {
  if (!isFolder(root)) return yield* sourcesOf(root)
  const isWhole = isHome(root)
  const home = isWhole ? root : FILE_FOLDERS.has(basename(root)) && isHome(dirname(root)) ? dirname(root) : undefined
  if (home === undefined) return yield* otherSources(root, search)
  const known = new Set<string>()
  for (const source of databasesIn(home).flatMap(rowSources)) {
    if (source.key !== undefined) known.add(source.key)
    if (isWhole) yield { ...source, root }
  }
  // The files of earlier versions stay when their sessions were taken over into the database.
  for (const path of sessionFilesIn(home)) {
    const id = sessionIdOf(path)
    if (known.has(id)) continue
    known.add(id)
    if (isWhole || path.startsWith(root + sep)) yield { ...fileSource(path), root }
  }
}

const FILE_FOLDERS: ReadonlySet<string> = new Set(['storage', 'project'])

const databasesIn = (folder: string): readonly string[] =>
  listEntries(folder).flatMap(({ name }) => (DATABASE_NAME.test(name) ? [join(folder, name)] : []))

/** By what only OpenCode's folder contains. */
const isHome = (folder: string): boolean =>
  databasesIn(folder).length > 0 ||
  isFolder(join(folder, 'storage', 'session')) ||
  (basename(folder) === 'opencode' && isFolder(join(folder, 'project')))

const OTHER_NAMES = /\.(?:db|json)$/i

async function* otherSources(root: string, search: FolderSearch | undefined): AsyncGenerator<Source> {
  const accepts = (path: string, head: () => Uint8Array): boolean =>
    isDatabasePath(path) ? DATABASE_NAME.test(basename(path)) || isOurs(path) : recognize(head(), path)
  for await (const path of filesMatching(root, { names: OTHER_NAMES, accepts }, search))
    for (const source of sourcesOf(path)) yield { ...source, root }
}

function* sourcesOf(path: string): Generator<Source> {
  if (isDatabasePath(path)) yield* rowSources(path)
  else if (filesOfSession(path)) yield fileSource(path)
  else yield { agent: AGENT_ID, path }
}

/** A store that cannot be listed is yielded as a source, and reading it reports why. */
function rowSources(path: string): readonly Source[] {
  const listed = listSessions(path)
  if (!listed.ok) return listed.problem.kind === 'empty' ? [] : [{ agent: AGENT_ID, path }]
  return listed.value.map(({ id, fingerprint }) => ({ agent: AGENT_ID, path, key: id, fingerprint }))
}

const fileSource = (path: string): Source => ({ agent: AGENT_ID, path, key: sessionIdOf(path) })

export async function probe(source: Source): Promise<SourceFingerprint | undefined> {
  const { path, key } = source
  if (key === undefined && !isDatabasePath(path)) return probeFile(source)
  const file = await stat(path).catch(() => undefined)
  if (!file) return undefined
  if (!isDatabasePath(path)) return treeFingerprint(path)
  if (key === undefined) {
    const listed = listSessions(path)
    return `${listed.ok ? '' : `${listed.problem.kind}:`}${file.size}:${file.mtimeMs}:${file.ino}`
  }
  const found = sessionFingerprint(path, key)
  return found.ok ? found.value : `${found.problem.kind}:${file.size}:${file.mtimeMs}`
}

/** The session's texts, or why there are none. */
export function openTexts(source: Source): SessionTexts | { readonly issue: Issue } {
  const { path, key, bytes } = source
  if (bytes) return documentTexts(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))
  if (isDatabasePath(path)) {
    if (key !== undefined) return sessionTextsIn(path, key)
    const listed = listSessions(path)
    const reason = 'the database could not be listed before, and can be now; read it again'
    return { issue: listed.ok ? issueOf(source, 'changed_while_read', reason) : problemIssue(source, listed.problem) }
  }
  try {
    if (key !== undefined) return isFile(path) ? treeTexts(path) : { issue: goneIssue(source) }
    return documentTexts(readRegularFile(path))
  } catch (error) {
    if (!isSystemError(error)) throw error
    return { issue: issueOf(source, 'unreadable', systemErrorReason(error)) }
  }
}

const issueOf = (source: Source, code: IssueCode, reason: string): Issue => ({
  code,
  reason,
  path: pathOf(source),
  ...(source.key !== undefined && { key: source.key }),
})

const goneIssue = (source: Source): Issue =>
  issueOf(source, 'unreadable', 'the session is gone: its program deleted it')

const problemIssue = (source: Source, { kind, reason }: DatabaseProblem): Issue =>
  issueOf(source, kind === 'cut_short' ? 'cut_short' : 'unreadable', `${kind.replaceAll('_', ' ')}: ${reason.en}`)

export const isTexts = (opened: SessionTexts | { readonly issue: Issue }): opened is SessionTexts => 'header' in opened

export const recordStore: RecordStore = {
  records,
  recordAt(source, item) {
    const texts = openTexts(source)
    if (!isTexts(texts)) return undefined
    const found = item === 0 ? texts.header() : texts.messageAt(item)
    return found.ok && found.value ? (recordOf(found.value) ?? damagedRecord(found.value)) : undefined
  },
  isOpen,
  startsTurn: (record) => roleOf(record) === 'user',
  closing(header) {
    const { revert } = infoOf(header)
    return revert === undefined || revert === null ? undefined : { revert }
  },
}

function* records(source: Source): Generator<StoredItem> {
  const texts = openTexts(source)
  if (!isTexts(texts)) return yield { kind: 'issue', issue: texts.issue }
  const header = texts.header()
  if (!header.ok) return yield { kind: 'issue', issue: problemIssue(source, header.problem) }
  if (!header.value) return yield { kind: 'issue', issue: noSessionIssue(source) }
  const first = recordOf(header.value)
  if (!first) return yield { kind: 'issue', issue: issueOf(source, 'bad_json', 'not a session of OpenCode') }
  yield { kind: 'record', ...first }
  const messages = texts.messages()
  for (let number = 1; ; number++) {
    const { value, done } = messages.next()
    if (done) {
      if (value === 'cut_short')
        yield { kind: 'issue', issue: issueOf(source, value, 'it is cut short; what is whole was read') }
      else if (value) yield { kind: 'issue', issue: problemIssue(source, value) }
      return
    }
    const record = recordOf(value)
    yield { kind: 'record', ...(record ?? damagedRecord(value)) }
    if (!record)
      yield { kind: 'issue', issue: issueOf(source, 'bad_json', `message ${number} is not as OpenCode writes it`) }
  }
}

const noSessionIssue = (source: Source): Issue =>
  source.key === undefined || source.bytes
    ? issueOf(source, 'unknown_shape', 'JSON, but not a session of OpenCode')
    : goneIssue(source)

/** Keeps its place among the messages. */
const damagedRecord = (bytes: Buffer): StoredRecord => ({
  record: { info: {}, parts: [], unreadable: bytes.toString('utf8') },
  bytes,
})
