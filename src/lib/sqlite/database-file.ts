/** A database as a file, without opening it with SQLite: header, fingerprint, and the problems it can have. */
import { closeSync, fstatSync, readSync, realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { STORE_PROBLEMS } from '../../model/code-texts.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import { openRegularFile, specialKindOf } from '../files/regular-file.ts'

export interface SqliteHeader {
  readonly inode: bigint
  readonly size: bigint
  readonly modifiedNs: bigint
  readonly journal: 'rollback' | 'wal'
  /** Counts commits, except in WAL mode. */
  readonly commits: number
  readonly expectedSize: bigint
}

const MAGIC = Buffer.from('SQLite format 3\0', 'latin1')
const HEADER_BYTES = 100

export const isSqliteFile = (head: Uint8Array): boolean => MAGIC.equals(head.subarray(0, MAGIC.length))

/** The database and its companion files, with links resolved. */
export interface DatabaseFiles {
  readonly main: string
  readonly wal: string
  readonly shm: string
  readonly journal: string
}

export function databaseFilesAt(path: string): DatabaseFiles {
  const main = realPath(path)
  return { main, wal: `${main}-wal`, shm: `${main}-shm`, journal: `${main}-journal` }
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return resolve(path)
  }
}

export function readSqliteHeader(path: string): DatabaseOutcome<SqliteHeader> {
  try {
    const stat = statSync(path, { bigint: true })
    if (specialKindOf(stat)) return databaseFailure('special')
    if (!stat.isFile()) return databaseFailure('not_a_database')
    const bytes = readFirstBytes(path, stat)
    if (bytes.length === 0) return databaseFailure('empty')
    if (!isSqliteFile(bytes)) return databaseFailure('not_a_database')
    if (bytes.length < HEADER_BYTES) return databaseFailure('cut_short')
    return { ok: true, value: parseHeader(bytes, stat) }
  } catch (error) {
    closeDescriptor(path)
    return { ok: false, problem: databaseProblemOf(error) }
  }
}

function parseHeader(bytes: Buffer, stat: FileIdentity): SqliteHeader {
  const pageSize = bytes.readUInt16BE(16) === 1 ? 65_536 : bytes.readUInt16BE(16)
  const commits = bytes.readUInt32BE(24)
  const pages = bytes.readUInt32BE(92) === commits ? bytes.readUInt32BE(28) : 0
  return {
    inode: stat.ino,
    size: stat.size,
    modifiedNs: stat.mtimeNs,
    journal: bytes[18] === 2 || bytes[19] === 2 ? 'wal' : 'rollback',
    commits,
    expectedSize: BigInt(pages) * BigInt(pageSize),
  }
}

interface FileIdentity {
  readonly dev: bigint
  readonly ino: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
}

interface OpenDescriptor {
  readonly fd: number
  readonly dev: bigint
  readonly ino: bigint
}

/**
 * Closing any descriptor of a file drops all POSIX locks of this process on it, including SQLite's in the middle of a
 * read. So descriptors stay open until the file is replaced or many others were opened. Nothing else in this process
 * may open and close a database that may be in use. On Windows, locks belong to descriptors, and an open one blocks the
 * owner.
 */
const openDescriptors = new Map<string, OpenDescriptor>()
const MAX_OPEN_DESCRIPTORS = 64
const CACHES_DESCRIPTORS = process.platform !== 'win32'

function readFirstBytes(path: string, stat: FileIdentity): Buffer {
  const known = openDescriptors.get(path)
  if (known && known.dev === stat.dev && known.ino === stat.ino) {
    storeDescriptor(path, known)
    return readHeaderBytes(known.fd)
  }
  closeDescriptor(path)
  const fd = openRegularFile(path)
  const bytes = readHeaderBytes(fd)
  const { dev, ino } = fstatSync(fd, { bigint: true })
  if (CACHES_DESCRIPTORS && isSqliteFile(bytes)) storeDescriptor(path, { fd, dev, ino })
  else closeSync(fd)
  return bytes
}

function readHeaderBytes(fd: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES)
  return bytes.subarray(0, readSync(fd, bytes, 0, HEADER_BYTES, 0))
}

/** Keeps the most recently used last. */
function storeDescriptor(path: string, one: OpenDescriptor): void {
  openDescriptors.delete(path)
  openDescriptors.set(path, one)
  for (const oldest of openDescriptors.keys()) {
    if (openDescriptors.size <= MAX_OPEN_DESCRIPTORS) return
    closeDescriptor(oldest)
  }
}

function closeDescriptor(path: string): void {
  const known = openDescriptors.get(path)
  if (!known) return
  openDescriptors.delete(path)
  closeSync(known.fd)
}

export interface DatabaseFileState {
  /** Undefined if there is no database. */
  readonly fingerprint: string | undefined
  /** Counts commits in rollback mode, shortly before each is complete. */
  readonly commits: number | undefined
  /** In rollback mode: from the first change of a transaction to its end, or after a crash in between. */
  readonly inTransaction: boolean
}

/**
 * Equal fingerprints mean no commit in between. Take it before reading. It may change without a commit (checkpoint,
 * rollback). In WAL mode, two commits within one clock tick of the file system may look alike.
 */
export const databaseFingerprint = (path: string): string | undefined =>
  readFingerprint(databaseFilesAt(path)).fingerprint

export function readDatabaseFileState(path: string): DatabaseFileState {
  const files = databaseFilesAt(path)
  return { ...readFingerprint(files), inTransaction: isJournalActive(files.journal) }
}

function readFingerprint({ main, wal }: DatabaseFiles): Pick<DatabaseFileState, 'fingerprint' | 'commits'> {
  const header = readSqliteHeader(main)
  const commits = header.ok ? header.value.commits : undefined
  const file = fileStampOf(main)
  return { fingerprint: file && [file, commits?.toString(36), fileStampOf(wal)].join('.'), commits }
}

function fileStampOf(path: string): string | undefined {
  try {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
    return stat && [stat.ino, stat.size, stat.mtimeNs].map((one) => one.toString(36)).join('-')
  } catch {
    return undefined
  }
}

/** Instead of deleting its journal, an owner may empty it or fill its beginning with zeros. */
function isJournalActive(journal: string): boolean {
  let fd: number | undefined
  try {
    fd = openRegularFile(journal)
    const first = Buffer.alloc(1)
    return readSync(fd, first, 0, 1, 0) === 1 && first[0] !== 0
  } catch {
    return false
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

export type DatabaseProblemKind = keyof typeof STORE_PROBLEMS

export interface DatabaseProblem {
  readonly kind: DatabaseProblemKind
  /** Never contains a row's content. */
  readonly reason: Phrase
}

export type DatabaseOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: DatabaseProblem }

export const toDatabaseProblem = (kind: DatabaseProblemKind, detail?: string): DatabaseProblem => {
  const { en, ja } = STORE_PROBLEMS[kind]
  return { kind, reason: detail === undefined ? { en, ja } : phrase(`${en} (${detail})`, `${ja}（${detail}）`) }
}

export const databaseFailure = (
  kind: DatabaseProblemKind,
): { readonly ok: false; readonly problem: DatabaseProblem } => ({
  ok: false,
  problem: toDatabaseProblem(kind),
})

/** Errors of the environment, by SQLite code (with its extended ones) or system code. */
const KIND_BY_CODE: readonly (readonly [code: RegExp, kind: DatabaseProblemKind])[] = [
  [/^(?:ENOENT|ENOTDIR)$/, 'missing'],
  [/^SQLITE_NOTADB$|^EISDIR$/, 'not_a_database'],
  [/^EFTYPE$/, 'special'],
  // A damaged record may claim an impossible size.
  [/^SQLITE_(?:CORRUPT|TOOBIG)/, 'corrupt'],
  [/^SQLITE_(?:BUSY|LOCKED|PROTOCOL|SCHEMA)|^EBUSY$/, 'busy'],
  [/^SQLITE_(?:PERM|READONLY)|^(?:EACCES|EPERM|EROFS)$/, 'no_permission'],
  [/^SQLITE_FULL$|^(?:ENOSPC|EDQUOT)$/, 'no_room'],
  [/^SQLITE_(?:IOERR|CANTOPEN)|^(?:EIO|ESTALE|ELOOP|ENAMETOOLONG|ENOTCONN|EHOSTDOWN|ETIMEDOUT)$/, 'unreadable'],
]

const SCHEMA_MISMATCH = /^no such (?:table|column|module|function|collation)/

/** Rethrows any other error. */
export function databaseProblemOf(error: unknown): DatabaseProblem {
  const code = sqliteCodeOf(error)
  if (code === 'SQLITE_ERROR' && error instanceof Error && SCHEMA_MISMATCH.test(error.message))
    return toDatabaseProblem('other_schema', error.message)
  const kind = KIND_BY_CODE.find(([pattern]) => pattern.test(code))?.[1]
  if (!kind) throw error
  return toDatabaseProblem(kind, kind === 'unreadable' ? code : undefined)
}

export function sqliteCodeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : ''
}
