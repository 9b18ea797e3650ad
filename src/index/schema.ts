/** The tables of the index: data for lists, search and statistics, and a locator for each body. No bodies. */

import type { DatabaseFormat } from '../lib/sqlite/own-database.ts'
import { TEXT_SCOPES } from '../model/searchable-text.ts'
import { TOKENIZER } from '../search/words/analyse.ts'

/** The columns that the text index of the first versions had. */
const TEXT_COLUMNS = TEXT_SCOPES.filter((scope) => scope !== 'context')

/**
 * `source` is a file or row with the result of its first pass. `session` refers by `source_id` to the source it is read
 * from and holds the progress of the second pass (`cursor`). Rows after the last cursor are `provisional`: the next
 * read replaces them. In a source that can hold several sessions, each session has its own row in `source`, and `whole`
 * refers to the row of the container. `source_known` is what a sweep compares.
 *
 * The id of a message is the next free one for its time, so that descending ids mean newest first; `rest` is the part
 * of the time that the id does not hold. Unsearchable rows are in `aside`, many to a row.
 *
 * A quarter is 900,000 ms since 1970, because time zones differ by quarters of an hour. An `estimate` is bytes of text
 * in logs that do not count tokens.
 */
const SESSION_TABLES = `
CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;

CREATE TABLE source (
  id INTEGER PRIMARY KEY,
  agent TEXT NOT NULL,
  path TEXT NOT NULL,
  key TEXT NOT NULL,
  root TEXT,
  kept INTEGER NOT NULL,
  version INTEGER NOT NULL,
  fingerprint TEXT,
  size INTEGER NOT NULL DEFAULT 0,
  modified INTEGER NOT NULL DEFAULT 0,
  gone INTEGER NOT NULL DEFAULT 0,
  session_id INTEGER,
  claim TEXT,
  claim_at TEXT,
  first_record TEXT,
  header TEXT,
  history TEXT,
  cursor BLOB,
  sure TEXT,
  lines INTEGER NOT NULL DEFAULT 0,
  messages INTEGER NOT NULL DEFAULT 0,
  tools TEXT,
  whole INTEGER,
  UNIQUE (path, key, agent, kept)
) STRICT;
CREATE INDEX source_claim ON source (claim);
CREATE INDEX source_session ON source (session_id);
CREATE INDEX source_whole ON source (whole) WHERE whole IS NOT NULL;
CREATE INDEX source_known ON source (path, key, agent, kept, id, root, version, fingerprint, gone) WHERE whole IS NULL;

CREATE TABLE session (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  agent TEXT NOT NULL,
  native_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  source_id INTEGER,
  header TEXT NOT NULL,
  title TEXT,
  project TEXT,
  started_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  lines INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  tools INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  cached_input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  reasoning_output_tokens INTEGER NOT NULL,
  total_tokens INTEGER NOT NULL,
  parent TEXT,
  relation TEXT,
  gone INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  indexed INTEGER NOT NULL DEFAULT 0,
  cursor BLOB,
  read_bytes INTEGER NOT NULL DEFAULT 0,
  cut_bytes INTEGER NOT NULL DEFAULT 0,
  cut_after INTEGER NOT NULL DEFAULT 0,
  spoke_at INTEGER,
  first_row INTEGER,
  last_row INTEGER
) STRICT;
CREATE INDEX session_last ON session (last_at);
CREATE INDEX session_revision ON session (revision);
CREATE INDEX session_parent ON session (parent) WHERE parent IS NOT NULL;
CREATE INDEX session_unread ON session (last_at) WHERE indexed = 0;

CREATE TABLE model_of (
  model_id INTEGER NOT NULL,
  session_id INTEGER NOT NULL,
  PRIMARY KEY (model_id, session_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX model_session ON model_of (session_id);

CREATE TABLE name_given (
  agent TEXT NOT NULL,
  native_id TEXT NOT NULL,
  title TEXT NOT NULL,
  source_id INTEGER NOT NULL,
  PRIMARY KEY (agent, native_id)
) STRICT, WITHOUT ROWID;

CREATE VIRTUAL TABLE titled USING fts5(
  title, content='', contentless_delete=1, tokenize="${TOKENIZER}"
);

CREATE TABLE usage (
  source_id INTEGER NOT NULL,
  quarter INTEGER NOT NULL,
  model_id INTEGER NOT NULL,
  provisional INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  cached_input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  reasoning_output_tokens INTEGER NOT NULL,
  total_tokens INTEGER NOT NULL,
  PRIMARY KEY (source_id, quarter, model_id, provisional)
) STRICT, WITHOUT ROWID;

CREATE TABLE estimate (
  source_id INTEGER NOT NULL,
  quarter INTEGER NOT NULL,
  model_id INTEGER NOT NULL,
  provisional INTEGER NOT NULL,
  user_bytes INTEGER NOT NULL,
  assistant_bytes INTEGER NOT NULL,
  PRIMARY KEY (source_id, quarter, model_id, provisional)
) STRICT, WITHOUT ROWID;

CREATE TABLE file (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE) STRICT;

CREATE TABLE issue (
  id INTEGER PRIMARY KEY,
  source_id INTEGER NOT NULL,
  pass INTEGER NOT NULL,
  provisional INTEGER NOT NULL,
  line INTEGER,
  code TEXT NOT NULL,
  reason TEXT NOT NULL
) STRICT;
CREATE INDEX issue_source ON issue (source_id, pass);

CREATE TABLE removed (name TEXT PRIMARY KEY, revision INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`

/** What the second pass writes about the messages of a session. */
const MESSAGE_TABLES = `
CREATE TABLE message (
  id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL,
  line INTEGER NOT NULL,
  part INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  tool INTEGER,
  rest INTEGER NOT NULL,
  locator TEXT NOT NULL
) STRICT;
CREATE INDEX message_place ON message (session_id, line, part);
CREATE INDEX message_provisional ON message (session_id) WHERE kind & 64;
CREATE INDEX message_error ON message (id) WHERE kind & 1024;
CREATE INDEX message_image ON message (id) WHERE kind & 2048;

CREATE TABLE aside (
  id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL,
  first_line INTEGER NOT NULL,
  last_line INTEGER NOT NULL,
  provisional INTEGER NOT NULL,
  count INTEGER NOT NULL,
  packed BLOB NOT NULL
) STRICT;
CREATE INDEX aside_first ON aside (session_id, first_line);
CREATE INDEX aside_last ON aside (session_id, last_line);

CREATE VIRTUAL TABLE said USING fts5(
  ${TEXT_COLUMNS.join(', ')}, content='', contentless_delete=1, tokenize="${TOKENIZER}"
);
INSERT INTO said (said, rank) VALUES ('hashsize', 50331648);

CREATE VIRTUAL TABLE given USING fts5(
  context, content='', contentless_delete=1, tokenize="${TOKENIZER}"
);

CREATE TABLE tool_use (
  session_id INTEGER NOT NULL,
  tool_id INTEGER NOT NULL,
  provisional INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  results INTEGER NOT NULL,
  errors INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  timed INTEGER NOT NULL,
  PRIMARY KEY (session_id, tool_id, provisional)
) STRICT, WITHOUT ROWID;

CREATE TABLE activity (
  session_id INTEGER NOT NULL,
  quarter INTEGER NOT NULL,
  provisional INTEGER NOT NULL,
  prompts INTEGER NOT NULL,
  answers INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  PRIMARY KEY (session_id, quarter, provisional)
) STRICT, WITHOUT ROWID;

CREATE TABLE touched (
  session_id INTEGER NOT NULL,
  message_id INTEGER NOT NULL,
  file_id INTEGER NOT NULL,
  how INTEGER NOT NULL,
  PRIMARY KEY (session_id, message_id, file_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX touched_file ON touched (file_id);
`

/**
 * Version 1 packed locators. The messages of every log are read again; a session whose log is gone stays in the list
 * with its title, tokens and cost.
 */
const READ_MESSAGES_AGAIN = `
${[...MESSAGE_TABLES.matchAll(/^CREATE (?:VIRTUAL )?TABLE (\w+)/gm)].map(([, name]) => `DROP TABLE ${name};`).join('\n')}
${MESSAGE_TABLES}
UPDATE session SET indexed = 0, cursor = NULL, read_bytes = 0, cut_bytes = 0, cut_after = 0, first_row = NULL, last_row = NULL;
UPDATE source SET version = 0;
`

/** No agent reported them before. */
const ADD_CACHE_WRITES = ['session', 'usage']
  .flatMap((table) =>
    ['cache_write_tokens', 'cache_write_1h_tokens'].map(
      (column) => `ALTER TABLE ${table} ADD COLUMN ${column} INTEGER NOT NULL DEFAULT 0;`,
    ),
  )
  .join('\n')

/**
 * Times that no log records are no longer stored: everything is read again. A session whose log is gone keeps its times.
 * The times of a session are -1 where its log records none.
 */
const RECORDED_TIMES = `
ALTER TABLE source DROP COLUMN modified;
ALTER TABLE source ADD COLUMN first_at TEXT;
ALTER TABLE source ADD COLUMN last_at TEXT;
ALTER TABLE session DROP COLUMN spoke_at;
${READ_MESSAGES_AGAIN}
UPDATE source SET cursor = NULL;
`

/**
 * Version 3 had the text in FTS5 tables, without the middle of long output. The messages of every log are read again,
 * as above.
 *
 * `text_removed` hides the text of a row in segments with smaller ids than `before`, so these ids are never used again.
 */
const USE_SEGMENTS = `
DROP TABLE said;
DROP TABLE given;
CREATE TABLE text_segment (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  documents INTEGER NOT NULL,
  low INTEGER NOT NULL,
  high INTEGER NOT NULL,
  first_block INTEGER NOT NULL,
  blocks INTEGER NOT NULL,
  directory BLOB NOT NULL,
  members BLOB NOT NULL
) STRICT;
CREATE TABLE text_block (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
CREATE TABLE text_removed (row INTEGER PRIMARY KEY, before INTEGER NOT NULL) STRICT;
ALTER TABLE session DROP COLUMN cut_bytes;
ALTER TABLE session DROP COLUMN cut_after;
UPDATE session SET indexed = 0, cursor = NULL, read_bytes = 0;
UPDATE source SET version = 0;
`

/** Version 5 did not know the session and the tool of a message in a segment, and had indexes for errors and images. */
const KNOW_SESSIONS_AND_TOOLS = `
DROP INDEX message_error;
DROP INDEX message_image;
ALTER TABLE text_segment ADD COLUMN traits INTEGER NOT NULL DEFAULT 0;
DELETE FROM text_segment;
DELETE FROM text_block;
DELETE FROM text_removed;
UPDATE session SET indexed = 0, cursor = NULL, read_bytes = 0;
UPDATE source SET version = 0;
`

/**
 * Version 6 stored every locator as text. Now `locator` has the numbers of a locator whose text is its shape, or the
 * complete text if `shape` is null. Rows of version 6 stay as they are.
 */
const PACK_LOCATORS = `
CREATE TABLE locator_shape (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
ALTER TABLE message RENAME TO message_before;
CREATE TABLE message (
  id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL,
  line INTEGER NOT NULL,
  part INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  tool INTEGER,
  rest INTEGER NOT NULL,
  shape INTEGER,
  locator ANY NOT NULL
) STRICT;
INSERT INTO message SELECT id, session_id, line, part, kind, tool, rest, NULL, locator FROM message_before;
DROP TABLE message_before;
CREATE INDEX message_place ON message (session_id, line, part);
CREATE INDEX message_provisional ON message (session_id) WHERE kind & 64;
`

/** Version 7 stored postings in whole bytes. */
const PACK_POSTINGS = `
DELETE FROM text_segment;
DELETE FROM text_block;
DELETE FROM text_removed;
UPDATE session SET indexed = 0, cursor = NULL, read_bytes = 0;
UPDATE source SET version = 0;
`

/** The application id is `fumi` in ASCII. */
export const INDEX_FORMAT: DatabaseFormat = {
  application: 0x66756d69,
  migrations: [
    SESSION_TABLES + MESSAGE_TABLES,
    READ_MESSAGES_AGAIN,
    ADD_CACHE_WRITES,
    RECORDED_TIMES,
    USE_SEGMENTS,
    KNOW_SESSIONS_AND_TOOLS,
    PACK_LOCATORS,
    PACK_POSTINGS,
  ],
  canShrink: true,
}
