/** Reads a database that belongs to another program, which may be at work, and changes none of its files. */
import { existsSync } from 'node:fs'
import { connect, type Parameter, type Row, rowOf, rowsOf } from './connect.ts'
import { type Copy, copyDatabase } from './copy.ts'
import type { Connection } from './driver.ts'
import { type Files, filesAt, type Header, readHeader } from './header.ts'
import { lockHolder } from './holder.ts'
import { codeOf, failed, type Outcome, problem, problemOf } from './problem.ts'

export interface OpenDatabase {
  /** A copy shows the moment it was made; in place, each reading shows the latest commit. */
  readonly mode: 'in place' | 'copy'
  get(sql: string, ...parameters: readonly Parameter[]): Outcome<Row | undefined>
  /** For few and small rows: the owner cannot commit while they are read. */
  all(sql: string, ...parameters: readonly Parameter[]): Outcome<readonly Row[]>
  close(): void
}

export interface OpenOptions {
  /** How long a reading waits for the owner to finish a commit. It blocks this thread. */
  readonly busyMs?: number
}

const BUSY_MS = 2000
const STEP_MS = 15
const ATTEMPTS = 8
const PAUSE_MS = 30

/**
 * Read large values as bytes, `CAST(value AS BLOB)`: to make a string of one takes longer than to read it and happens
 * under the lock, loses what is not UTF-8, and beyond half a gigabyte ends the process. In a database that is kept in
 * UTF-16 these bytes are UTF-16. Ask for a length with `octet_length(value)`, which reads nothing of the value.
 */
export function openDatabase(path: string, options: OpenOptions = {}): Outcome<OpenDatabase> {
  const files = filesAt(path)
  const first = readHeader(files.main)
  if (!first.ok) return first
  let copy: OpenCopy | undefined
  const place: Place = { files, busyMs: options.busyMs ?? BUSY_MS, idle: undefined }
  let closed = false

  const read = <T>(work: (connection: Connection) => T): Outcome<T> => {
    if (closed) throw new Error('the database was closed')
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const header = copy ? first : readHeader(files.main)
      if (!header.ok) return header
      if (header.value.inode !== first.value.inode) return failed('replaced')
      const connection = copy?.connection
      if (connection) return explained(header.value, () => work(connection))
      const done = readInPlace(place, header.value, work)
      if (done) return done
      const made = explained(header.value, () => openCopy(files))
      if (!made.ok) return made
      copy = made.value
      if (!copy) pause()
    }
    return failed('busy')
  }

  const named = <T>(outcome: Outcome<T>): Outcome<T> =>
    !outcome.ok && outcome.problem.kind === 'busy'
      ? { ok: false, problem: problem('busy', lockHolder(files.main)) }
      : outcome

  const database: OpenDatabase = {
    get mode() {
      return copy ? 'copy' : 'in place'
    },
    get: (sql, ...parameters) => named(read((connection) => rowOf(connection, sql, parameters))),
    all: (sql, ...parameters) => named(read((connection) => rowsOf(connection, sql, parameters))),
    close() {
      closed = true
      leave(place)
      copy?.close()
      copy = undefined
    },
  }
  const tried = database.get('PRAGMA schema_version')
  if (tried.ok) return { ok: true, value: database }
  database.close()
  return tried
}

/** What SQLite says where it would have to finish a transaction or a log first and may not write. */
const NEEDS_A_COPY = /^SQLITE_(?:CANTOPEN|READONLY_(?:ROLLBACK|RECOVERY|CANTINIT|CANTLOCK|DIRECTORY))/

interface Place {
  readonly files: Files
  readonly busyMs: number
  /** Used again by the next reading. */
  idle: Connection | undefined
}

function leave(place: Place): void {
  place.idle?.close()
  place.idle = undefined
}

/** On Windows an open file stands in the way of its owner. */
const MAY_REST = process.platform !== 'win32'

/**
 * Nothing when a copy must be read instead. An idle connection holds no lock in rollback mode, but in WAL mode it does, and
 * keeps the owner from clearing its log away when it ends: there a connection lives for one reading.
 */
function readInPlace<T>(place: Place, header: Header, work: (connection: Connection) => T): Outcome<T> | undefined {
  const { files, busyMs } = place
  const log = existsSync(files.wal)
  const isLogged = log || header.journal === 'wal'
  if (isLogged) leave(place)
  // Who has a WAL database open has a log and shared memory beside it. Where one is missing, nobody has, and even a
  // connection for reading would make it anew and leave it there.
  if (isLogged && !(log && existsSync(files.shm))) return undefined
  let rests = false
  try {
    const connection = place.idle ?? connect(files.main, { readonly: true, busyMs: Math.min(busyMs, STEP_MS) })
    place.idle = connection
    const value = patiently(busyMs, () => work(connection))
    rests = MAY_REST && !isLogged
    return { ok: true, value }
  } catch (error) {
    if (NEEDS_A_COPY.test(codeOf(error))) return undefined
    // A statement that would write.
    if (codeOf(error) === 'SQLITE_READONLY') throw error
    if (!existsSync(files.main)) return failed('missing')
    return explained(header, () => {
      throw error
    })
  } finally {
    if (!rests) leave(place)
  }
}

/** SQLite sleeps longer each time it finds a lock, and so misses the moments between the commits of a busy owner. */
function patiently<T>(busyMs: number, work: () => T): T {
  for (const end = performance.now() + busyMs; ; ) {
    try {
      return work()
    } catch (error) {
      if (!codeOf(error).startsWith('SQLITE_BUSY') || performance.now() >= end) throw error
    }
  }
}

interface OpenCopy {
  readonly connection: Connection
  close(): void
}

/** For reading and writing: SQLite finishes there what the owner did not. */
function openCopy(files: Files): OpenCopy | undefined {
  const copy = copyDatabase(files)
  if (!copy) return undefined
  const connection = connectTo(copy)
  return {
    connection,
    close() {
      connection.close()
      copy.remove()
    },
  }
}

function connectTo(copy: Copy): Connection {
  try {
    return connect(copy.path, { readonly: false, busyMs: 0 })
  } catch (error) {
    copy.remove()
    throw error
  }
}

function explained<T>(header: Header, work: () => T): Outcome<T> {
  try {
    return { ok: true, value: work() }
  } catch (error) {
    const found = problemOf(error)
    if (found.kind === 'corrupt' && header.size < header.expectedSize) return failed('cut_short')
    return { ok: false, problem: found }
  }
}

function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
}
