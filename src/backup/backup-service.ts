/** Finds stores whose programs overwrite rows, backs up what changed, and restores it. */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Agent, HostEnvironment, Source } from '../agents/agent.ts'
import {
  type AgentSourceConfigs,
  agentServing,
  type ConfiguredRoot,
  isSourceEnabled,
  rootsOf,
} from '../agents/agent-roots.ts'
import { logSourceFailure, toSourceFailure } from '../lib/failure.ts'
import type { Instant } from '../model/ids.ts'
import type { Issue } from '../model/issue.ts'
import type { BackupDatabase } from './backup-database.ts'
import { backedUpSource } from './readable-source.ts'
import type { BackedUpSession, BackupResult, EndedSession } from './records.ts'
import { type RestoreResult, restoreSession } from './restore.ts'

export interface StoreRows {
  readonly agent: Agent
  readonly store: string
  readonly sources: Source[]
}

export interface StoreContext {
  readonly agents: readonly Agent[]
  readonly environment: HostEnvironment
  readonly wishes: AgentSourceConfigs
}

/** Rows of the stores at the given paths, or of all stores of this machine. */
export async function* findStores(paths: readonly string[], context: StoreContext): AsyncGenerator<StoreRows> {
  for (const { agent, path, added } of storeRoots(paths, context)) {
    if (!(await pathExists(path))) continue
    const byStore = new Map<string, Source[]>()
    for await (const source of agent.find(path)) {
      // A source without a key is a file without rows, except at the path of a store itself.
      if (source.key === undefined && added) continue
      if (paths.length === 0 && !isSourceEnabled(source, context.wishes)) continue
      byStore.set(source.path, [...(byStore.get(source.path) ?? []), source])
    }
    for (const [store, sources] of byStore) yield { agent, store, sources }
  }
}

export type WatchableStore = Pick<StoreRows, 'agent' | 'store'>

/** Includes stores that do not exist yet, at the paths where their program will create them. */
export async function findWatchableStores(
  paths: readonly string[],
  context: StoreContext,
): Promise<readonly WatchableStore[]> {
  const found: WatchableStore[] = []
  for await (const { agent, store } of findStores(paths, context)) found.push({ agent, store })
  if (paths.length > 0) return found
  for (const { agent, path, added } of storeRoots([], context))
    if (!added && !(await hasAnySource(agent, path))) found.push({ agent, store: path })
  return found
}

function storeRoots(
  paths: readonly string[],
  { agents, wishes, environment }: StoreContext,
): readonly ConfiguredRoot[] {
  const volatile = agents.filter((agent) => agent.volatile)
  if (paths.length > 0) return volatile.flatMap((agent) => paths.map((path) => ({ agent, path, added: true })))
  return rootsOf(volatile, wishes, (agent) => agent.volatile?.stores(environment) ?? [])
}

async function hasAnySource(agent: Agent, path: string): Promise<boolean> {
  if (await pathExists(path)) for await (const _ of agent.find(path)) return true
  return false
}

export const pathExists = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined)) !== undefined

export interface StoreBackup {
  readonly store: string
  readonly rows: number
  /** Number of rows unchanged since the last backup, which were not even read. */
  readonly untouched: number
  readonly puts: readonly BackupResult[]
  /** Conversations that now exist only in the backup. */
  readonly ended: readonly EndedSession[]
  readonly issues: readonly Issue[]
}

export interface BackUpOptions {
  readonly now: () => Instant
  /** All current rows of the store, if only some are backed up: missing ones count as vanished. */
  readonly existing?: readonly Source[]
  /** Called after each row. */
  readonly onRow?: (source: Source) => void
}

/** Returns undefined if the store does not exist. */
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

/** @param sources all current rows of the store, or those of `existing` that are backed up */
export async function backUpSources(
  agent: Agent,
  store: string,
  sources: readonly Source[],
  database: BackupDatabase,
  { now, onRow, existing = sources }: BackUpOptions,
): Promise<StoreBackup> {
  const fingerprints = database.fingerprints(store)
  const results: BackupResult[] = []
  const issues: Issue[] = []
  const seen = existing.flatMap(({ key }) => key ?? [])
  let untouched = 0
  for (const source of sources) {
    const { key, fingerprint } = source
    if (key !== undefined && fingerprint !== undefined && fingerprints.get(key) === fingerprint) untouched++
    else results.push(...(await backUpRowSafely(agent, source, database, now(), issues)))
    onRow?.(source)
  }
  // A store that could not be listed yields one source without a key. Nothing can then be said about missing rows.
  const isListed = existing.every(({ key }) => key !== undefined)
  const swept = isListed ? database.sweep(store, seen, now()) : []
  const ended = [...results.flatMap((put) => put.ended), ...swept]
  return { store, rows: seen.length, untouched, puts: results, ended, issues }
}

/** If a row triggers a bug, only this row is not backed up. */
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

export interface BackupServiceOptions {
  readonly directory: string
  readonly context: () => Promise<StoreContext>
  readonly database: () => BackupDatabase
  readonly now: () => Instant
}

/** A backed-up conversation, ready to be read. */
export interface BackedUpLog {
  readonly agent: Agent
  readonly source: Source
  readonly unknown: false
  readonly kept: BackedUpSession
}

export class BackupService {
  readonly #options: BackupServiceOptions

  constructor(options: BackupServiceOptions) {
    this.#options = options
  }

  /** Rows of the stores at the given paths, or of all stores of this machine. */
  async *stores(paths: readonly string[]): AsyncGenerator<StoreRows> {
    yield* findStores(paths, await this.#options.context())
  }

  /** Stores to watch, including those that do not exist yet. */
  async watchable(paths: readonly string[]): Promise<readonly WatchableStore[]> {
    return findWatchableStores(paths, await this.#options.context())
  }

  backUp(
    agent: Agent,
    store: string,
    sources: readonly Source[],
    onRow?: (source: Source) => void,
  ): Promise<StoreBackup> {
    const { database, now } = this.#options
    return backUpSources(agent, store, sources, database(), { now, ...(onRow && { onRow }) })
  }

  /** Backs up a store after a change. Returns undefined if the store is gone. */
  async backUpAgain(agent: Agent, store: string): Promise<StoreBackup | undefined> {
    const { database, now } = this.#options
    return (await pathExists(store)) ? backUpStore(agent, store, database(), { now }) : undefined
  }

  /** Backed-up conversations that are no longer in their store. @param paths limits the result to these stores */
  async *onlyInBackup(live: ReadonlySet<string>, paths: readonly string[]): AsyncGenerator<BackedUpLog> {
    const { wishes } = await this.#options.context()
    const isRequested = ({ agent, store }: BackedUpSession): boolean =>
      paths.length > 0 ? paths.includes(store) : isSourceEnabled({ agent, path: store }, wishes)
    for (const session of this.#options.database().list()) {
      if (live.has(session.session) || !isRequested(session)) continue
      const source = backedUpSource(session, this.#options.database())
      yield { agent: await this.agentOf(session), source, unknown: false, kept: session }
    }
  }

  async agentOf(session: BackedUpSession): Promise<Agent> {
    return agentServing(session.agent, (await this.#options.context()).agents)
  }

  /** Restores a conversation to its store. @param directory the directory to restore it for, if not its own */
  async restore(session: BackedUpSession, directory: string | undefined): Promise<RestoreResult> {
    const options = { now: new Date(this.#options.now()), backups: join(this.#options.directory, 'backups') }
    const agent = await this.agentOf(session)
    const database = this.#options.database()
    const { environment } = await this.#options.context()
    const [ownStore] = agent.volatile?.stores(environment) ?? []
    const here = session.machine === undefined || ownStore === undefined ? session : { ...session, store: ownStore }
    return restoreSession(agent, here, database, directory === undefined ? options : { ...options, directory })
  }
}
