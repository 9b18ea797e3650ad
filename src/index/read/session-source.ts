/** The source that stands for a session: where its bodies are read. */

import type { Db } from '../../lib/sqlite/own-database.ts'
import type { SessionId } from '../../model/ids.ts'
import type { SourceLocation } from '../records.ts'
import { prepareCached } from './statements.ts'

export interface SessionSource extends SourceLocation {
  readonly root?: string
  readonly gone: boolean
  /** What the source itself calls it, where it is one of the sessions that the source holds. */
  readonly claim?: string
}

interface SourceRow {
  readonly agent: string
  readonly path: string
  readonly key: string
  readonly root: string | null
  readonly kept: number
  readonly gone: number
  readonly whole: number | null
  readonly claim: string | null
}

export function readSessionSource(db: Db, id: SessionId): SessionSource | undefined {
  const sql =
    'SELECT s.agent, s.path, s.key, s.root, s.kept, s.gone, s.whole, s.claim FROM session t JOIN source s ON s.id = t.source_id WHERE t.name = ?'
  const row = prepareCached(db, sql).get(id) as SourceRow | undefined
  if (!row) return undefined
  const { agent, path, key, root, kept, gone, whole: container, claim } = row
  return {
    agent,
    path,
    kept: kept === 1,
    gone: gone === 1,
    ...(container !== null && claim !== null && { claim }),
    ...(key !== '' && container === null && { key }),
    ...(root !== null && { root }),
  }
}
