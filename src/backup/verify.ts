/** Checks every piece of the backup against its hash, and that every row and file is complete. */
import { closeSync } from 'node:fs'
import { readRange } from '../lib/files/file-bytes.ts'
import { openRegularFile } from '../lib/files/regular-file.ts'
import { isFile } from '../lib/files/safe-fs.ts'
import { isSystemError } from '../lib/files/system-error.ts'
import { sha256 } from '../lib/hash.ts'
import type { Db } from '../lib/sqlite/own-database.ts'
import { AppError } from '../model/error.ts'
import type { SessionId } from '../model/ids.ts'
import type { BackupFile } from './backup-file.ts'
import type { BackupTables } from './backup-tables.ts'
import { packPiece, unpackPiece } from './pack-piece.ts'
import { readBackedUpRow } from './read-backup.ts'

export interface VerifyOptions {
  /** Called with the number of pieces checked and of all. */
  readonly onProgress?: (done: number, all: number) => void
}

export interface VerifyReport {
  readonly pieces: number
  readonly bytes: number
  readonly rows: number
  readonly files: number
  /** Damaged pieces whose content was found in the original file, and stored again. */
  readonly repaired: number
  readonly damaged_pieces: number
  /** Sessions of rows, and files, that cannot be restored completely. */
  readonly damaged: readonly DamagedItem[]
  /** What SQLite reports about the file. Empty if it is sound. */
  readonly database: readonly string[]
}

export type DamagedItem =
  | { readonly kind: 'row'; readonly session: SessionId }
  | { readonly kind: 'file'; readonly id: number; readonly path: string }

export const NOTHING_TO_VERIFY: VerifyReport = {
  pieces: 0,
  bytes: 0,
  rows: 0,
  files: 0,
  repaired: 0,
  damaged_pieces: 0,
  damaged: [],
  database: [],
}

/** Repairs damaged pieces where an original still has their content. */
export function verifyBackup(file: BackupFile, { onProgress }: VerifyOptions = {}): VerifyReport {
  const { db } = file.tables()
  const database = (db.pragma('integrity_check(10)') as { readonly integrity_check: string }[])
    .map(({ integrity_check }) => integrity_check)
    .filter((line) => line !== 'ok')
  const { pieces, bytes, damaged } = checkPieces(db, onProgress)
  const broken = new Set(damaged)
  if (damaged.length > 0)
    file.write((tables) => {
      for (const id of damaged) if (repairPiece(tables, id)) broken.delete(id)
    })
  const checked = file.read(
    () => undefined,
    (tables) => checkItems(tables, broken),
  )
  return {
    pieces,
    bytes,
    rows: 0,
    files: 0,
    damaged: [],
    ...checked,
    repaired: damaged.length - broken.size,
    damaged_pieces: broken.size,
    database,
  }
}

/** Whether each row and file can be restored from sound pieces. */
function checkItems(
  tables: BackupTables,
  broken: ReadonlySet<number>,
): Pick<VerifyReport, 'rows' | 'files' | 'damaged'> {
  const files = tables.files.list()
  const damagedFiles = files.filter((file) => {
    let at = 0
    for (const { start, length, piece } of tables.files.pieces(file.id)) {
      if (start !== at || broken.has(piece)) return true
      at += length
    }
    return at !== file.size
  })
  const sessions = tables.db.prepare('SELECT session FROM generation ORDER BY id').pluck().all() as SessionId[]
  const damagedRows = sessions.filter((session) => !isReadable(tables, session))
  return {
    rows: sessions.length,
    files: files.length,
    damaged: [
      ...damagedRows.map((session) => ({ kind: 'row', session }) as const),
      ...damagedFiles.map(({ id, path }) => ({ kind: 'file', id, path }) as const),
    ],
  }
}

const PROGRESS_EVERY = 64

function checkPieces(db: Db, onProgress: VerifyOptions['onProgress']) {
  const ids = db.prepare('SELECT id FROM piece ORDER BY id').pluck().all() as number[]
  const select = db.prepare('SELECT hash, body FROM piece WHERE id = ?')
  const damaged: number[] = []
  let bytes = 0
  for (const [n, id] of ids.entries()) {
    const stored = select.get(id) as StoredPiece | undefined
    // Deleted by another process since.
    if (stored === undefined) continue
    const content = contentOf(stored)
    if (content === undefined) damaged.push(id)
    else bytes += content.length
    if (n % PROGRESS_EVERY === 0) onProgress?.(n, ids.length)
  }
  return { pieces: ids.length, bytes, damaged }
}

interface StoredPiece {
  readonly hash: Buffer
  readonly body: Buffer
}

/** Undefined if the piece is damaged. */
function contentOf({ hash, body }: StoredPiece): Buffer | undefined {
  try {
    const content = unpackPiece(body)
    return sha256(content) === hash.toString('hex') ? content : undefined
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return undefined
  }
}

interface PieceUse {
  readonly path: string
  readonly start: number
  readonly length: number
  readonly hash: string
}

/** Looks for the content in the files that it was read from. */
function repairPiece({ db }: BackupTables, id: number): boolean {
  const uses = db
    .prepare(
      `SELECT path, start, length, lower(hex(hash)) AS hash FROM file_piece
       JOIN file ON file.id = file_id JOIN piece ON piece.id = piece_id WHERE piece_id = ?`,
    )
    .all(id) as PieceUse[]
  for (const { path, start, length, hash } of uses) {
    const bytes = readIfThere(path, start, length)
    if (bytes === undefined || sha256(bytes) !== hash) continue
    db.prepare('UPDATE piece SET body = ? WHERE id = ?').run(packPiece(bytes), id)
    return true
  }
  return false
}

function readIfThere(path: string, start: number, length: number): Buffer | undefined {
  if (!isFile(path)) return undefined
  try {
    const fd = openRegularFile(path)
    try {
      return Buffer.from(readRange(fd, start, length))
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    if (!isSystemError(error)) throw error
    return undefined
  }
}

function isReadable(tables: BackupTables, session: SessionId): boolean {
  try {
    readBackedUpRow(tables, session, undefined)
    return true
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return false
  }
}
