/** Sources that may hold several sessions: each session has a row of its own that belongs to the source's. */
import type { SessionId } from '../../model/ids.ts'
import type { Db } from '../open.ts'
import type { PartTask, Scanned, Task } from '../record.ts'

export interface Parts {
  /** A source and its parts. */
  rows(source: number): readonly number[]
  /** The sessions that they tell. */
  sessions(source: number): readonly number[]
  /** None of them is there, until it is found again. @returns their sessions */
  markGone(source: number): readonly number[]
  /** What is not read yet: one piece of work for each source. */
  tasks(): readonly Task[]
}

interface RawPart extends PartTask {
  readonly whole: number
  readonly agent: string
  readonly path: string
  readonly root: string | null
  readonly whole_size: number
}

export function partsIn(db: Db): Parts {
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
      const wholes = new Map<number, RawPart[]>()
      for (const part of unread.all() as RawPart[]) {
        const known = wholes.get(part.whole)
        if (known) known.push(part)
        else wholes.set(part.whole, [part])
      }
      return [...wholes.values()].flatMap((parts) => taskOf(parts) ?? [])
    },
  }
}

function taskOf(parts: readonly RawPart[]): Task | undefined {
  const [first] = parts
  if (!first) return undefined
  const { session, name, whole, agent, path, root, whole_size: size } = first
  return {
    session,
    name,
    source: whole,
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
export function partsOf({ parts = [], ...whole }: Scanned): readonly Scanned[] {
  const size = Math.round(whole.size / Math.max(1, parts.length))
  const nothing = { titles: [], issues: [], provisionalIssues: [] }
  return parts.map((part) => ({ ...whole, ...part, key: part.session.id as SessionId, size, ...nothing }))
}
