/** What is done with the stores whose rows are overwritten: keeping them, watching them, giving back. */
import { join } from 'node:path'
import type { Agent, Source } from '../agents/agent.ts'
import { agentServing, isSourceEnabled } from '../agents/agent-roots.ts'
import type { Instant } from '../model/ids.ts'
import { backUpSources, backUpStore, type StoreBackup } from './back-up-store.ts'
import type { BackupDatabase } from './backup-database.ts'
import { backedUpSource } from './readable-source.ts'
import type { BackedUpSession } from './records.ts'
import { type RestoreResult, restoreSession } from './restore.ts'
import {
  findStores,
  findWatchableStores,
  pathExists,
  type StoreContext,
  type StoreRows,
  type WatchableStore,
} from './volatile-stores.ts'

export interface BackupServiceOptions {
  readonly directory: string
  readonly context: () => Promise<StoreContext>
  readonly database: () => BackupDatabase
  readonly now: () => Instant
}

/** A kept conversation, ready to be read. */
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

  /** The rows of the stores at the paths, or of all stores of this machine. */
  async *stores(paths: readonly string[]): AsyncGenerator<StoreRows> {
    yield* findStores(paths, await this.#options.context())
  }

  /** Stores that are worth watching, whether they exist already or not. */
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

  /** After a change. Nothing when the store is gone. */
  async backUpAgain(agent: Agent, store: string): Promise<StoreBackup | undefined> {
    const { database, now } = this.#options
    return (await pathExists(store)) ? backUpStore(agent, store, database(), { now }) : undefined
  }

  /** Conversations that are kept and no longer in their store: one of the paths, or any. */
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

  /** Puts it back into its store. @param directory for which it is meant, where it is not its own */
  async restore(session: BackedUpSession, directory: string | undefined): Promise<RestoreResult> {
    const options = { now: new Date(this.#options.now()), backups: join(this.#options.directory, 'backups') }
    const agent = await this.agentOf(session)
    const database = this.#options.database()
    return restoreSession(agent, session, database, directory === undefined ? options : { ...options, directory })
  }
}
