/** All that is said of one session beside its messages. */
import type { Entry, House } from '../../../app.ts'
import { fieldsOf, listOf, numberOf, stringOf } from '../../../lib/object.ts'
import type { CheckpointItem, SessionDetail } from '../../../model/api/session.ts'
import { instant } from '../../../model/ids.ts'
import type { Metadata, NormalizedMessage, Role } from '../../../model/normalized.ts'
import type { HouseView } from '../../house-view.ts'
import { resumeOf } from './resume.ts'
import { sessionItems } from './session-item.ts'
import { specified } from './specified.ts'

const MOST_ISSUES = 100
const MOST_CHILDREN = 200
const MOST_MESSAGES = 1000
const SPEAKERS: { readonly [letter: string]: Role } = { u: 'user', a: 'assistant', c: 'tool', r: 'tool', s: 'system' }

export async function sessionDetail(
  view: HouseView,
  entry: Entry,
  variant: 'original' | 'sanitized' | undefined,
): Promise<SessionDetail> {
  const { house } = view
  const [item] = await sessionItems(house, [entry])
  const header = house.index.header(entry.id)
  if (!item || !header) throw new Error(`${entry.id} is in the index and has no header`)
  const { total, shape } = view.layouts.of(entry)
  const children = house.list({ children: { of: entry.id }, limit: MOST_CHILDREN, kind: 'any' }).sessions
  const state = await stateOf(house, entry)
  const log = await house.logOf(entry.id)
  return {
    ...item,
    agent_label: log?.agent.label ?? entry.agent,
    path: entry.path,
    row_key: entry.key ?? null,
    header,
    record_count: total,
    speaker_roles: [
      ...new Set(Array.from(new Set(shape), (letter) => SPEAKERS[letter]).filter((role) => role !== undefined)),
    ],
    issues: house.index
      .issues(entry.id, MOST_ISSUES)
      .map(({ code, reason, line }) => ({ code, reason, line: line ?? null })),
    children: await sessionItems(house, children),
    ...(await resumeOf(house, entry, header)),
    has_state: state !== undefined,
    checkpoints: checkpointsIn(state),
    ...(variant && { messages: await firstMessages(house, entry, variant) }),
  }
}

/** The message that holds the state of a conversation, of agents that keep one. */
export async function stateOf(house: House, { id }: Entry): Promise<Metadata | undefined> {
  const [first] = await house.messages(id, { limit: 1 })
  if (first?.kind !== 'body' || first.message.source_type !== 'session') return undefined
  const { metadata } = first.message
  return metadata?.['history_entries'] === undefined ? undefined : metadata
}

export function checkpointsIn(state: Metadata | undefined): readonly CheckpointItem[] {
  const manager = fieldsOf(state?.['checkpoint_manager'])
  const stats = fieldsOf(manager?.['file_stats_cache'])
  return listOf(manager?.['checkpoints']).flatMap((one) => {
    const { tag, timestamp, description, history_snapshot } = fieldsOf(one) ?? {}
    if (typeof tag !== 'string') return []
    const counts = fieldsOf(stats?.[tag])
    return {
      tag,
      at: instant(timestamp) ?? '',
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

async function firstMessages(
  house: House,
  { id }: Entry,
  variant: 'original' | 'sanitized',
): Promise<readonly NormalizedMessage[]> {
  const bodies = await house.messages(id, { limit: MOST_MESSAGES })
  return bodies.flatMap((body) => (body.kind === 'body' ? specified(body.message, variant) : []))
}
