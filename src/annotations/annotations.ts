/**
 * Annotations that the user adds to sessions: a name, a star, tags, a note. They are not derived data: no log and no
 * index contains them.
 */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type DatabaseFormat, type Db, openWritableOrCopy, withDatabaseErrors } from '../lib/sqlite/own-database.ts'
import { getRow, getRows, getValue, runStatement } from '../lib/sqlite/statements.ts'
import { foldText } from '../lib/text.ts'
import type { Instant, SessionId } from '../model/ids.ts'

export interface SessionAnnotation {
  readonly session: SessionId
  readonly name: string | null
  readonly starred: boolean
  /** In alphabetical order. */
  readonly tags: readonly string[]
  readonly note: string | null
  readonly made_at: Instant
  readonly changed_at: Instant
}

/** Absent fields stay unchanged; an empty text removes the name or note. */
export interface AnnotationChange {
  readonly name?: string
  readonly starred?: boolean
  readonly note?: string
  /** Tags are compared without regard to case and character width. */
  readonly tag?: readonly string[]
  readonly untag?: readonly string[]
}

export interface AnnotationFilter {
  readonly starred?: boolean
  readonly tag?: string
  /** Part of the name, of a tag or of the note, without regard to case and character width. */
  readonly text?: string
}

const FIRST_VERSION = `
CREATE TABLE mark (
  session TEXT PRIMARY KEY,
  name TEXT,
  starred INTEGER NOT NULL CHECK (starred IN (0, 1)),
  note TEXT,
  made_at TEXT NOT NULL,
  changed_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tag (
  session TEXT NOT NULL REFERENCES mark ON DELETE CASCADE,
  tag TEXT NOT NULL,
  PRIMARY KEY (session, tag)
) STRICT, WITHOUT ROWID;
`

/** The application id is `fumm` in ASCII. */
export const ANNOTATIONS_FORMAT: DatabaseFormat = { application: 0x66756d6d, migrations: [FIRST_VERSION] }

interface AnnotationRow extends Omit<SessionAnnotation, 'starred' | 'tags'> {
  readonly starred: 0 | 1
  /** JSON. */
  readonly tags: string
}

const SELECT_ANNOTATION = `SELECT session, name, starred, note, made_at, changed_at,
  (SELECT json_group_array(tag) FROM (SELECT tag FROM tag WHERE tag.session = mark.session ORDER BY tag)) AS tags FROM mark`

class AnnotationTables {
  readonly db: Db

  constructor(db: Db) {
    this.db = db
  }

  /** Changes when another process writes. */
  version(): number {
    return getValue(this.db, 'PRAGMA data_version') ?? 0
  }

  all(): readonly SessionAnnotation[] {
    const rows = getRows<AnnotationRow>(this.db, `${SELECT_ANNOTATION} ORDER BY changed_at DESC, session`)
    return rows.map(toAnnotation)
  }

  one(session: SessionId): SessionAnnotation | undefined {
    const row = getRow<AnnotationRow>(this.db, `${SELECT_ANNOTATION} WHERE session = ?`, session)
    return row && toAnnotation(row)
  }

  put({ session, name, starred, tags, note, made_at, changed_at }: SessionAnnotation): void {
    const sql = `INSERT INTO mark VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (session) DO UPDATE SET
      name = excluded.name, starred = excluded.starred, note = excluded.note, changed_at = excluded.changed_at`
    runStatement(this.db, sql, session, name, Number(starred), note, made_at, changed_at)
    runStatement(this.db, 'DELETE FROM tag WHERE session = ?', session)
    for (const tag of tags) runStatement(this.db, 'INSERT INTO tag VALUES (?, ?)', session, tag)
  }

  remove(session: SessionId): boolean {
    return runStatement(this.db, 'DELETE FROM mark WHERE session = ?', session).changes > 0
  }
}

const toAnnotation = (row: AnnotationRow): SessionAnnotation => ({
  session: row.session,
  name: row.name,
  starred: row.starred === 1,
  tags: JSON.parse(row.tags) as readonly string[],
  note: row.note,
  made_at: row.made_at,
  changed_at: row.changed_at,
})

/**
 * Throws an AppError if the file exists but cannot be used.
 * @param directory the data directory; it and the file are created with the first annotation
 */
export function openAnnotations(directory: string): SessionAnnotations {
  return new SessionAnnotations(join(directory, 'marks.sqlite3'))
}

/** Every method that writes is atomic and waits for other writing processes. */
export class SessionAnnotations {
  readonly path: string
  #open: AnnotationTables | undefined
  #close: (() => void) | undefined
  #read: { readonly version: string; readonly marks: readonly SessionAnnotation[] } | undefined
  #writes = 0

  constructor(path: string) {
    this.path = path
    if (existsSync(path)) this.#tables()
  }

  /** Most recently changed first. */
  list(filter: AnnotationFilter = {}): readonly SessionAnnotation[] {
    if (!this.#isThere()) return []
    const annotations = this.#transaction((tables) => this.#all(tables), 'deferred')
    return annotations.filter((annotation) => matchesAnnotationFilter(annotation, filter))
  }

  get(session: SessionId): SessionAnnotation | undefined {
    return this.#isThere() ? this.#transaction((tables) => tables.one(session), 'deferred') : undefined
  }

  /** Returns the resulting annotation, or undefined if it is empty. */
  change(session: SessionId, change: AnnotationChange, at: Instant): SessionAnnotation | undefined {
    return this.#transaction((tables) => {
      const next = applyChange(tables.one(session) ?? emptyAnnotation(session, at), change, at)
      if (isEmptyAnnotation(next)) tables.remove(session)
      else tables.put(next)
      return tables.one(session)
    }, 'immediate')
  }

  /** Returns whether there was an annotation. */
  clear(session: SessionId): boolean {
    return this.#isThere() && this.#transaction((tables) => tables.remove(session), 'immediate')
  }

  /** Like `clear`, and no byte of it stays in the file. */
  erase(session: SessionId): void {
    if (!this.clear(session)) return
    const { db } = this.#tables()
    withDatabaseErrors(this.path, () => {
      db.exec('VACUUM')
      db.pragma('wal_checkpoint(TRUNCATE)')
    })
  }

  close(): void {
    this.#close?.()
    this.#open = undefined
    this.#close = undefined
  }

  /** Every search needs all annotations, so they are cached until the database changes. */
  #all(tables: AnnotationTables): readonly SessionAnnotation[] {
    const version = `${tables.version()} ${this.#writes}`
    if (this.#read?.version !== version) this.#read = { version, marks: tables.all() }
    return this.#read.marks
  }

  #isThere(): boolean {
    return this.#open !== undefined || existsSync(this.path)
  }

  #tables(): AnnotationTables {
    if (this.#open) return this.#open
    const { db, close } = openWritableOrCopy(this.path, ANNOTATIONS_FORMAT)
    this.#open = new AnnotationTables(db)
    this.#close = close
    return this.#open
  }

  #transaction<T>(work: (tables: AnnotationTables) => T, mode: 'deferred' | 'immediate'): T {
    const tables = this.#tables()
    if (mode === 'immediate') this.#writes++
    return withDatabaseErrors(this.path, () => tables.db.transaction(() => work(tables))[mode]())
  }
}

const emptyAnnotation = (session: SessionId, at: Instant): SessionAnnotation => ({
  session,
  name: null,
  starred: false,
  tags: [],
  note: null,
  made_at: at,
  changed_at: at,
})

const isEmptyAnnotation = ({ name, starred, tags, note }: SessionAnnotation): boolean =>
  name === null && !starred && tags.length === 0 && note === null

function applyChange(annotation: SessionAnnotation, change: AnnotationChange, at: Instant): SessionAnnotation {
  const { name = annotation.name, starred = annotation.starred, note = annotation.note, tag = [], untag = [] } = change
  const removed = new Set(untag.map((one) => foldText(toOneLine(one))))
  const tags = new Map<string, string>()
  for (const one of [...annotation.tags, ...tag].map(toOneLine)) {
    const key = foldText(one)
    if (key !== '' && !removed.has(key) && !tags.has(key)) tags.set(key, one)
  }
  return {
    ...annotation,
    name: name === null ? null : toOneLine(name) || null,
    starred,
    tags: [...tags.values()].sort(),
    note: note === null ? null : note.trim() || null,
    changed_at: at,
  }
}

const toOneLine = (text: string): string => text.normalize('NFC').replaceAll(/\s+/g, ' ').trim()

function matchesAnnotationFilter(annotation: SessionAnnotation, { starred, tag, text }: AnnotationFilter): boolean {
  if (starred !== undefined && annotation.starred !== starred) return false
  if (tag !== undefined && !annotation.tags.some((one) => foldText(one) === foldText(toOneLine(tag)))) return false
  if (text === undefined) return true
  return [annotation.name ?? '', annotation.note ?? '', ...annotation.tags].some((one) =>
    foldText(one).includes(foldText(text)),
  )
}
