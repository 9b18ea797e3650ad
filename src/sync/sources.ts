/** Which session a row is, by what was kept of it, and where the sessions are read that are kept here alone. */
import type { Agent, Source } from '../agents/agent.ts'
import type { Kept } from '../archive/keep/record.ts'
import type { Keep } from '../archive/keep.ts'

/** A row with the session id, the numbers and the time that it has in the keep. */
export async function settled(agent: Agent, source: Source, keep: Keep): Promise<Source> {
  if (!agent.volatile || source.key === undefined || keep.list({ store: source.path }).length === 0) return source
  const captured = await agent.volatile.capture(source)
  if (captured.kind !== 'conversation') return source
  const { session, first_number, first_seen } = keep.match(captured.capture, { store: source.path, key: source.key })
  return { ...source, session, first_entry: first_number, ...(first_seen !== undefined && { first_seen }) }
}

/** A session as it was last seen, with every entry that it ever had. */
export function keptSource(kept: Kept, keep: Keep): Source {
  const { agent, store, key, session, first_seen } = kept
  const bytes = kept.kind === 'conversation' ? keep.conversation(session) : keep.bytes(session)
  return { agent, path: store, key, session, first_seen, bytes }
}
