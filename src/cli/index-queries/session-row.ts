/** A session as `fumi list` prints it, from the index or directly from its log. Field names are those of `--json`. */
import type { BackedUpSession, SessionAnnotation, SessionEntry } from '../../app.ts'
import { isZeroUsage, type Usage } from '../../model/usage.ts'
import type { LogSession } from '../find-session.ts'

export interface SessionRow {
  readonly id: string
  readonly agent: string
  readonly native_id: string
  readonly kind: 'conversation' | 'prompts'
  readonly title: string | null
  readonly cwd: string | null
  readonly models: readonly string[]
  /** Null if the log records no time. */
  readonly started_at: string | null
  readonly last_at: string | null
  readonly messages: number
  readonly tools: number | null
  readonly usage: Usage | null
  /** Where the log counts credits instead of tokens. */
  readonly credits?: number
  /** In US dollars. Only where it was asked for. */
  readonly cost?: number
  readonly size: number | null
  readonly parent: string | null
  readonly relation: 'fork' | 'subagent' | 'revert' | null
  readonly children: number
  readonly path: string
  /** Read from the backup. */
  readonly kept: boolean
  /** The log is gone, and there is no backup. */
  readonly gone: boolean
  readonly ended_at: string | null
  readonly ended_how: string | null
  readonly name: string | null
  readonly starred: boolean
  readonly tags: readonly string[]
  readonly note: string | null
}

export function entryToRow(
  entry: SessionEntry,
  endedBackup: BackedUpSession | undefined,
  annotation: SessionAnnotation | undefined,
): SessionRow {
  const { project, title, parent, relation, indexed: _, key: __, revision: ___, lines: ____, ...known } = entry
  return {
    ...known,
    title: title ?? null,
    cwd: project ?? null,
    usage: isZeroUsage(entry.usage) ? null : entry.usage,
    parent: parent ?? null,
    relation: relation ?? null,
    gone: entry.gone && !entry.kept,
    ...endFields(endedBackup),
    ...annotationFields(annotation),
  }
}

export function logSessionToRow(
  { session, last_at, messages, log, kept: backup }: LogSession,
  annotation: SessionAnnotation | undefined,
): SessionRow {
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
    messages,
    tools: null,
    usage: null,
    ...(session.credits !== undefined && { credits: session.credits }),
    size: null,
    parent: parent ?? null,
    relation: relation ?? null,
    children: 0,
    path: log.source.path,
    kept: backup !== undefined,
    gone: false,
    ...endFields(backup),
    ...annotationFields(annotation),
  }
}

const endFields = (backup: BackedUpSession | undefined): Pick<SessionRow, 'ended_at' | 'ended_how'> => ({
  ended_at: backup?.ended_at ?? null,
  ended_how: backup?.ended_how ?? null,
})

const annotationFields = (
  annotation: SessionAnnotation | undefined,
): Pick<SessionRow, 'name' | 'starred' | 'tags' | 'note'> => ({
  name: annotation?.name ?? null,
  starred: annotation?.starred ?? false,
  tags: annotation?.tags ?? [],
  note: annotation?.note ?? null,
})
