/** Sources that may hold several sessions: each session has a row of its own that belongs to the source's. */

import type { Db } from '../../lib/sqlite/own-database.ts'
import type { SessionId } from '../../model/ids.ts'
import type { PartTask, ReadTask, ScannedSource } from '../records.ts'

export interface SourceParts {
  /** A source and its parts. */
  rows(source: number): readonly number[]
  /** The sessions that they tell. */
  sessions(source: number): readonly number[]
  /** None of them is there, until it is found again. @returns their sessions */
  markGone(source: number): readonly number[]
  /** What is not read yet: one piece of work for each source. */
  tasks(): readonly ReadTask[]
}

interface PartRow extends PartTask {
  readonly whole: number
  readonly agent: string
  readonly path: string
  readonly root: string | null
  readonly whole_size: number
}

export function sourcePartsIn(db: Db): SourceParts {
  const rows = db.prepare('SELECT id FROM source WHERE id = :id OR whole = :id').pluck()
  const sessions = db
    .prepare('SELECT session_id FROM source WHERE (id = :id OR whole = :id) AND session_id IS NOT NULL')
    .pluck()
  const gone = db.prepare('UPDATE source SET gone = 1 WHERE whole = ?')
  const unread = db.prepare(
    `SELECT t.id AS session, t.name, s.id AS source, s.claim, s.size, s.whole, w.agent, w.path, w.root, w.size AS whole_size
     FROM session t JOIN source s ON s.id = t.source_id JOIN source w ON w.id = s.whole
     WHERE t.indexed = 0 AND s.gone = 0 ORDER BY t.last_at DESC, t.id DESC`,
  )
  return {
    rows: (id) => rows.all({ id }) as number[],
    sessions: (id) => sessions.all({ id }) as number[],
    markGone(id) {
      gone.run(id)
      return sessions.all({ id }) as number[]
    },
    tasks() {
      const byContainer = new Map<number, PartRow[]>()
      for (const part of unread.all() as PartRow[]) {
        const known = byContainer.get(part.whole)
        if (known) known.push(part)
        else byContainer.set(part.whole, [part])
      }
      return [...byContainer.values()].flatMap((parts) => toPartsTask(parts) ?? [])
    },
  }
}

function toPartsTask(parts: readonly PartRow[]): ReadTask | undefined {
  const [first] = parts
  if (!first) return undefined
  const { session, name, whole: container, agent, path, root, whole_size: size } = first
  return {
    session,
    name,
    source: container,
    agent,
    path,
    kept: false,
    size,
    read: 0,
    ...(root !== null && { root }),
    parts: parts.map((one) => ({
      session: one.session,
      source: one.source,
      size: one.size,
      name: one.name,
      claim: one.claim,
    })),
  }
}

/** Each part as if it were a source. Bytes are shared out evenly: nobody knows better. */
export function partsAsSources({ parts = [], ...container }: ScannedSource): readonly ScannedSource[] {
  const size = Math.round(container.size / Math.max(1, parts.length))
  const noFindings = { titles: [], issues: [], provisionalIssues: [] }
  return parts.map((part) => ({ ...container, ...part, key: part.session.id as SessionId, size, ...noFindings }))
}
