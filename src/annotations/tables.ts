/** The tables of the marks. */
import type { Statement } from 'better-sqlite3'
import type { DatabaseFormat, Db } from '../lib/sqlite/own-database.ts'
import type { SessionId } from '../model/ids.ts'
import type { SessionAnnotation } from './records.ts'

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

/** The application id is `fumm` in ASCII: marks of fumibako. */
export const ANNOTATIONS_FORMAT: DatabaseFormat = { application: 0x66756d6d, migrations: [FIRST_VERSION] }

interface AnnotationRow extends Omit<SessionAnnotation, 'starred' | 'tags'> {
  readonly starred: 0 | 1
  /** JSON. */
  readonly tags: string
}

export class AnnotationTables {
  readonly db: Db
  readonly #version: Statement<[], number>
  readonly #all: Statement<[], AnnotationRow>
  readonly #one: Statement<[string], AnnotationRow>
  readonly #put: Statement<[string, string | null, number, string | null, string, string]>
  readonly #tag: Statement<[string, string]>
  readonly #untag: Statement<[string]>
  readonly #remove: Statement<[string]>

  constructor(db: Db) {
    this.db = db
    const columns = `session, name, starred, note, made_at, changed_at,
      (SELECT json_group_array(tag) FROM (SELECT tag FROM tag WHERE tag.session = mark.session ORDER BY tag)) AS tags`
    this.#version = db.prepare<[], number>('PRAGMA data_version').pluck()
    this.#all = db.prepare(`SELECT ${columns} FROM mark ORDER BY changed_at DESC, session`)
    this.#one = db.prepare(`SELECT ${columns} FROM mark WHERE session = ?`)
    this.#put = db.prepare(
      `INSERT INTO mark VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (session) DO UPDATE SET
       name = excluded.name, starred = excluded.starred, note = excluded.note, changed_at = excluded.changed_at`,
    )
    this.#tag = db.prepare('INSERT INTO tag VALUES (?, ?)')
    this.#untag = db.prepare('DELETE FROM tag WHERE session = ?')
    this.#remove = db.prepare('DELETE FROM mark WHERE session = ?')
  }

  /** Another one after another process has written. */
  version(): number {
    return this.#version.get() ?? 0
  }

  all(): readonly SessionAnnotation[] {
    return this.#all.all().map(toAnnotation)
  }

  one(session: SessionId): SessionAnnotation | undefined {
    const row = this.#one.get(session)
    return row && toAnnotation(row)
  }

  put({ session, name, starred, tags, note, made_at, changed_at }: SessionAnnotation): void {
    this.#put.run(session, name, Number(starred), note, made_at, changed_at)
    this.#untag.run(session)
    for (const tag of tags) this.#tag.run(session, tag)
  }

  remove(session: SessionId): boolean {
    return this.#remove.run(session).changes > 0
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
