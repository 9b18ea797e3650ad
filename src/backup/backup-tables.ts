/** The tables of the backup. */
import type { DatabaseFormat, Db } from '../lib/sqlite/own-database.ts'
import { EntryTable } from './entry-table.ts'
import { FileTable } from './file-table.ts'
import { GenerationTable, RowTable } from './generation-table.ts'
import { LayoutTable } from './layout-table.ts'
import { PieceTable } from './piece-table.ts'
import { RestoredTable } from './restored-table.ts'
import { importCopies } from './take-over-copies.ts'

/**
 * `entry` is a tree: each entry refers to the previous one, and a generation is the path from a root to its `head_id`.
 * Entries shared by generations are stored once. `layout` describes the last state of a row: `recipe` lists its pieces
 * in order, `frame` contains the bytes between them. `part` lists pieces of a layout other than entries, which are
 * deleted when no layout needs them. A deleted piece leaves a `hole`; the next piece reuses its number and thereby its
 * space in the file. Entries, spellings and generations are deleted only when the user forgets a session.
 */
const FIRST_VERSION = `
CREATE TABLE store (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  swept_at TEXT
) STRICT;

CREATE TABLE piece (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  body BLOB NOT NULL
) STRICT;

CREATE TABLE hole (
  id INTEGER PRIMARY KEY
) STRICT;
CREATE TRIGGER piece_gone AFTER DELETE ON piece BEGIN INSERT INTO hole VALUES (old.id); END;
CREATE TRIGGER hole_filled AFTER INSERT ON piece BEGIN DELETE FROM hole WHERE id = new.id; END;

CREATE TABLE conversation (
  id INTEGER PRIMARY KEY,
  store_id INTEGER NOT NULL REFERENCES store,
  agent TEXT NOT NULL,
  native_id TEXT NOT NULL,
  UNIQUE (store_id, agent, native_id)
) STRICT;

CREATE TABLE entry (
  id INTEGER PRIMARY KEY,
  conversation_id INTEGER NOT NULL REFERENCES conversation,
  parent_id INTEGER REFERENCES entry,
  identity BLOB NOT NULL,
  piece_id INTEGER NOT NULL REFERENCES piece
) STRICT;
CREATE INDEX entry_by_conversation ON entry (conversation_id);
CREATE INDEX entry_by_piece ON entry (piece_id);

CREATE TABLE spelling (
  entry_id INTEGER NOT NULL REFERENCES entry,
  piece_id INTEGER NOT NULL REFERENCES piece,
  PRIMARY KEY (entry_id, piece_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX spelling_by_piece ON spelling (piece_id);

CREATE TABLE generation (
  id INTEGER PRIMARY KEY,
  session TEXT NOT NULL UNIQUE,
  store_id INTEGER NOT NULL REFERENCES store,
  agent TEXT NOT NULL,
  conversation_id INTEGER REFERENCES conversation,
  head_id INTEGER REFERENCES entry,
  entries INTEGER NOT NULL,
  first_seen TEXT NOT NULL,
  last_seen TEXT NOT NULL,
  ended_at TEXT,
  ended_how TEXT CHECK (ended_how IN ('overwritten', 'cleared', 'truncated', 'vanished')),
  CHECK ((ended_at IS NULL) = (ended_how IS NULL))
) STRICT;
CREATE INDEX generation_by_conversation ON generation (conversation_id);

CREATE TABLE row (
  id INTEGER PRIMARY KEY,
  store_id INTEGER NOT NULL REFERENCES store,
  key TEXT NOT NULL,
  generation_id INTEGER REFERENCES generation,
  fingerprint TEXT,
  UNIQUE (store_id, key)
) STRICT;
CREATE INDEX row_by_generation ON row (generation_id);

CREATE TABLE layout (
  id INTEGER PRIMARY KEY,
  generation_id INTEGER NOT NULL REFERENCES generation,
  row_id INTEGER NOT NULL REFERENCES row,
  blank INTEGER NOT NULL,
  revision INTEGER NOT NULL UNIQUE,
  skip INTEGER NOT NULL,
  entries INTEGER NOT NULL,
  size INTEGER NOT NULL,
  hash BLOB NOT NULL,
  recipe BLOB NOT NULL,
  frame BLOB NOT NULL,
  UNIQUE (generation_id, row_id, blank)
) STRICT;

CREATE TABLE part (
  layout_id INTEGER NOT NULL REFERENCES layout ON DELETE CASCADE,
  piece_id INTEGER NOT NULL REFERENCES piece,
  PRIMARY KEY (layout_id, piece_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX part_by_piece ON part (piece_id);
`

/** Sessions that the user forgot. `claim` and `first_record` are those of the session header. */
const FORGOTTEN_VERSION = `
CREATE TABLE forgotten (
  session TEXT PRIMARY KEY,
  claim TEXT NOT NULL,
  first_record TEXT NOT NULL,
  forgotten_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`

/**
 * Complete files. `size` is the number of bytes backed up so far. `probe` identifies the file's state when all of it was
 * backed up. A path has several files if it was replaced or truncated; only the latest one grows. A side file belongs to
 * the file `side_of`.
 */
const FILES_VERSION = `
CREATE TABLE file (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  agent TEXT NOT NULL,
  path TEXT NOT NULL,
  root TEXT,
  inode INTEGER NOT NULL,
  size INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  probe TEXT NOT NULL,
  first_seen TEXT,
  side_of INTEGER REFERENCES file ON DELETE CASCADE
) STRICT;
CREATE INDEX file_by_path ON file (path);
CREATE INDEX file_by_inode ON file (inode);
CREATE INDEX file_by_owner ON file (side_of);

CREATE TABLE file_piece (
  file_id INTEGER NOT NULL REFERENCES file ON DELETE CASCADE,
  start INTEGER NOT NULL,
  length INTEGER NOT NULL,
  piece_id INTEGER NOT NULL REFERENCES piece,
  PRIMARY KEY (file_id, start)
) STRICT, WITHOUT ROWID;
CREATE INDEX file_piece_by_piece ON file_piece (piece_id);
`

/**
 * `restored` is what was put back where, so that it can be undone. `machine` names other machines whose sessions are
 * here; `file.machine` and `store.machine` refer to it, and their paths begin with its name. `received` is the state of
 * each session that came from one. `exchange_folder` lists the folders that this machine wrote to. `forgotten.erased` lists, as JSON, the items of an exchange folder that
 * held an erased session.
 */
const EXCHANGE_VERSION = `
CREATE TABLE restored (
  id INTEGER PRIMARY KEY,
  at TEXT NOT NULL,
  session TEXT NOT NULL,
  agent TEXT NOT NULL,
  path TEXT NOT NULL,
  key TEXT,
  hash TEXT NOT NULL,
  created TEXT NOT NULL,
  backup TEXT
) STRICT;

CREATE TABLE machine (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL
) STRICT, WITHOUT ROWID;
ALTER TABLE file ADD COLUMN machine TEXT REFERENCES machine;
ALTER TABLE store ADD COLUMN machine TEXT REFERENCES machine;

CREATE TABLE received (
  machine TEXT NOT NULL REFERENCES machine,
  item TEXT NOT NULL,
  state TEXT NOT NULL,
  file_id INTEGER REFERENCES file ON DELETE CASCADE,
  PRIMARY KEY (machine, item)
) STRICT, WITHOUT ROWID;

CREATE TABLE exchange_folder (
  path TEXT PRIMARY KEY,
  written_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

ALTER TABLE forgotten ADD COLUMN erased TEXT;
`

const RELOCATED_VERSION = `
CREATE TABLE relocated (
  claim TEXT NOT NULL,
  first_record TEXT NOT NULL,
  original TEXT NOT NULL,
  PRIMARY KEY (claim, first_record)
) STRICT, WITHOUT ROWID;
`

/**
 * The application id is `fumk` in ASCII. Version 0.1.0 stored files in a database of their own, whose content becomes
 * part of this one in the same transaction: if that fails, version 0.1.0 can still read both.
 * @param directory where the earlier database may be
 */
export const backupFormat = (directory: string): DatabaseFormat => ({
  application: 0x66756d6b,
  migrations: [
    FIRST_VERSION,
    FORGOTTEN_VERSION,
    FILES_VERSION,
    (db) => {
      db.exec(EXCHANGE_VERSION)
      importCopies(db, directory)
    },
    RELOCATED_VERSION,
  ],
  canShrink: true,
})

export interface BackupTables {
  readonly db: Db
  readonly pieces: PieceTable
  readonly files: FileTable
  readonly restored: RestoredTable
  readonly entries: EntryTable
  readonly layouts: LayoutTable
  readonly rows: RowTable
  readonly generations: GenerationTable
}

export function backupTablesIn(db: Db): BackupTables {
  const pieces = new PieceTable(db)
  return {
    db,
    pieces,
    files: new FileTable(db, pieces),
    restored: new RestoredTable(db),
    entries: new EntryTable(db),
    layouts: new LayoutTable(db, pieces),
    rows: new RowTable(db),
    generations: new GenerationTable(db),
  }
}
