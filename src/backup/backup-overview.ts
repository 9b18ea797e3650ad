/** What the backup holds, by agent: how much, since when, and what exists nowhere else. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { openSqlite } from '../lib/sqlite/driver.ts'
import { type Db, withDatabaseErrors } from '../lib/sqlite/own-database.ts'
import type { AgentId, Instant } from '../model/ids.ts'

export interface AgentBackup {
  readonly agent: AgentId
  /** Backed-up rows and files. */
  readonly items: number
  /** Bytes of the originals, and of their compressed pieces. */
  readonly bytes: number
  readonly stored_bytes: number
  readonly since?: Instant
  /** Items whose original was deleted, overwritten or replaced. */
  readonly only_here: number
  readonly only_here_bytes: number
}

export interface BackupOverview {
  /** Size of the database. */
  readonly bytes: number
  /** Part of it that new pieces will use first. */
  readonly free_bytes: number
  readonly agents: readonly AgentBackup[]
}

const ROWS = `
  SELECT generation.agent, first_seen AS since, size AS bytes, ended_at IS NOT NULL AS gone, NULL AS path
  FROM generation JOIN layout ON layout.id =
    (SELECT id FROM layout WHERE generation_id = generation.id ORDER BY skip + entries DESC, revision DESC LIMIT 1)`
const FILES = `
  SELECT agent, first_seen AS since, size AS bytes,
    EXISTS (SELECT 1 FROM file newer WHERE newer.path = file.path AND newer.agent = file.agent AND newer.id > file.id) AS gone,
    path
  FROM file`
const STORED = `
  SELECT agent, sum(size) AS bytes FROM (
    SELECT generation.agent, length(recipe) + length(frame) AS size
    FROM layout JOIN generation ON generation.id = generation_id
    UNION ALL
    SELECT agent, length(body) FROM (
      SELECT DISTINCT agent, piece_id FROM entry JOIN conversation ON conversation.id = conversation_id
      UNION SELECT agent, spelling.piece_id FROM spelling JOIN entry ON entry.id = entry_id
        JOIN conversation ON conversation.id = conversation_id
      UNION SELECT generation.agent, piece_id FROM part JOIN layout ON layout.id = layout_id
        JOIN generation ON generation.id = generation_id
      UNION SELECT agent, piece_id FROM file_piece JOIN file ON file.id = file_id
    ) JOIN piece ON piece.id = piece_id
  ) GROUP BY agent`

/** The first version with files. */
const FILES_FORMAT_VERSION = 3

/**
 * Reads the database without changing it. Undefined if there is no backup, or only one of version 0.1.0.
 * @param path the database
 */
export function readBackupOverview(path: string): BackupOverview | undefined {
  if (!existsSync(path) || !existsSync(dirname(path))) return undefined
  return withDatabaseErrors(path, () => {
    const db = openSqlite(path, { readonly: true, fileMustExist: true })
    try {
      const version = Number(db.pragma('user_version', { simple: true }))
      return version < FILES_FORMAT_VERSION ? undefined : overviewOf(db)
    } finally {
      db.close()
    }
  })
}

/**
 * Paths of the files in the backup, without changing it. @param path the database
 */
export function readBackedUpPaths(path: string): ReadonlySet<string> {
  if (!existsSync(path) || !existsSync(dirname(path))) return new Set()
  return withDatabaseErrors(path, () => {
    const db = openSqlite(path, { readonly: true, fileMustExist: true })
    try {
      const version = Number(db.pragma('user_version', { simple: true }))
      if (version < FILES_FORMAT_VERSION) return new Set()
      return new Set(db.prepare('SELECT path FROM file').pluck().all() as string[])
    } finally {
      db.close()
    }
  })
}

interface ItemRow {
  readonly agent: AgentId
  readonly since: Instant | null
  readonly bytes: number
  readonly gone: 0 | 1
  readonly path: string | null
}

export function overviewOf(db: Db): BackupOverview {
  const pages = (name: string): number => Number(db.pragma(name, { simple: true }))
  const stored = new Map(db.prepare(STORED).raw().all() as [AgentId, number][])
  const agents = new Map<AgentId, AgentBackup>()
  for (const item of db.prepare(`${ROWS} UNION ALL ${FILES}`).iterate() as IterableIterator<ItemRow>) {
    const { agent, bytes, since } = item
    const before = agents.get(agent)
    const isOnlyHere = item.gone === 1 || (item.path !== null && !existsSync(item.path))
    const first = [before?.since, since ?? undefined].filter((one) => one !== undefined).sort()[0]
    agents.set(agent, {
      agent,
      items: (before?.items ?? 0) + 1,
      bytes: (before?.bytes ?? 0) + bytes,
      stored_bytes: stored.get(agent) ?? 0,
      only_here: (before?.only_here ?? 0) + (isOnlyHere ? 1 : 0),
      only_here_bytes: (before?.only_here_bytes ?? 0) + (isOnlyHere ? bytes : 0),
      ...(first !== undefined && { since: first }),
    })
  }
  const size = pages('page_size')
  return {
    bytes: pages('page_count') * size,
    free_bytes: pages('freelist_count') * size,
    agents: [...agents.values()].sort((a, b) => (a.agent < b.agent ? -1 : 1)),
  }
}
