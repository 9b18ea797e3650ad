/**
 * The backup: what other programs overwrite, so that nothing seen is ever lost. Each state of a row is taken apart into
 * entries that are stored once, and comes back to the byte.
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
 * Throws an AppError when there is a backup and it cannot be used.
 * @param directory the data directory; it and the file in it are made when something is first kept
 */
export function openBackupDatabase(directory: string): BackupDatabase {
  return new BackupDatabase(join(directory, 'keep.sqlite3'))
}

/** Every door that writes does so at once or not at all, and waits for other processes that write. */
export class BackupDatabase {
  readonly path: string
  #open: BackupTables | undefined
  #close: (() => void) | undefined
  #copies: FileCopies | undefined

  constructor(path: string) {
    this.path = path
    if (existsSync(path)) this.#tables()
  }

  /** Keeps a row as it was at that moment. */
  put(capture: Capture, from: RowOrigin, at: Instant): BackupResult {
    const arrival = { capture, hash: sha256(capture.bytes), from, at }
    return this.#write((tables) => putCapture(tables, arrival))
  }

  /** Keeps a row that is no conversation. */
  putUnreadable(bytes: Uint8Array, from: RowOrigin, at: Instant): BackupResult {
    return this.#write((tables) => putUnreadable(tables, bytes, from, at))
  }

  /** Says which rows a store has: the sessions of all others have vanished, all that are left were seen at this moment. */
  sweep(store: string, keysSeen: Iterable<string>, at: Instant): readonly EndedSession[] {
    const keys = new Set(keysSeen)
    return this.#exists() ? this.#write((tables) => endVanished(tables, store, keys, at)) : []
  }

  /** By row key, as they were given with the last `put`. */
  fingerprints(store: string): ReadonlyMap<string, string> {
    return this.#read<ReadonlyMap<string, string>>(
      () => new Map(),
      ({ rows }) => rows.fingerprints(store),
    )
  }

  /** Which session `put` would say; nothing is written. */
  match(capture: Capture, location: RowLocation): SessionMatch {
    return this.#read<SessionMatch>(
      () => ({ session: makeSessionId(capture.agent, capture.native_id), first_number: 1 }),
      (tables) => matchRow(tables, capture, location),
    )
  }

  /** In the order in which they were first kept. */
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
   * The row as it was last, to the byte. A session that was in several rows: the one that reaches furthest, or the one
   * that is asked for. Throws `not_found`.
   */
  bytes(session: SessionId, location?: RowLocation): Uint8Array {
    return this.#read(
      () => throwNotBackedUp(session),
      (tables) => readBackedUpRow(tables, session, location),
    )
  }

  /** The same row with every kept entry in its history, also those that it had dropped: for reading. */
  conversation(session: SessionId): Uint8Array {
    return this.#read(
      () => throwNotBackedUp(session),
      (tables) => readFullConversation(tables, session),
    )
  }

  /** One entry in every way in which its owner wrote it, the latest first. */
  spellings(session: SessionId, number: number): readonly Uint8Array[] {
    return this.#read(
      () => throwNotBackedUp(session),
      (tables) => readSpellings(tables, session, number),
    )
  }

  /** Takes a session out and remembers that it is not wanted, whether it is here or not. */
  forget(session: ForgottenSession, at: Instant): void {
    this.#tables().db.pragma('secure_delete = ON')
    this.#write((tables) => forgetBackup(tables, session, at))
    this.#tables().db.pragma('wal_checkpoint(TRUNCATE)')
  }

  /** It is wanted again. Whether it was forgotten. */
  unforget(session: SessionId): boolean {
    return this.#exists() && this.#write((tables) => unforgetSession(tables, session))
  }

  forgotten(): readonly ForgottenRecord[] {
    return this.#read<readonly ForgottenRecord[]>(
      () => [],
      ({ db }) => readForgotten(db),
    )
  }

  /** A row that is not to be kept. */
  isForgotten(capture: Capture): boolean {
    return this.#read(
      () => false,
      (tables) => isForgottenRow(tables, capture),
    )
  }

  /** Of files that are kept whole. */
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

  /** In one transaction, so that all of it is of one moment. */
  #read<T>(fallback: () => T, work: (tables: BackupTables) => T): T {
    if (!this.#exists()) return fallback()
    const tables = this.#tables()
    return withDatabaseErrors(this.path, () => tables.db.transaction(() => work(tables)).deferred())
  }
}
