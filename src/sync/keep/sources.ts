/** Which session a row is, by what was kept of it, and where the sessions are read that are kept here alone. */
import type { Agent, Source } from '../../agents/agent.ts'
import type { Kept } from '../../archive/keep/record.ts'
import type { Keep } from '../../archive/keep.ts'
import type { Where } from '../../archive/record.ts'
import { AppError } from '../../model/error.ts'
import type { SessionId } from '../../model/ids.ts'

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

const COPY = 'copy:'

/** The key of a file that is read from its copy. */
export const copyKey = (id: number): string => `${COPY}${id}`

export const isCopy = (key: string | undefined): key is string => key?.startsWith(COPY) ?? false

interface WhereRead extends Where {
  readonly root?: string
  /** As in `Source`. */
  readonly claim?: string
}

/** What an agent is given to read, for a source that the index knows. Throws `not_found` when it is no longer kept. */
export function sourceAt(where: WhereRead, keep: () => Keep, session?: string): Source {
  const { agent, path, key, root, claim } = where
  const named = {
    ...(session !== undefined && { session }),
    ...(session !== undefined && claim !== undefined && { claim }),
  }
  if (where.kept && isCopy(key)) {
    const copy = keep().copies.restore(Number(key.slice(COPY.length)))
    return {
      agent,
      path: copy,
      shown: path,
      ...(root !== undefined && { root }),
      ...named,
    }
  }
  if (where.kept) {
    const kept = key === undefined ? undefined : keep().get(key as SessionId)
    if (!kept)
      throw new AppError('not_found', `${key ?? path} is no longer kept`, `${key ?? path} の控えはもうありません。`)
    return keptSource(kept, keep())
  }
  return {
    agent,
    path,
    ...(key !== undefined && { key }),
    ...(root !== undefined && { root }),
    ...named,
  }
}
