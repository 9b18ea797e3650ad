/** All that is said of one session beside its messages. */

import { formatShellLine, whyNotResumable } from '../../../agents/resume-command.ts'
import type { App, SessionEntry } from '../../../app.ts'
import { fieldsOf, listOf, numberOf, stringOf } from '../../../lib/unknown-values.ts'
import type { CheckpointItem, SessionDetail } from '../../../model/api/session.ts'
import { toInstant } from '../../../model/ids.ts'
import type { Metadata } from '../../../model/metadata.ts'
import type { NormalizedMessage, Role } from '../../../model/normalized.ts'
import type { Session } from '../../../model/session.ts'
import type { ServerContext } from '../../context.ts'
import { renderSpecHtml } from '../render-html.ts'
import { toSessionItems } from './session-item.ts'

const MAX_ISSUES = 100
const MAX_CHILDREN = 200
const MAX_MESSAGES = 1000
const ROLES_BY_LETTER: { readonly [letter: string]: Role } = {
  u: 'user',
  a: 'assistant',
  c: 'tool',
  r: 'tool',
  s: 'system',
}

export async function readSessionDetail(
  context: ServerContext,
  entry: SessionEntry,
  variant: 'original' | 'sanitized' | undefined,
): Promise<SessionDetail> {
  const { app } = context
  const [item] = await toSessionItems(app, [entry])
  const header = app.index.header(entry.id)
  if (!item || !header) throw new Error(`${entry.id} is in the index and has no header`)
  const { total, shape } = context.layouts.of(entry)
  const children = app.list({ children: { of: entry.id }, limit: MAX_CHILDREN, kind: 'any' }).sessions
  const state = await readStateMetadata(app, entry)
  const log = await app.logOf(entry.id)
  return {
    ...item,
    agent_label: log?.agent.label ?? entry.agent,
    path: entry.path,
    row_key: entry.key ?? null,
    header,
    record_count: total,
    speaker_roles: [
      ...new Set(Array.from(new Set(shape), (letter) => ROLES_BY_LETTER[letter]).filter((role) => role !== undefined)),
    ],
    issues: app.index
      .issues(entry.id, MAX_ISSUES)
      .map(({ code, reason, line }) => ({ code, reason, line: line ?? null })),
    children: await toSessionItems(app, children),
    ...(await resumeFields(app, entry, header)),
    has_state: state !== undefined,
    checkpoints: toCheckpointItems(state),
    ...(variant && { messages: await readFirstMessages(app, entry, variant) }),
  }
}

/** The message that holds the state of a conversation, of agents that keep one. */
export async function readStateMetadata(app: App, { id }: SessionEntry): Promise<Metadata | undefined> {
  const [first] = await app.messages(id, { limit: 1 })
  if (first?.kind !== 'body' || first.message.source_type !== 'session') return undefined
  const { metadata } = first.message
  return metadata?.['history_entries'] === undefined ? undefined : metadata
}

export function toCheckpointItems(state: Metadata | undefined): readonly CheckpointItem[] {
  const manager = fieldsOf(state?.['checkpoint_manager'])
  const stats = fieldsOf(manager?.['file_stats_cache'])
  return listOf(manager?.['checkpoints']).flatMap((one) => {
    const { tag, timestamp, description, history_snapshot } = fieldsOf(one) ?? {}
    if (typeof tag !== 'string') return []
    const counts = fieldsOf(stats?.[tag])
    return {
      tag,
      at: toInstant(timestamp) ?? '',
      description: stringOf(description) ?? null,
      entries: numberOf(history_snapshot) ?? null,
      files: counts
        ? {
            added: numberOf(counts['added']) ?? 0,
            modified: numberOf(counts['modified']) ?? 0,
            deleted: numberOf(counts['deleted']) ?? 0,
          }
        : null,
    }
  })
}

async function readFirstMessages(
  app: App,
  { id }: SessionEntry,
  variant: 'original' | 'sanitized',
): Promise<readonly NormalizedMessage[]> {
  const bodies = await app.messages(id, { limit: MAX_MESSAGES })
  return bodies.flatMap((body) => (body.kind === 'body' ? toSpecMessage(body.message, variant) : []))
}

/** The command that goes on with a session, or why there is none. */
async function resumeFields(
  app: App,
  entry: SessionEntry,
  session: Session,
): Promise<Pick<SessionDetail, 'resume' | 'resume_reason'>> {
  const log = await app.logOf(entry.id)
  const ended = entry.kept ? app.backup.get(entry.id)?.ended_how : undefined
  const reason = log
    ? whyNotResumable(log.agent, session, entry.kept ? (ended ?? 'gone') : undefined)?.en
    : `the log of ${session.id} is gone: ${session.path}.`
  if (reason !== undefined || !log?.agent.resume) return { resume: null, resume_reason: reason ?? null }
  const command = log.agent.resume(session)
  return { resume: { command: formatShellLine(command), cwd: command.cwd ?? null }, resume_reason: null }
}

// A message in the specification's own shape.

/** `sanitized` puts HTML of the allowed tags in place of each text. Annotations count places in the text as it was said. */
function toSpecMessage(message: NormalizedMessage, variant: 'original' | 'sanitized'): NormalizedMessage {
  if (variant === 'original') return message
  const segments = message.segments.map(({ annotations: _, ...segment }) =>
    segment.text === undefined ? segment : { ...segment, text: renderSpecHtml(segment.text) },
  )
  return { ...message, segments }
}
