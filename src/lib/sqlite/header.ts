/** What the first bytes of a database tell, read without taking a lock and without losing one. */
import { closeSync, fstatSync, readSync, realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { openRegular, specialKindOf } from '../files/regular-file.ts'
import { failed, type Outcome, problemOf } from './problem.ts'

export interface Header {
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
const LENGTH = 100

export const isSqliteFile = (head: Uint8Array): boolean => MAGIC.equals(head.subarray(0, MAGIC.length))

/** The database and what SQLite puts beside it: beside the file itself, where the path is a link. */
export interface Files {
  readonly main: string
  readonly wal: string
  readonly shm: string
  readonly journal: string
}

export function filesAt(path: string): Files {
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

export function readHeader(path: string): Outcome<Header> {
  try {
    const stat = statSync(path, { bigint: true })
    if (specialKindOf(stat)) return failed('special')
    if (!stat.isFile()) return failed('not_a_database')
    const bytes = firstBytes(path, stat)
    if (bytes.length === 0) return failed('empty')
    if (!isSqliteFile(bytes)) return failed('not_a_database')
    if (bytes.length < LENGTH) return failed('cut_short')
    return { ok: true, value: headerOf(bytes, stat) }
  } catch (error) {
    forget(path)
    return { ok: false, problem: problemOf(error) }
  }
}

function headerOf(bytes: Buffer, stat: Identity): Header {
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

interface Identity {
  readonly dev: bigint
  readonly ino: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
}

interface Kept {
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
const kept = new Map<string, Kept>()
const MOST_KEPT = 64
const KEEPS = process.platform !== 'win32'

function firstBytes(path: string, stat: Identity): Buffer {
  const known = kept.get(path)
  if (known && known.dev === stat.dev && known.ino === stat.ino) {
    keep(path, known)
    return readFrom(known.fd)
  }
  forget(path)
  const fd = openRegular(path)
  const bytes = readFrom(fd)
  const { dev, ino } = fstatSync(fd, { bigint: true })
  if (KEEPS && isSqliteFile(bytes)) keep(path, { fd, dev, ino })
  else closeSync(fd)
  return bytes
}

function readFrom(fd: number): Buffer {
  const bytes = Buffer.alloc(LENGTH)
  return bytes.subarray(0, readSync(fd, bytes, 0, LENGTH, 0))
}

/** The one that was looked at last comes last. */
function keep(path: string, one: Kept): void {
  kept.delete(path)
  kept.set(path, one)
  for (const oldest of kept.keys()) {
    if (kept.size <= MOST_KEPT) return
    forget(oldest)
  }
}

function forget(path: string): void {
  const known = kept.get(path)
  if (!known) return
  kept.delete(path)
  closeSync(known.fd)
}
