/** Lists all sources of this machine and backs them up on the way, as the setting `keep` requires. */
import { sep } from 'node:path'
import type { Agent, Source } from '../agents/agent.ts'
import { agentIdsOf } from '../agents/agent-roots.ts'
import type { BackupDatabase } from '../backup/backup-database.ts'
import { backUpSources, backUpStore } from '../backup/backup-service.ts'
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

/**
 * `volatile` backs up rows that their program overwrites. `all` also backs up files that are only appended to. `none`
 * backs up nothing and reads rows from their store; existing backups stay.
 */
export type BackupPolicy = 'volatile' | 'all' | 'none'

/** Where to look for sources, and how to back them up. */
export interface SyncContext {
  readonly agents: readonly Agent[]
  readonly places: readonly SyncRoot[]
  /** What to back up while listing. */
  readonly policy: BackupPolicy
  readonly backup: BackupDatabase
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
  yield* listBackedUpSources(context, policy === 'none' ? { alive: false } : {})
}

async function* sourcesInRoot({ agent, root }: SyncRoot, context: SyncContext): AsyncGenerator<FoundSource> {
  const { policy, backup, now } = context
  if (isMissing(root) && policy !== 'none') await backUpEmptiedStores(agent, root, context)
  if (!statOf(root)) return
  const stores = new Map<string, Source[]>()
  for await (const source of agent.find(root)) {
    if (!context.isWanted(source)) continue
    if (policy === 'none' || !agent.volatile || source.key === undefined) yield { agent, source }
    else {
      const rows = stores.get(source.path)
      if (rows) rows.push(source)
      else stores.set(source.path, [source])
    }
  }
  for (const [store, rows] of stores) await backUpSources(agent, store, rows, backup, { now })
  if (policy !== 'none') await backUpEmptiedStores(agent, root, context, stores)
}

/** A store without rows may have been emptied or deleted. Its sessions then exist only in the backup. */
async function backUpEmptiedStores(
  agent: Agent,
  root: string,
  { backup, now, isWanted }: SyncContext,
  listed: ReadonlyMap<string, unknown> = new Map(),
): Promise<void> {
  if (!agent.volatile) return
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
): Generator<FoundSource> {
  for (const { agent: id, store, session, revision, size, kind } of backup.list(filter)) {
    const agent = agents.find((one) => one.volatile && agentIdsOf(one).includes(id))
    if (!agent || kind !== 'conversation' || !isWanted({ agent: id, path: store })) continue
    yield { agent, kept: true, source: { agent: id, path: store, key: session, size, fingerprint: `kept:${revision}` } }
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

/** Backs up the files that pass through. */
export async function* backUpFiles(
  sources: AsyncIterable<FoundSource> | Iterable<FoundSource>,
  { policy, backup, now }: SyncContext,
): AsyncGenerator<FoundSource> {
  for await (const found of sources) {
    const { agent, source } = found
    const { path, root } = source
    // An agent whose store cannot be listed yields the store itself as if it were a file; do not back it up.
    if (policy === 'all' && !found.kept && !found.isUnlisted && source.key === undefined && !agent.volatile)
      backup.files.backUp({ agent: source.agent, path, ...(root !== undefined && { root }) }, now())
    yield found
  }
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
