/** What is done with the stores whose rows are overwritten: keeping them, watching them, giving back. */
import { join } from 'node:path'
import type { Agent, Source } from '../../agents/agent.ts'
import { agentServing, isWanted } from '../../agents/roots.ts'
import type { Kept } from '../../archive/keep/record.ts'
import type { Keep } from '../../archive/keep.ts'
import type { Instant } from '../../model/ids.ts'
import { installKept, type Restored } from './restore.ts'
import { keepSources, keepStore, type StoreKept } from './rows.ts'
import { keptSource } from './sources.ts'
import { exists, type StoreRows, type Surroundings, storesAt, type Watchable, watchableAt } from './stores.ts'

export interface KeeperOptions {
  readonly directory: string
  readonly around: () => Promise<Surroundings>
  readonly keep: () => Keep
  readonly now: () => Instant
}

/** A kept conversation, ready to be read. */
export interface KeptLog {
  readonly agent: Agent
  readonly source: Source
  readonly unknown: false
  readonly kept: Kept
}

export class Keeper {
  readonly #options: KeeperOptions

  constructor(options: KeeperOptions) {
    this.#options = options
  }

  /** The rows of the stores at the paths, or of all stores of this machine. */
  async *stores(paths: readonly string[]): AsyncGenerator<StoreRows> {
    yield* storesAt(paths, await this.#options.around())
  }

  /** Stores that are worth watching, whether they exist already or not. */
  async watchable(paths: readonly string[]): Promise<readonly Watchable[]> {
    return watchableAt(paths, await this.#options.around())
  }

  keep(agent: Agent, store: string, sources: readonly Source[], onRow?: (source: Source) => void): Promise<StoreKept> {
    const { keep, now } = this.#options
    return keepSources(agent, store, sources, keep(), { now, ...(onRow && { onRow }) })
  }

  /** After a change. Nothing when the store is gone. */
  async keepAgain(agent: Agent, store: string): Promise<StoreKept | undefined> {
    const { keep, now } = this.#options
    return (await exists(store)) ? keepStore(agent, store, keep(), { now }) : undefined
  }

  /** Conversations that are kept and no longer in their store: one of the paths, or any. */
  async *alone(live: ReadonlySet<string>, paths: readonly string[]): AsyncGenerator<KeptLog> {
    const { wishes } = await this.#options.around()
    const isMeant = ({ agent, store }: Kept): boolean =>
      paths.length > 0 ? paths.includes(store) : isWanted({ agent, path: store }, wishes)
    for (const kept of this.#options.keep().list()) {
      if (live.has(kept.session) || !isMeant(kept)) continue
      const source = keptSource(kept, this.#options.keep())
      yield { agent: await this.agentOf(kept), source, unknown: false, kept }
    }
  }

  async agentOf(kept: Kept): Promise<Agent> {
    return agentServing(kept.agent, (await this.#options.around()).agents)
  }

  /** Puts it back into its store. @param directory for which it is meant, where it is not its own */
  async install(kept: Kept, directory: string | undefined): Promise<Restored> {
    const options = { now: new Date(this.#options.now()), backups: join(this.#options.directory, 'backups') }
    const agent = await this.agentOf(kept)
    const keep = this.#options.keep()
    return installKept(agent, kept, keep, directory === undefined ? options : { ...options, directory })
  }
}
