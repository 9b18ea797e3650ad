/** What a list can be narrowed down to: agents, projects, models and tools with the sessions that each has. */
import type { Db } from '../open.ts'
import { prepared } from './statements.ts'

export interface Choice {
  readonly value: string
  /** Sessions. */
  readonly count: number
}

export interface Choices {
  readonly agents: readonly Choice[]
  readonly projects: readonly Choice[]
  readonly models: readonly Choice[]
  readonly tools: readonly Choice[]
}

export const NO_CHOICES: Choices = { agents: [], projects: [], models: [], tools: [] }

const MOST = 500

/** Most used first. */
export function choicesOf(db: Db): Choices {
  const all = (sql: string): readonly Choice[] =>
    prepared(db, `${sql} GROUP BY value ORDER BY count DESC, value LIMIT ${MOST}`).all() as Choice[]
  const of = "session t WHERE t.kind = 'conversation'"
  return {
    agents: all(`SELECT t.agent AS value, count(*) AS count FROM ${of}`),
    projects: all(`SELECT t.project AS value, count(*) AS count FROM ${of} AND t.project IS NOT NULL`),
    models: all('SELECT w.text AS value, count(*) AS count FROM model_of m JOIN word w ON w.id = m.model_id'),
    tools: all(
      'SELECT w.text AS value, count(DISTINCT u.session_id) AS count FROM tool_use u JOIN word w ON w.id = u.tool_id',
    ),
  }
}

/** The index as a whole. */
export interface Extent {
  readonly sessions: number
  /** Of the sources. */
  readonly bytes: number
  /** Sessions that cannot be searched yet. */
  readonly unread: number
}

export const NO_EXTENT: Extent = { sessions: 0, bytes: 0, unread: 0 }

export const extentOf = (db: Db): Extent =>
  prepared(
    db,
    `SELECT (SELECT count(*) FROM session WHERE kind = 'conversation') AS sessions,
       (SELECT coalesce(sum(size), 0) FROM source WHERE gone = 0 AND whole IS NULL) AS bytes,
       (SELECT count(*) FROM session WHERE indexed = 0 AND kind = 'conversation') AS unread`,
  ).get() as Extent
