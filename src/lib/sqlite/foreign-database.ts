/** Reads databases of other programs, which may be running, without changing any of their files. */
import { type BigIntStats, chmodSync, constants, copyFileSync, existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { processNameOf } from '../files/file-holder.ts'
import { refuseSpecialAt } from '../files/regular-file.ts'
import { createTempFolderOrThrow } from '../files/temp-files.ts'
import {
  type DatabaseFiles,
  type DatabaseOutcome,
  databaseFailure,
  databaseFilesAt,
  databaseProblemOf,
  readSqliteHeader,
  type SqliteHeader,
  sqliteCodeOf,
  toDatabaseProblem,
} from './database-file.ts'
import { type Connection, connectToFile, type SqlParameter, type SqlRow, selectRow, selectRows } from './driver.ts'

export interface ForeignDatabase {
  /** A copy is a snapshot. In place, each read sees the latest commit. */
  readonly mode: 'in place' | 'copy'
  get(sql: string, ...parameters: readonly SqlParameter[]): DatabaseOutcome<SqlRow | undefined>
  /** For small results: the owner cannot commit until the read ends. */
  all(sql: string, ...parameters: readonly SqlParameter[]): DatabaseOutcome<readonly SqlRow[]>
  close(): void
}

interface ForeignDatabaseOptions {
  /** How long a read waits for the owner's lock. Blocks this thread. */
  readonly busyMs?: number
}

const DEFAULT_BUSY_MS = 2000
const BUSY_STEP_MS = 15
const MAX_ATTEMPTS = 8
const PAUSE_MS = 30

/**
 * Read large values as bytes with `CAST(value AS BLOB)` (UTF-16 in a UTF-16 database): a string takes longer under the
 * lock, loses invalid UTF-8, and crashes above 512 MB. `octet_length(value)` reads nothing of the value.
 */
export function openForeignDatabase(
  path: string,
  options: ForeignDatabaseOptions = {},
): DatabaseOutcome<ForeignDatabase> {
  const files = databaseFilesAt(path)
  const first = readSqliteHeader(files.main)
  if (!first.ok) return first
  let copy: OpenCopy | undefined
  const access: InPlaceAccess = { files, busyMs: options.busyMs ?? DEFAULT_BUSY_MS, idle: undefined }
  let closed = false

  const read = <T>(work: (connection: Connection) => T): DatabaseOutcome<T> => {
    if (closed) throw new Error('the database was closed')
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const header = copy ? first : readSqliteHeader(files.main)
      if (!header.ok) return header
      if (header.value.inode !== first.value.inode) return databaseFailure('replaced')
      const connection = copy?.connection
      if (connection) return toOutcome(header.value, () => work(connection))
      const inPlace = readInPlace(access, header.value, work)
      if (inPlace) return inPlace
      const openedCopy = toOutcome(header.value, () => openCopy(files))
      if (!openedCopy.ok) return openedCopy
      copy = openedCopy.value
      if (!copy) sleep()
    }
    return databaseFailure('busy')
  }

  const withLockHolder = <T>(outcome: DatabaseOutcome<T>): DatabaseOutcome<T> =>
    !outcome.ok && outcome.problem.kind === 'busy'
      ? { ok: false, problem: toDatabaseProblem('busy', findLockHolder(files.main)) }
      : outcome

  const database: ForeignDatabase = {
    get mode() {
      return copy ? 'copy' : 'in place'
    },
    get: (sql, ...parameters) => withLockHolder(read((connection) => selectRow(connection, sql, parameters))),
    all: (sql, ...parameters) => withLockHolder(read((connection) => selectRows(connection, sql, parameters))),
    close() {
      closed = true
      closeIdle(access)
      copy?.close()
      copy = undefined
    },
  }
  const probe = database.get('PRAGMA schema_version')
  if (probe.ok) return { ok: true, value: database }
  database.close()
  return probe
}

/** SQLite must first finish a transaction or recover a log, which needs write access. */
const NEEDS_A_COPY = /^SQLITE_(?:CANTOPEN|READONLY_(?:ROLLBACK|RECOVERY|CANTINIT|CANTLOCK|DIRECTORY))/

interface InPlaceAccess {
  readonly files: DatabaseFiles
  readonly busyMs: number
  idle: Connection | undefined
}

function closeIdle(access: InPlaceAccess): void {
  access.idle?.close()
  access.idle = undefined
}

/** On Windows, an open file blocks its owner. */
const CAN_REUSE_CONNECTION = process.platform !== 'win32'

/**
 * Undefined if a copy is needed. In WAL mode, an idle connection keeps a lock that stops the owner from removing its
 * log, so it lives for one read only.
 */
function readInPlace<T>(
  access: InPlaceAccess,
  header: SqliteHeader,
  work: (connection: Connection) => T,
): DatabaseOutcome<T> | undefined {
  const { files, busyMs } = access
  const hasLog = existsSync(files.wal)
  const isLogged = hasLog || header.journal === 'wal'
  if (isLogged) closeIdle(access)
  // An open WAL database has both files. If one is missing, no program has it open, and connecting would create the
  // file.
  if (isLogged && !(hasLog && existsSync(files.shm))) return undefined
  let staysIdle = false
  try {
    const connection =
      access.idle ?? connectToFile(files.main, { readonly: true, busyMs: Math.min(busyMs, BUSY_STEP_MS) })
    access.idle = connection
    const value = retryWhileBusy(busyMs, () => work(connection))
    staysIdle = CAN_REUSE_CONNECTION && !isLogged
    return { ok: true, value }
  } catch (error) {
    if (NEEDS_A_COPY.test(sqliteCodeOf(error))) return undefined
    if (sqliteCodeOf(error) === 'SQLITE_READONLY') throw error
    if (!existsSync(files.main)) return databaseFailure('missing')
    return toOutcome(header, () => {
      throw error
    })
  } finally {
    if (!staysIdle) closeIdle(access)
  }
}

/** SQLite's own wait grows with each attempt and misses the gaps between commits of a busy owner. */
function retryWhileBusy<T>(busyMs: number, work: () => T): T {
  for (const end = performance.now() + busyMs; ; ) {
    try {
      return work()
    } catch (error) {
      if (!sqliteCodeOf(error).startsWith('SQLITE_BUSY') || performance.now() >= end) throw error
    }
  }
}

interface OpenCopy {
  readonly connection: Connection
  close(): void
}

/** Writable: SQLite finishes what the owner left unfinished. */
function openCopy(files: DatabaseFiles): OpenCopy | undefined {
  const copy = copyDatabase(files)
  if (!copy) return undefined
  const connection = connectToCopy(copy)
  return {
    connection,
    close() {
      connection.close()
      copy.remove()
    },
  }
}

function connectToCopy(copy: DatabaseCopy): Connection {
  try {
    return connectToFile(copy.path, { readonly: false, busyMs: 0 })
  } catch (error) {
    copy.remove()
    throw error
  }
}

function toOutcome<T>(header: SqliteHeader, work: () => T): DatabaseOutcome<T> {
  try {
    return { ok: true, value: work() }
  } catch (error) {
    const found = databaseProblemOf(error)
    if (found.kind === 'corrupt' && header.size < header.expectedSize) return databaseFailure('cut_short')
    return { ok: false, problem: found }
  }
}

function sleep(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
}

export interface DatabaseCopy {
  readonly path: string
  remove(): void
}

/** Two writes within this time may leave the same modification time. */
const CLOCK_TICK_MS = 20

/** Undefined if the owner wrote meanwhile: files of different moments do not fit together. Throws system errors. */
export function copyDatabase(files: DatabaseFiles): DatabaseCopy | undefined {
  const before = snapshotStamp(files)
  if (before === undefined) return undefined
  const folder = createTempFolderOrThrow('sqlite')
  const path = join(folder.path, 'copy.sqlite3')
  let isConsistent = false
  try {
    copyDatabaseFile(files.main, path)
    if (bigintStatOf(files.wal)) copyDatabaseFile(files.wal, `${path}-wal`)
    if (bigintStatOf(files.journal)) copyDatabaseFile(files.journal, `${path}-journal`)
    isConsistent = snapshotStamp(files) === before
  } finally {
    if (!isConsistent) folder.remove()
  }
  return isConsistent ? { path, remove: folder.remove } : undefined
}

/** Drops locks by closing a descriptor (see database-file.ts), but a database that needs a copy is not read in place. */
function copyDatabaseFile(from: string, to: string): void {
  refuseSpecialAt(from)
  copyFileSync(from, to, constants.COPYFILE_FICLONE)
  chmodSync(to, 0o600)
}

/**
 * Undefined while another write might not change the modification time. Readers write to the shared memory, so only its
 * presence counts.
 */
function snapshotStamp(files: DatabaseFiles): string | undefined {
  const stats = [files.main, files.wal, files.journal].map(bigintStatOf)
  const now = Date.now()
  if (stats.some((stat) => stat && Math.abs(now - Number(stat.mtimeMs)) < CLOCK_TICK_MS)) return undefined
  const stamps = stats.map((stat) => (stat ? [stat.ino, stat.size, stat.mtimeNs].join() : ''))
  return [...stamps, bigintStatOf(files.shm)?.ino ?? ''].join(' ')
}

const bigintStatOf = (path: string): BigIntStats | undefined => statSync(path, { bigint: true, throwIfNoEntry: false })

/** For example `q, process 4711`. Undefined if the system does not say, or the lock is gone. */
function findLockHolder(path: string): string | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    const locksId = procLocksId(statSync(path, { bigint: true }))
    for (const line of readFileSync('/proc/locks', 'utf8').split('\n')) {
      const [, kind, , , pid, at] = line.trim().split(/\s+/)
      if (kind !== 'POSIX' || at !== locksId || pid === undefined || Number(pid) === process.pid) continue
      return `${processNameOf(pid)}process ${pid}`
    }
  } catch {
    // Hidden by the file system or a container.
  }
  return undefined
}

/** The id of a file in `/proc/locks`: major and minor device number in hexadecimal, then the inode. */
function procLocksId({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }): string {
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn)
  const minor = (dev & 0xffn) | ((dev >> 12n) & ~0xffn)
  const toHexPair = (part: bigint): string => part.toString(16).padStart(2, '0')
  return `${toHexPair(major)}:${toHexPair(minor)}:${ino}`
}
