/** Files that tool calls touched: those of the latest sessions, or those whose paths contain given words. */
import type { Db } from '../lib/sqlite/own-database.ts'
import { prepareCached } from '../lib/sqlite/statements.ts'

export interface ListedFile {
  readonly path: string
  readonly calls: number
  readonly sessions: number
  /** Last time of the latest session that touched it, in milliseconds. Null if its log records none. */
  readonly last_at: number | null
}

export interface FileListOptions {
  /** Words that the path must contain, in any order. Without them, the files of the latest sessions. */
  readonly words?: readonly string[]
  readonly limit: number
}

/** So that the list is fast in any index. */
const LATEST_SESSIONS = 300
const MAX_MATCHING_FILES = 2000

export function readFileList(db: Db, { words = [], limit }: FileListOptions): readonly ListedFile[] {
  const condition = words.map(() => 'instr(lower(y.path), lower(?)) > 0').join(' AND ')
  const touched =
    words.length === 0
      ? `(SELECT id FROM session ORDER BY last_at DESC LIMIT ${LATEST_SESSIONS}) l CROSS JOIN touched x ON x.session_id = l.id`
      : `(SELECT y.id FROM file y WHERE ${condition} LIMIT ${MAX_MATCHING_FILES}) l CROSS JOIN touched x ON x.file_id = l.id`
  return prepareCached(
    db,
    `SELECT f.path, count(*) AS calls, count(DISTINCT x.session_id) AS sessions, iif(max(t.last_at) < 0, NULL, max(t.last_at)) AS last_at
     FROM ${touched} CROSS JOIN session t ON t.id = x.session_id CROSS JOIN file f ON f.id = x.file_id
     GROUP BY x.file_id ORDER BY max(t.last_at) DESC, calls DESC, f.path LIMIT ?`,
  ).all(...words, limit) as ListedFile[]
}
