/**
 * The backup of what other programs overwrite or delete. Each state of a row is split into entries, and each file into
 * pieces; all are stored once, and rows and files can be restored byte for byte.
 */
import { join } from 'node:path'
import { sha256 } from '../lib/hash.ts'
import { withDatabaseErrors } from '../lib/sqlite/own-database.ts'
import { getValues, runStatement } from '../lib/sqlite/statements.ts'
import type { Capture } from '../model/capture.ts'
import { type Instant, makeSessionId, type SessionId } from '../model/ids.ts'
import { BackupFile } from './backup-file.ts'
import { ReceivedItems } from './exchange/received-table.ts'
import { FileBackups } from './file-backups.ts'
import {
  type ForgottenRecord,
  type ForgottenSession,
  forgetBackup,
  isForgottenRow,
  readForgotten,
  unforgetSession,
} from './forgotten-sessions.ts'
import { matchRow } from './match-row.ts'
import { endVanished, putCapture, putUnreadable } from './put-row.ts'
import { readBackedUpRow, readFullConversation, readSpellings, throwNotBackedUp } from './read-backup.ts'
import type {
  BackedUpSession,
  BackupFilter,
  BackupResult,
  EndedSession,
  RowLocation,
  RowOrigin,
  SessionMatch,
} from './records.ts'
import { addRelocated, type RelocatedSession, readRelocated } from './relocated-table.ts'
import type { Restored } from './restored-table.ts'
import { NOTHING_TO_VERIFY, type VerifyOptions, type VerifyReport, verifyBackup } from './verify.ts'

export const BACKUP_FILE = 'keep.sqlite3'

/**
 * Throws an AppError if there is a backup that cannot be used.
 * @param directory the data directory; it and the file are created with the first backup
 */
export function openBackupDatabase(directory: string): BackupDatabase {
  return new BackupDatabase(join(directory, BACKUP_FILE))
}

/** Every method that writes is atomic and waits for other writing processes. */
export class BackupDatabase {
  /** Complete files. */
  readonly files: FileBackups
  /** What came from other machines. */
  readonly received: ReceivedItems
  readonly #file: BackupFile

  constructor(path: string) {
    this.#file = new BackupFile(path)
    this.files = new FileBackups(this.#file)
    this.received = new ReceivedItems(this.#file)
    if (this.#file.exists()) this.#file.tables()
  }

  get path(): string {
    return this.#file.path
  }

  /** Backs up the current state of a row. */
  put(capture: Capture, from: RowOrigin, at: Instant): BackupResult {
    const arrival = { capture, hash: sha256(capture.bytes), from, at }
    return this.#file.write((tables) => putCapture(tables, arrival))
  }

  /** Backs up a row that is not a conversation. */
  putUnreadable(bytes: Uint8Array, from: RowOrigin, at: Instant): BackupResult {
    return this.#file.write((tables) => putUnreadable(tables, bytes, from, at))
  }

  /**
   * Reports which rows a complete listing of a store found. Sessions of other rows have vanished; the rows found count
   * as seen now.
   */
  sweep(store: string, keysSeen: Iterable<string>, at: Instant): readonly EndedSession[] {
    const keys = new Set(keysSeen)
    return this.#file.exists() ? this.#file.write((tables) => endVanished(tables, store, keys, at)) : []
  }

  /** By row key, as passed to the last `put`. */
  fingerprints(store: string): ReadonlyMap<string, string> {
    return this.#file.read<ReadonlyMap<string, string>>(
      () => new Map(),
      ({ rows }) => rows.fingerprints(store),
    )
  }

  /** The session that `put` would return. Writes nothing. */
  match(capture: Capture, location: RowLocation): SessionMatch {
    return this.#file.read<SessionMatch>(
      () => ({ session: makeSessionId(capture.agent, capture.native_id), first_number: 1 }),
      (tables) => matchRow(tables, capture, location),
    )
  }

  /** In the order of their first backup. */
  list(filter: BackupFilter = {}): readonly BackedUpSession[] {
    return this.#file.read<readonly BackedUpSession[]>(
      () => [],
      ({ generations }) => generations.list(filter),
    )
  }

  get(session: SessionId): BackedUpSession | undefined {
    return this.#file.read<BackedUpSession | undefined>(
      () => undefined,
      ({ generations }) => generations.backedUp(session),
    )
  }

  /**
   * The last state of the row, byte for byte. For a session in several rows: the row with the most entries, or the one
   * given. Throws `not_found`.
   */
  bytes(session: SessionId, location?: RowLocation): Uint8Array {
    return this.#file.read(
      () => throwNotBackedUp(session),
      (tables) => readBackedUpRow(tables, session, location),
    )
  }

  /** The row with all backed-up entries in its history, including those it had dropped. For reading only. */
  conversation(session: SessionId): Uint8Array {
    return this.#file.read(
      () => throwNotBackedUp(session),
      (tables) => readFullConversation(tables, session),
    )
  }

  /** Every spelling of one entry, latest first. */
  spellings(session: SessionId, number: number): readonly Uint8Array[] {
    return this.#file.read(
      () => throwNotBackedUp(session),
      (tables) => readSpellings(tables, session, number),
    )
  }

  /** Deletes a session and remembers that it is forgotten, even if it is not in the backup. */
  forget(session: ForgottenSession, at: Instant, erased?: readonly string[]): void {
    this.#file.tables().db.pragma('secure_delete = ON')
    this.#file.write((tables) => forgetBackup(tables, session, at, erased))
    this.#file.tables().db.pragma('wal_checkpoint(TRUNCATE)')
  }

  /** Rewrites the file without anything that was deleted. */
  rewrite(): void {
    if (!this.#file.exists()) return
    const { db } = this.#file.tables()
    withDatabaseErrors(this.path, () => {
      db.exec('VACUUM')
      db.pragma('wal_checkpoint(TRUNCATE)')
    })
  }

  /** Returns whether the session was forgotten. */
  unforget(session: SessionId): boolean {
    return this.#file.exists() && this.#file.write((tables) => unforgetSession(tables, session))
  }

  forgotten(): readonly ForgottenRecord[] {
    return this.#file.read<readonly ForgottenRecord[]>(
      () => [],
      ({ db }) => readForgotten(db),
    )
  }

  /** Whether the row belongs to a forgotten session. */
  isForgotten(capture: Capture): boolean {
    return this.#file.read(
      () => false,
      (tables) => isForgottenRow(tables, capture),
    )
  }

  /** Folders that this machine has put its backup into. */
  exchangeFolders(): readonly string[] {
    return this.#file.read<readonly string[]>(
      () => [],
      ({ db }) => getValues(db, 'SELECT path FROM exchange_folder ORDER BY path'),
    )
  }

  addExchangeFolder(path: string, at: Instant): void {
    this.#file.write(({ db }) => runStatement(db, 'INSERT OR REPLACE INTO exchange_folder VALUES (?, ?)', path, at))
  }

  /** Remembers what was put back, so that it can be undone. */
  addRestored(restored: Restored): void {
    this.#file.write((tables) => tables.restored.add(restored))
  }

  /** @param session the complete id; default: any */
  lastRestored(session?: string): (Restored & { readonly id: number }) | undefined {
    return this.#file.read<ReturnType<BackupDatabase['lastRestored']>>(
      () => undefined,
      ({ restored }) => restored.last(session),
    )
  }

  /** Forgets what was put back of a session. @returns the copies of what it replaced */
  takeRestored(session: string): readonly string[] {
    return this.#file.exists() ? this.#file.write(({ restored }) => restored.take(session)) : []
  }

  /** Remembers that a restored file is the same session as before, although its first record changed. */
  addRelocated(session: RelocatedSession): void {
    this.#file.write(({ db }) => addRelocated(db, session))
  }

  relocated(): readonly RelocatedSession[] {
    return this.#file.read<readonly RelocatedSession[]>(
      () => [],
      ({ db }) => readRelocated(db),
    )
  }

  removeRestored(id: number): void {
    this.#file.write((tables) => tables.restored.remove(id))
  }

  /** Checks everything that is stored. @param onProgress called with the share of pieces checked */
  verify(options: VerifyOptions = {}): VerifyReport {
    return this.#file.exists()
      ? withDatabaseErrors(this.path, () => verifyBackup(this.#file, options))
      : NOTHING_TO_VERIFY
  }

  close(): void {
    this.files.close()
    this.#file.close()
  }
}
