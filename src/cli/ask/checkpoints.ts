/** The checkpoints that a conversation made of its files. */
import type { House } from '../../app.ts'
import { fieldsOf, listOf } from '../../lib/object.ts'
import { type Instant, instant, type SessionId } from '../../model/ids.ts'

export interface CheckpointMade {
  readonly tag: string
  readonly at: Instant
}

/** Oldest first; none where the agent makes none. */
export async function checkpointsOf(house: House, session: SessionId): Promise<readonly CheckpointMade[]> {
  const [first] = await house.messages(session, { limit: 1 })
  if (first?.kind !== 'body' || first.message.source_type !== 'session') return []
  const manager = fieldsOf(first.message.metadata?.['checkpoint_manager'])
  return listOf(manager?.['checkpoints']).flatMap((one) => {
    const { tag, timestamp } = fieldsOf(one) ?? {}
    const at = instant(timestamp)
    return typeof tag === 'string' && at !== undefined ? { tag, at } : []
  })
}
