/**
 * The keep: what other programs overwrite, so that nothing seen is ever lost. Each state of a row is taken apart into
 * entries that are stored once, and comes back to the byte.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sha256 } from '../lib/hash.ts'
import type { Capture } from '../model/capture.ts'
import { type Instant, type SessionId, sessionId } from '../model/ids.ts'
import { type Copies, openCopies } from './copies.ts'
import { vanish } from './keep/ends.ts'
import { type Forgotten, forget, forgottenIn, isForgotten, type Remembered, remember } from './keep/forget.ts'
import { matchOf } from './keep/look.ts'
import { putCapture, putUnreadable } from './keep/put.ts'
import { conversationOf, notKept, rowOf, spellingsOf } from './keep/read.ts'
import type { Ended, From, Kept, KeptFilter, Match, Place, Put } from './keep/record.ts'
import { KEEP } from './keep/tables/schema.ts'
import { type Shelves, shelvesIn } from './keep/tables/shelves.ts'
import { explained, openToReadAtLeast } from './open.ts'

/**
 * Throws an AppError when there is a keep and it cannot be used.
 * @param directory the data directory; it and the file in it are made when something is first kept
 */
export function openKeep(directory: string): Keep {
  return new Keep(join(directory, 'keep.sqlite3'))
}

/** Every door that writes does so at once or not at all, and waits for other processes that write. */
export class Keep {
  readonly path: string
  #open: Shelves | undefined
  #close: (() => void) | undefined
  #copies: Copies | undefined

  constructor(path: string) {
    this.path = path
    if (existsSync(path)) this.#shelves()
  }

  /** Keeps a row as it was at that moment. */
  put(capture: Capture, from: From, at: Instant): Put {
    const arrival = { capture, hash: sha256(capture.bytes), from, at }
    return this.#write((shelves) => putCapture(shelves, arrival))
  }

  /** Keeps a row that is no conversation. */
  putUnreadable(bytes: Uint8Array, from: From, at: Instant): Put {
    return this.#write((shelves) => putUnreadable(shelves, bytes, from, at))
  }

  /** Says which rows a store has: the sessions of all others have vanished, all that are left were seen at this moment. */
  sweep(store: string, keysSeen: Iterable<string>, at: Instant): readonly Ended[] {
    const keys = new Set(keysSeen)
    return this.#isThere() ? this.#write((shelves) => vanish(shelves, store, keys, at)) : []
  }

  /** By row key, as they were given with the last `put`. */
  fingerprints(store: string): ReadonlyMap<string, string> {
    return this.#read<ReadonlyMap<string, string>>(
      () => new Map(),
      ({ rows }) => rows.fingerprints(store),
    )
  }

  /** Which session `put` would say; nothing is written. */
  match(capture: Capture, place: Place): Match {
    return this.#read<Match>(
      () => ({ session: sessionId(capture.agent, capture.native_id), first_number: 1 }),
      (shelves) => matchOf(shelves, capture, place),
    )
  }

  /** In the order in which they were first kept. */
  list(filter: KeptFilter = {}): readonly Kept[] {
    return this.#read<readonly Kept[]>(
      () => [],
      ({ generations }) => generations.list(filter),
    )
  }

  get(session: SessionId): Kept | undefined {
    return this.#read<Kept | undefined>(
      () => undefined,
      ({ generations }) => generations.kept(session),
    )
  }

  /**
   * The row as it was last, to the byte. A session that was in several rows: the one that reaches furthest, or the one
   * that is asked for. Throws `not_found`.
   */
  bytes(session: SessionId, place?: Place): Uint8Array {
    return this.#read(
      () => notKept(session),
      (shelves) => rowOf(shelves, session, place),
    )
  }

  /** The same row with every kept entry in its history, also those that it had dropped: for reading. */
  conversation(session: SessionId): Uint8Array {
    return this.#read(
      () => notKept(session),
      (shelves) => conversationOf(shelves, session),
    )
  }

  /** One entry in every way in which its owner wrote it, the latest first. */
  spellings(session: SessionId, number: number): readonly Uint8Array[] {
    return this.#read(
      () => notKept(session),
      (shelves) => spellingsOf(shelves, session, number),
    )
  }

  /** Takes a session out and remembers that it is not wanted, whether it is here or not. */
  forget(session: Forgotten, at: Instant): void {
    this.#shelves().db.pragma('secure_delete = ON')
    this.#write((shelves) => forget(shelves, session, at))
    this.#shelves().db.pragma('wal_checkpoint(TRUNCATE)')
  }

  /** It is wanted again. Whether it was forgotten. */
  remember(session: SessionId): boolean {
    return this.#isThere() && this.#write((shelves) => remember(shelves, session))
  }

  forgotten(): readonly Remembered[] {
    return this.#read<readonly Remembered[]>(
      () => [],
      ({ db }) => forgottenIn(db),
    )
  }

  /** A row that is not to be kept. */
  isForgotten(capture: Capture): boolean {
    return this.#read(
      () => false,
      (shelves) => isForgotten(shelves, capture),
    )
  }

  /** Of files that are kept whole. */
  get copies(): Copies {
    this.#copies ??= openCopies(dirname(this.path))
    return this.#copies
  }

  close(): void {
    this.#copies?.close()
    this.#copies = undefined
    this.#close?.()
    this.#open = undefined
    this.#close = undefined
  }

  #isThere(): boolean {
    return this.#open !== undefined || existsSync(this.path)
  }

  #shelves(): Shelves {
    if (this.#open) return this.#open
    const { db, close } = openToReadAtLeast(this.path, KEEP)
    this.#open = shelvesIn(db)
    this.#close = close
    return this.#open
  }

  #write<T>(work: (shelves: Shelves) => T): T {
    const shelves = this.#shelves()
    return explained(this.path, () => shelves.db.transaction(() => work(shelves)).immediate())
  }

  /** In one transaction, so that all of it is of one moment. */
  #read<T>(without: () => T, work: (shelves: Shelves) => T): T {
    if (!this.#isThere()) return without()
    const shelves = this.#shelves()
    return explained(this.path, () => shelves.db.transaction(() => work(shelves)).deferred())
  }
}
