/** The checkpoints that a conversation made of its files. */
import type { App } from '../../app.ts'
import { fieldsOf, listOf } from '../../lib/object.ts'
import { type Instant, type SessionId, toInstant } from '../../model/ids.ts'

export interface SessionCheckpoint {
  readonly tag: string
  readonly at: Instant
}

/** Oldest first; none where the agent makes none. */
export async function readCheckpoints(app: App, session: SessionId): Promise<readonly SessionCheckpoint[]> {
  const [first] = await app.messages(session, { limit: 1 })
  if (first?.kind !== 'body' || first.message.source_type !== 'session') return []
  const manager = fieldsOf(first.message.metadata?.['checkpoint_manager'])
  return listOf(manager?.['checkpoints']).flatMap((one) => {
    const { tag, timestamp } = fieldsOf(one) ?? {}
    const at = toInstant(timestamp)
    return typeof tag === 'string' && at !== undefined ? { tag, at } : []
  })
}
