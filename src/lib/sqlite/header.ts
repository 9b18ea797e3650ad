/** What the first bytes of a database tell, read without taking a lock and without losing one. */
import { closeSync, fstatSync, readSync, realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { openRegularFile, specialKindOf } from '../files/regular-file.ts'
import { type DatabaseOutcome, databaseFailure, databaseProblemOf } from './database-problem.ts'

export interface SqliteHeader {
  readonly inode: bigint
  readonly size: bigint
  readonly modifiedNs: bigint
  readonly journal: 'rollback' | 'wal'
  /** The owner adds one with each commit, but in WAL mode. */
  readonly commits: number
  /** What the file's length should be, where the header says. */
  readonly expectedSize: bigint
}

const MAGIC = Buffer.from('SQLite format 3\0', 'latin1')
const HEADER_BYTES = 100

export const isSqliteFile = (head: Uint8Array): boolean => MAGIC.equals(head.subarray(0, MAGIC.length))

/** The database and what SQLite puts beside it: beside the file itself, where the path is a link. */
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
 * Closing any descriptor of a file drops all POSIX locks that this process holds on it, in whatever thread: SQLite's
 * too, in the middle of a read. So the descriptor of a database stays open until the file is gone or replaced, or many
 * others were looked at. Nothing else in this process may open and close a database while it may be read.
 * On Windows locks belong to a descriptor, and an open one stands in the way of its owner.
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

/** The one that was looked at last comes last. */
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
