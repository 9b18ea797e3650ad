/** Keeps what other programs are about to overwrite: every row of a store, or those alone that changed. */
import type { Agent, Source } from '../agents/agent.ts'
import { logSourceFailure, toSourceFailure } from '../lib/failure.ts'
import type { Instant } from '../model/ids.ts'
import type { Issue } from '../model/issue.ts'
import type { BackupDatabase } from './backup-database.ts'
import type { BackupResult, EndedSession } from './records.ts'

export interface StoreBackup {
  readonly store: string
  readonly rows: number
  /** Rows that nobody had written since they were last kept. They were not even read. */
  readonly untouched: number
  readonly puts: readonly BackupResult[]
  /** Conversations that are now here alone. */
  readonly ended: readonly EndedSession[]
  readonly issues: readonly Issue[]
}

export interface BackUpOptions {
  readonly now: () => Instant
  /** A row is done. */
  readonly onRow?: (source: Source) => void
}

/** Nothing when there is no such store. */
export async function backUpStore(
  agent: Agent,
  store: string,
  database: BackupDatabase,
  options: BackUpOptions,
): Promise<StoreBackup | undefined> {
  const sources: Source[] = []
  for await (const source of agent.find(store)) sources.push(source)
  return backUpSources(agent, store, sources, database, options)
}

/** @param sources all that there is in the store now: what is missing among them has vanished */
export async function backUpSources(
  agent: Agent,
  store: string,
  sources: readonly Source[],
  database: BackupDatabase,
  { now, onRow }: BackUpOptions,
): Promise<StoreBackup> {
  const fingerprints = database.fingerprints(store)
  const results: BackupResult[] = []
  const issues: Issue[] = []
  const seen: string[] = []
  let untouched = 0
  for (const source of sources) {
    const { key, fingerprint } = source
    if (key !== undefined) seen.push(key)
    if (key !== undefined && fingerprint !== undefined && fingerprints.get(key) === fingerprint) untouched++
    else results.push(...(await backUpRowSafely(agent, source, database, now(), issues)))
    onRow?.(source)
  }
  // A store that could not be listed has one source without a key: then nothing is known to be gone.
  const isListed = sources.every(({ key }) => key !== undefined)
  const swept = isListed ? database.sweep(store, seen, now()) : []
  const ended = [...results.flatMap((put) => put.ended), ...swept]
  return { store, rows: seen.length, untouched, puts: results, ended, issues }
}

/** A row that brings out a bug is not kept; the others are. */
async function backUpRowSafely(...parameters: Parameters<typeof backUpRow>): Promise<readonly BackupResult[]> {
  const [, { path, key }, , , issues] = parameters
  try {
    return await backUpRow(...parameters)
  } catch (error) {
    const failure = toSourceFailure(error)
    logSourceFailure(path, failure)
    issues.push({ code: failure.code, reason: failure.reason, path, ...(key !== undefined && { key }) })
    return []
  }
}

async function backUpRow(
  agent: Agent,
  source: Source,
  database: BackupDatabase,
  at: Instant,
  issues: Issue[],
): Promise<readonly BackupResult[]> {
  const captured = await agent.volatile?.capture(source)
  if (!captured) return []
  if (captured.kind !== 'conversation') issues.push(captured.issue)
  if (captured.kind === 'issue' || source.key === undefined) return []
  if (captured.kind === 'conversation' && database.isForgotten(captured.capture)) return []
  const { agent: id, path: store, key, fingerprint } = source
  const from = { agent: id, store, key, ...(fingerprint !== undefined && { fingerprint }) }
  return [
    captured.kind === 'conversation'
      ? database.put(captured.capture, from, at)
      : database.putUnreadable(captured.bytes, from, at),
  ]
}
