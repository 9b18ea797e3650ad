/** Lists all sources of this machine and backs them up on the way, as the setting `keep` requires. */
import { sep } from 'node:path'
import type { Agent, HostEnvironment, Source } from '../agents/agent.ts'
import { agentIdsOf, isSessionFileOf } from '../agents/agent-roots.ts'
import { backUpFiles as backUpLogs } from '../backup/back-up-files.ts'
import type { BackupDatabase } from '../backup/backup-database.ts'
import type { BackupPolicy } from '../backup/backup-policy.ts'
import { backUpSources, backUpStore } from '../backup/backup-service.ts'
import type { FileBackup } from '../backup/file-backups.ts'
import { copyKeyOf } from '../backup/readable-source.ts'
import type { BackupFilter } from '../backup/records.ts'
import { logSourceFailure, toSourceFailure } from '../lib/failure.ts'
import { isMissing, statOf } from '../lib/files/safe-fs.ts'
import type { Instant } from '../model/ids.ts'
import type { FoundSource } from './sweep.ts'

export interface SyncRoot {
  readonly agent: Agent
  readonly root: string
}

/** Where to look for sources, and how to back them up. */
export interface SyncContext {
  readonly agents: readonly Agent[]
  readonly places: readonly SyncRoot[]
  /** What to back up while listing. */
  readonly policy: BackupPolicy
  readonly backup: BackupDatabase
  readonly environment: HostEnvironment
  /** Called with each file that was or would have been backed up. */
  readonly onFile?: (source: Source, backup: FileBackup) => void
  readonly now: () => Instant
  /** False for sources that the user excluded. */
  isWanted(source: Pick<Source, 'agent' | 'path'>): boolean
}

/**
 * Rows that their owner overwrites are backed up and then read from the backup, which contains every entry they ever
 * had.
 */
export async function* listLiveSources(context: SyncContext): AsyncGenerator<FoundSource> {
  const { places, policy } = context
  for (const syncRoot of places) {
    try {
      yield* sourcesInRoot(syncRoot, context)
    } catch (error) {
      const { agent, root } = syncRoot
      logSourceFailure(root, toSourceFailure(error))
      yield { agent, source: { agent: agent.id, path: root }, isUnlisted: true }
    }
  }
  // Rows that are no longer backed up are read from their store.
  for (const found of listBackedUpSources(context))
    if (found.isEnded || policy.decide(found.agent, found.source.agent).kept) yield found
}

async function* sourcesInRoot({ agent, root }: SyncRoot, context: SyncContext): AsyncGenerator<FoundSource> {
  const { policy, backup, now } = context
  if (isMissing(root)) await backUpEmptiedStores(agent, root, context)
  if (!statOf(root)) return
  const stores = new Map<string, Source[]>()
  for await (const source of agent.find(root)) {
    if (!context.isWanted(source)) continue
    if (!agent.volatile || source.key === undefined) yield { agent, source }
    else {
      const rows = stores.get(source.path)
      if (rows) rows.push(source)
      else stores.set(source.path, [source])
    }
  }
  for (const [store, rows] of stores) {
    const kept: Source[] = []
    for (const source of rows)
      if ((await policy.decideFor(agent, source)).kept) kept.push(source)
      else yield { agent, source }
    if (kept.length > 0) await backUpSources(agent, store, kept, backup, { now, existing: rows })
  }
  await backUpEmptiedStores(agent, root, context, stores)
}

/** A store without rows may have been emptied or deleted. Its sessions then exist only in the backup. */
async function backUpEmptiedStores(
  agent: Agent,
  root: string,
  { backup, now, isWanted, policy }: SyncContext,
  listed: ReadonlyMap<string, unknown> = new Map(),
): Promise<void> {
  if (!agent.volatile || !policy.decide(agent).kept) return
  const below = root.endsWith(sep) ? root : root + sep
  const backedUp = backup
    .list({ alive: true })
    .filter((one) => agentIdsOf(agent).includes(one.agent) && isWanted({ agent: one.agent, path: one.store }))
  const stores = new Set(backedUp.map(({ store }) => store))
  for (const store of stores) {
    if (listed.has(store) || (store !== root && !store.startsWith(below))) continue
    if (isMissing(store)) await backUpSources(agent, store, [], backup, { now })
    else await backUpStore(agent, store, backup, { now })
  }
}

/** Sessions of the backup, whether or not their rows still exist. */
export function* listBackedUpSources(
  { agents, backup, isWanted }: SyncContext,
  filter: BackupFilter = {},
): Generator<FoundSource & { readonly isEnded: boolean }> {
  for (const { agent: id, store, session, revision, size, kind, ended_at } of backup.list(filter)) {
    const agent = agents.find((one) => one.volatile && agentIdsOf(one).includes(id))
    if (!agent || kind !== 'conversation' || !isWanted({ agent: id, path: store })) continue
    const source = { agent: id, path: store, key: session, size, fingerprint: `kept:${revision}` }
    yield { agent, kept: true, source, isEnded: ended_at !== undefined }
  }
}

/** All sources of this machine, including those that exist only in the backup. */
export async function* listAllSources(context: SyncContext): AsyncGenerator<FoundSource> {
  const files = new Set<string>()
  for await (const found of backUpFiles(listLiveSources(context), context)) {
    if (!found.kept && !found.isUnlisted && found.source.key === undefined) files.add(found.source.path)
    yield found
  }
  yield* listBackedUpFiles(context, files)
}

/** Files that are backed up at a time. */
const FILES_PER_BATCH = 64

/** Backs up the files that pass through. */
export async function* backUpFiles(
  sources: AsyncIterable<FoundSource> | Iterable<FoundSource>,
  context: SyncContext,
): AsyncGenerator<FoundSource> {
  let waiting: FoundSource[] = []
  for await (const found of sources) {
    waiting.push(found)
    if (waiting.length < FILES_PER_BATCH) continue
    await backUpBatch(waiting, context)
    yield* waiting
    waiting = []
  }
  await backUpBatch(waiting, context)
  yield* waiting
}

async function backUpBatch(batch: readonly FoundSource[], context: SyncContext): Promise<void> {
  const { policy, backup, now, onFile } = context
  const files: FoundSource[] = []
  for (const found of batch) {
    const { agent, source, kept, isUnlisted } = found
    // An agent whose store cannot be listed yields the store itself as if it were a file; do not back it up.
    const isFile = !kept && !isUnlisted && source.key === undefined && isSessionFileOf(agent, source.path)
    if (isFile && (await policy.decideFor(agent, source)).kept) files.push(found)
  }
  const done = await backUpLogs(files, backup, { at: now(), limit: policy.settings.limit })
  for (const [n, one] of done.entries()) if (files[n]) onFile?.(files[n].source, one)
}

/** Backed-up files that are gone or were replaced. The latest backup of an existing file is left out. */
function* listBackedUpFiles(
  { agents, backup, isWanted }: SyncContext,
  existing: ReadonlySet<string>,
): Generator<FoundSource> {
  const files = backup.files.list().filter(({ side_of }) => side_of === undefined)
  const latest = new Map(files.map(({ path, id }) => [path, id]))
  for (const { id, agent: name, path, root, size, probe } of files) {
    const agent = agents.find((one) => agentIdsOf(one).includes(name))
    if (!agent || (existing.has(path) && latest.get(path) === id) || !isWanted({ agent: name, path })) continue
    const source = { agent: name, path, key: copyKeyOf(id), size, fingerprint: `copy:${size}:${probe}` }
    yield { agent, kept: true, source: root === undefined ? source : { ...source, root } }
  }
}
