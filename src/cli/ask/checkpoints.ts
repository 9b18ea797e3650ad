/** The checkpoints that a conversation made of its files. */
import type { House } from '../../app.ts'
import { type Instant, instant, type SessionId } from '../../model/ids.ts'

export interface CheckpointMade {
  readonly tag: string
  readonly at: Instant
}

/** Oldest first; none where the agent makes none. */
export async function checkpointsOf(house: House, session: SessionId): Promise<readonly CheckpointMade[]> {
  const [first] = await house.messages(session, { limit: 1 })
  if (first?.kind !== 'body' || first.message.source_type !== 'session') return []
  const manager = first.message.metadata?.['checkpoint_manager'] as { checkpoints?: unknown } | null | undefined
  const list = Array.isArray(manager?.checkpoints) ? (manager.checkpoints as readonly Record<string, unknown>[]) : []
  return list.flatMap(({ tag, timestamp }) => {
    const at = instant(timestamp)
    return typeof tag === 'string' && at !== undefined ? { tag, at } : []
  })
}
