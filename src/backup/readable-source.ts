/** Assigns rows to backed-up sessions, and makes sources of sessions that exist only in the backup. */
import type { Agent, Source } from '../agents/agent.ts'
import type { SourceLocation } from '../index/records.ts'
import { AppError } from '../model/error.ts'
import type { SessionId } from '../model/ids.ts'
import type { BackupDatabase } from './backup-database.ts'
import type { BackedUpSession } from './records.ts'

/** Returns the source with its session id and numbers from the backup. */
export async function withBackupIdentity(agent: Agent, source: Source, database: BackupDatabase): Promise<Source> {
  if (!agent.volatile || source.key === undefined || database.list({ store: source.path }).length === 0) return source
  const captured = await agent.volatile.capture(source)
  if (captured.kind !== 'conversation') return source
  const { session, first_number } = database.match(captured.capture, {
    store: source.path,
    key: source.key,
  })
  return { ...source, session, first_entry: first_number }
}

/** The last state of a session, with all entries it ever had. */
export function backedUpSource(backedUp: BackedUpSession, database: BackupDatabase): Source {
  const { agent, store, key, session } = backedUp
  const bytes = backedUp.kind === 'conversation' ? database.conversation(session) : database.bytes(session)
  return { agent, path: store, key, session, bytes }
}

const COPY_KEY_PREFIX = 'copy:'

/** Key of a file that is read from its backup. */
export const copyKeyOf = (id: number): string => `${COPY_KEY_PREFIX}${id}`

export const isCopyKey = (key: string | undefined): key is string => key?.startsWith(COPY_KEY_PREFIX) ?? false

/** The number in such a key. */
export const copyIdOf = (key: string | undefined): number | undefined =>
  isCopyKey(key) ? Number(key.slice(COPY_KEY_PREFIX.length)) : undefined

export interface ReadableLocation extends SourceLocation {
  readonly root?: string
  /** As in `Source`. */
  readonly claim?: string
}

/** Returns what the agent reads for an indexed source. Throws `not_found` if its backup is gone. */
export function readableSource(location: ReadableLocation, database: () => BackupDatabase, session?: string): Source {
  const { agent, path, key, root, claim } = location
  const identity = {
    ...(session !== undefined && { session }),
    ...(session !== undefined && claim !== undefined && { claim }),
  }
  if (location.kept && isCopyKey(key)) {
    const copy = database().files.restore(Number(key.slice(COPY_KEY_PREFIX.length)))
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
      throw new AppError(
        'not_found',
        `There is no backup of ${key ?? path} any more.`,
        `${key ?? path} のバックアップはもうありません。`,
      )
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
