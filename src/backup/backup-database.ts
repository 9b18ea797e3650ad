/**
 * The backup of rows that other programs overwrite. Each state of a row is split into entries, each stored once, and
 * can be restored byte for byte.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sha256 } from '../lib/hash.ts'
import { openWritableOrCopy, withDatabaseErrors } from '../lib/sqlite/own-database.ts'
import type { Capture } from '../model/capture.ts'
import { type Instant, makeSessionId, type SessionId } from '../model/ids.ts'
import { BACKUP_FORMAT, type BackupTables, backupTablesIn } from './backup-tables.ts'
import { type FileCopies, openFileCopies } from './file-copies.ts'
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

/**
 * Throws an AppError if there is a backup that cannot be used.
 * @param directory the data directory; it and the file are created with the first backup
 */
export function openBackupDatabase(directory: string): BackupDatabase {
  return new BackupDatabase(join(directory, 'keep.sqlite3'))
}

/** Every method that writes is atomic and waits for other writing processes. */
export class BackupDatabase {
  readonly path: string
  #open: BackupTables | undefined
  #close: (() => void) | undefined
  #copies: FileCopies | undefined

  constructor(path: string) {
    this.path = path
    if (existsSync(path)) this.#tables()
  }

  /** Backs up the current state of a row. */
  put(capture: Capture, from: RowOrigin, at: Instant): BackupResult {
    const arrival = { capture, hash: sha256(capture.bytes), from, at }
    return this.#write((tables) => putCapture(tables, arrival))
  }

  /** Backs up a row that is not a conversation. */
  putUnreadable(bytes: Uint8Array, from: RowOrigin, at: Instant): BackupResult {
    return this.#write((tables) => putUnreadable(tables, bytes, from, at))
  }

  /**
   * Reports which rows a complete listing of a store found. Sessions of other rows have vanished; the rows found count
   * as seen now.
   */
  sweep(store: string, keysSeen: Iterable<string>, at: Instant): readonly EndedSession[] {
    const keys = new Set(keysSeen)
    return this.#exists() ? this.#write((tables) => endVanished(tables, store, keys, at)) : []
  }

  /** By row key, as passed to the last `put`. */
  fingerprints(store: string): ReadonlyMap<string, string> {
    return this.#read<ReadonlyMap<string, string>>(
      () => new Map(),
      ({ rows }) => rows.fingerprints(store),
    )
  }

  /** The session that `put` would return. Writes nothing. */
  match(capture: Capture, location: RowLocation): SessionMatch {
    return this.#read<SessionMatch>(
      () => ({ session: makeSessionId(capture.agent, capture.native_id), first_number: 1 }),
      (tables) => matchRow(tables, capture, location),
    )
  }

  /** In the order of their first backup. */
  list(filter: BackupFilter = {}): readonly BackedUpSession[] {
    return this.#read<readonly BackedUpSession[]>(
      () => [],
      ({ generations }) => generations.list(filter),
    )
  }

  get(session: SessionId): BackedUpSession | undefined {
    return this.#read<BackedUpSession | undefined>(
      () => undefined,
      ({ generations }) => generations.backedUp(session),
    )
  }

  /**
   * The last state of the row, byte for byte. For a session in several rows: the row with the most entries, or the one
   * given. Throws `not_found`.
   */
  bytes(session: SessionId, location?: RowLocation): Uint8Array {
    return this.#read(
      () => throwNotBackedUp(session),
      (tables) => readBackedUpRow(tables, session, location),
    )
  }

  /** The row with all backed-up entries in its history, including those it had dropped. For reading only. */
  conversation(session: SessionId): Uint8Array {
    return this.#read(
      () => throwNotBackedUp(session),
      (tables) => readFullConversation(tables, session),
    )
  }

  /** Every spelling of one entry, latest first. */
  spellings(session: SessionId, number: number): readonly Uint8Array[] {
    return this.#read(
      () => throwNotBackedUp(session),
      (tables) => readSpellings(tables, session, number),
    )
  }

  /** Deletes a session and remembers that it is forgotten, even if it is not in the backup. */
  forget(session: ForgottenSession, at: Instant): void {
    this.#tables().db.pragma('secure_delete = ON')
    this.#write((tables) => forgetBackup(tables, session, at))
    this.#tables().db.pragma('wal_checkpoint(TRUNCATE)')
  }

  /** Returns whether the session was forgotten. */
  unforget(session: SessionId): boolean {
    return this.#exists() && this.#write((tables) => unforgetSession(tables, session))
  }

  forgotten(): readonly ForgottenRecord[] {
    return this.#read<readonly ForgottenRecord[]>(
      () => [],
      ({ db }) => readForgotten(db),
    )
  }

  /** Whether the row belongs to a forgotten session. */
  isForgotten(capture: Capture): boolean {
    return this.#read(
      () => false,
      (tables) => isForgottenRow(tables, capture),
    )
  }

  /** Copies of complete files. */
  get copies(): FileCopies {
    this.#copies ??= openFileCopies(dirname(this.path))
    return this.#copies
  }

  close(): void {
    this.#copies?.close()
    this.#copies = undefined
    this.#close?.()
    this.#open = undefined
    this.#close = undefined
  }

  #exists(): boolean {
    return this.#open !== undefined || existsSync(this.path)
  }

  #tables(): BackupTables {
    if (this.#open) return this.#open
    const { db, close } = openWritableOrCopy(this.path, BACKUP_FORMAT)
    this.#open = backupTablesIn(db)
    this.#close = close
    return this.#open
  }

  #write<T>(work: (tables: BackupTables) => T): T {
    const tables = this.#tables()
    return withDatabaseErrors(this.path, () => tables.db.transaction(() => work(tables)).immediate())
  }

  /** One transaction, so that all results describe the same state. */
  #read<T>(fallback: () => T, work: (tables: BackupTables) => T): T {
    if (!this.#exists()) return fallback()
    const tables = this.#tables()
    return withDatabaseErrors(this.path, () => tables.db.transaction(() => work(tables)).deferred())
  }
}
