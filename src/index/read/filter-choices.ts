/** What a list can be narrowed down to: agents, projects, models and tools with the sessions that each has. */
import type { Db } from '../../lib/sqlite/own-database.ts'
import { prepareCached } from './statements.ts'

export interface FilterChoice {
  readonly value: string
  /** Sessions. */
  readonly count: number
}

export interface FilterChoices {
  readonly agents: readonly FilterChoice[]
  readonly projects: readonly FilterChoice[]
  readonly models: readonly FilterChoice[]
  readonly tools: readonly FilterChoice[]
}

export const NO_FILTER_CHOICES: FilterChoices = { agents: [], projects: [], models: [], tools: [] }

const MAX_CHOICES = 500

/** Most used first. */
export function readFilterChoices(db: Db): FilterChoices {
  const all = (sql: string): readonly FilterChoice[] =>
    prepareCached(db, `${sql} GROUP BY value ORDER BY count DESC, value LIMIT ${MAX_CHOICES}`).all() as FilterChoice[]
  const conversations = "session t WHERE t.kind = 'conversation'"
  return {
    agents: all(`SELECT t.agent AS value, count(*) AS count FROM ${conversations}`),
    projects: all(`SELECT t.project AS value, count(*) AS count FROM ${conversations} AND t.project IS NOT NULL`),
    models: all('SELECT w.text AS value, count(*) AS count FROM model_of m JOIN word w ON w.id = m.model_id'),
    tools: all(
      'SELECT w.text AS value, count(DISTINCT u.session_id) AS count FROM tool_use u JOIN word w ON w.id = u.tool_id',
    ),
  }
}

/** The index as a whole. */
export interface IndexSize {
  readonly sessions: number
  /** Of the sources. */
  readonly bytes: number
  /** Sessions that cannot be searched yet. */
  readonly unread: number
}

export const EMPTY_INDEX_SIZE: IndexSize = { sessions: 0, bytes: 0, unread: 0 }

export const readIndexSize = (db: Db): IndexSize =>
  prepareCached(
    db,
    `SELECT (SELECT count(*) FROM session WHERE kind = 'conversation') AS sessions,
       (SELECT coalesce(sum(size), 0) FROM source WHERE gone = 0 AND whole IS NULL) AS bytes,
       (SELECT count(*) FROM session WHERE indexed = 0 AND kind = 'conversation') AS unread`,
  ).get() as IndexSize
