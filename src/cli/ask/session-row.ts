/** A session as `fumi list` tells it, from the index or straight from its log. Its names are those of `--json`. */
import type { Entry, Kept, Mark } from '../../app.ts'
import type { Usage } from '../../model/usage.ts'
import type { Listing } from '../sessions.ts'

export interface SessionRow {
  readonly id: string
  readonly agent: string
  readonly native_id: string
  readonly kind: 'conversation' | 'prompts'
  readonly title: string | null
  readonly cwd: string | null
  readonly models: readonly string[]
  readonly started_at: string
  readonly last_at: string
  /** These are not known of a log of which only the beginning was looked at. */
  readonly messages: number | null
  readonly tools: number | null
  readonly usage: Usage | null
  readonly size: number | null
  readonly parent: string | null
  readonly relation: 'fork' | 'subagent' | null
  readonly children: number
  readonly path: string
  /** It is read from fumibako's own copy. */
  readonly kept: boolean
  /** No source is left, and nothing was kept of it. */
  readonly gone: boolean
  readonly ended_at: string | null
  readonly ended_how: string | null
  readonly name: string | null
  readonly starred: boolean
  readonly tags: readonly string[]
  readonly note: string | null
}

export function rowOfEntry(entry: Entry, ended: Kept | undefined, mark: Mark | undefined): SessionRow {
  const { project, title, parent, relation, indexed: _, key: __, revision: ___, lines: ____, ...known } = entry
  return {
    ...known,
    title: title ?? null,
    cwd: project ?? null,
    parent: parent ?? null,
    relation: relation ?? null,
    gone: entry.gone && !entry.kept,
    ...endOf(ended),
    ...marksOf(mark),
  }
}

export function rowOfListing({ session, last_at, messages, log, kept }: Listing, mark: Mark | undefined): SessionRow {
  const { id, agent, native_id, kind, models, started_at, parent, relation } = session
  return {
    id,
    agent,
    native_id,
    kind,
    title: session.title ?? session.first_prompt ?? null,
    cwd: session.cwd ?? null,
    models,
    started_at,
    last_at,
    messages: messages ?? null,
    tools: null,
    usage: null,
    size: null,
    parent: parent ?? null,
    relation: relation ?? null,
    children: 0,
    path: log.source.path,
    kept: kept !== undefined,
    gone: false,
    ...endOf(kept),
    ...marksOf(mark),
  }
}

const endOf = (kept: Kept | undefined): Pick<SessionRow, 'ended_at' | 'ended_how'> => ({
  ended_at: kept?.ended_at ?? null,
  ended_how: kept?.ended_how ?? null,
})

const marksOf = (mark: Mark | undefined): Pick<SessionRow, 'name' | 'starred' | 'tags' | 'note'> => ({
  name: mark?.name ?? null,
  starred: mark?.starred ?? false,
  tags: mark?.tags ?? [],
  note: mark?.note ?? null,
})
