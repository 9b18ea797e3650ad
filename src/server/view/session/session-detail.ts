/** All that is said of one session beside its messages. */
import type { App, SessionEntry } from '../../../app.ts'
import { fieldsOf, listOf, numberOf, stringOf } from '../../../lib/object.ts'
import type { CheckpointItem, SessionDetail } from '../../../model/api/session.ts'
import { toInstant } from '../../../model/ids.ts'
import type { Metadata, NormalizedMessage, Role } from '../../../model/normalized.ts'
import type { ServerContext } from '../../house-view.ts'
import { resumeFields } from './resume.ts'
import { toSessionItems } from './session-item.ts'
import { toSpecMessage } from './specified.ts'

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
