/** Which session a row is, by what was kept of it, and where the sessions are read that are kept here alone. */
import type { Agent, Source } from '../agents/agent.ts'
import type { SourceLocation } from '../index/records.ts'
import { AppError } from '../model/error.ts'
import type { SessionId } from '../model/ids.ts'
import type { BackupDatabase } from './backup-database.ts'
import type { BackedUpSession } from './records.ts'

/** A row with the session id, the numbers and the time that it has in the backup. */
export async function withBackupIdentity(agent: Agent, source: Source, database: BackupDatabase): Promise<Source> {
  if (!agent.volatile || source.key === undefined || database.list({ store: source.path }).length === 0) return source
  const captured = await agent.volatile.capture(source)
  if (captured.kind !== 'conversation') return source
  const { session, first_number, first_seen } = database.match(captured.capture, {
    store: source.path,
    key: source.key,
  })
  return { ...source, session, first_entry: first_number, ...(first_seen !== undefined && { first_seen }) }
}

/** A session as it was last seen, with every entry that it ever had. */
export function backedUpSource(backedUp: BackedUpSession, database: BackupDatabase): Source {
  const { agent, store, key, session, first_seen } = backedUp
  const bytes = backedUp.kind === 'conversation' ? database.conversation(session) : database.bytes(session)
  return { agent, path: store, key, session, first_seen, bytes }
}

const COPY_KEY_PREFIX = 'copy:'

/** The key of a file that is read from its copy. */
export const copyKeyOf = (id: number): string => `${COPY_KEY_PREFIX}${id}`

export const isCopyKey = (key: string | undefined): key is string => key?.startsWith(COPY_KEY_PREFIX) ?? false

export interface ReadableLocation extends SourceLocation {
  readonly root?: string
  /** As in `Source`. */
  readonly claim?: string
}

/** What an agent is given to read, for a source that the index knows. Throws `not_found` when it is no longer kept. */
export function readableSource(location: ReadableLocation, database: () => BackupDatabase, session?: string): Source {
  const { agent, path, key, root, claim } = location
  const identity = {
    ...(session !== undefined && { session }),
    ...(session !== undefined && claim !== undefined && { claim }),
  }
  if (location.kept && isCopyKey(key)) {
    const copy = database().copies.restore(Number(key.slice(COPY_KEY_PREFIX.length)))
    return {
      agent,
      path: copy,
      shown: path,
      ...(root !== undefined && { root }),
      ...identity,
    }
  }
  if (location.kept) {
    const backedUp = key === undefined ? undefined : database().get(key as SessionId)
    if (!backedUp)
      throw new AppError('not_found', `${key ?? path} is no longer kept`, `${key ?? path} の控えはもうありません。`)
    return backedUpSource(backedUp, database())
  }
  return {
    agent,
    path,
    ...(key !== undefined && { key }),
    ...(root !== undefined && { root }),
    ...identity,
  }
}
