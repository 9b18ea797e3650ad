/** Puts the rooms together: what commands and pages ask for. */
import { stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Agent, Environment, Source } from './agents/agent.ts'
import { allAgents } from './agents/all.ts'
import type { FileTouched } from './archive/files.ts'
import type { SessionFilter } from './archive/get/filter.ts'
import type { WindowOptions } from './archive/get/messages.ts'
import type { Listing, ListOptions } from './archive/get/sessions.ts'
import { IndexReader } from './archive/get.ts'
import type { Kept } from './archive/keep/record.ts'
import { type Keep, openKeep } from './archive/keep.ts'
import type { Change, Entry } from './archive/record.ts'
import type { Stats } from './archive/stats.ts'
import { dataDirectory } from './config.ts'
import type { HistorySummary } from './conversation/history/summary.ts'
import { AppError } from './model/error.ts'
import { type Instant, instantOf, type SessionId } from './model/ids.ts'
import { localDay } from './model/totals.ts'
import { type Log, logsAt, placesAt } from './normalize.ts'
import { keepSources, keepStore, type StoreKept } from './sync/keep-rows.ts'
import { listSources, type Place } from './sync/list.ts'
import { Feed } from './sync/live/feed.ts'
import { installKept, type Restored } from './sync/restore.ts'
import { Bodies, type Body } from './sync/search/bodies.ts'
import { type DeepEvent, type DeepOptions, deepSearch } from './sync/search/deep.ts'
import { Finder, type SearchAnswer, type SearchOptions } from './sync/search/find.ts'
import { keptSource, settled } from './sync/sources.ts'
import type { SyncOptions } from './sync/sync.ts'
import { type SyncOutcome, syncOnce, type WatchOutcome, watchOn } from './sync/turns.ts'

export type { Kept, Put } from './archive/keep/record.ts'
export type { StoreKept } from './sync/keep-rows.ts'
export type { Restored } from './sync/restore.ts'
export type { SyncOutcome, WatchOutcome } from './sync/turns.ts'

export const thisMachine = (): Environment => ({ platform: process.platform, home: homedir(), variables: process.env })

/** A conversation that can be read, and what the keep knows of it. */
export interface Held extends Log {
  /** Absent for what was never kept, and for what is read where it lies. */
  readonly kept?: Kept
}

export interface HouseOptions {
  /** Further files and folders with logs, beside the places where agents keep theirs. */
  readonly roots?: readonly string[]
  /** Threads that read while another one writes. None: all is done in one. */
  readonly threads?: number
}

export interface WatchOptions extends Pick<SyncOptions, 'onProgress'> {
  /** Milliseconds between looks at everything, for hints that never came. */
  readonly sweepEvery?: number
}

export class House {
  readonly environment: Environment
  readonly directory: string
  readonly index: IndexReader
  readonly #options: HouseOptions
  readonly #bodies: Bodies
  readonly #finder: Finder
  readonly #feed = new Feed()
  #keep: Keep | undefined

  constructor(environment: Environment = thisMachine(), options: HouseOptions = {}) {
    this.environment = environment
    this.directory = dataDirectory(environment)
    this.index = new IndexReader(this.directory)
    this.#options = options
    this.#bodies = new Bodies(this.index, () => this.keep)
    this.#finder = new Finder(this.index, this.#bodies)
  }

  /** Opened when it is first asked for, made when something is first kept. */
  get keep(): Keep {
    this.#keep ??= openKeep(this.directory)
    return this.#keep
  }

  close(): void {
    this.#keep?.close()
    this.#keep = undefined
    this.index.close()
  }

  /** Brings the index up to date. One process at a time: a second one is told who is at it. */
  async sync(options: SyncOptions = {}): Promise<SyncOutcome> {
    const agents = await allAgents()
    const places = await this.#places()
    const found = () => listSources(agents, places, this.keep, rightNow)
    return syncOnce(this.directory, this.#options.threads, found, this.#published(options))
  }

  /**
   * Keeps the index up to date from now on; `changes` tells what happens. Another process that does so already is told
   * of instead: its changes are in `changesSince`.
   */
  async watch({ sweepEvery, onProgress }: WatchOptions = {}): Promise<WatchOutcome> {
    return watchOn(this.directory, this.#options.threads, {
      agents: await allAgents(),
      places: await this.#places(),
      stores: await this.watchable([]),
      keep: this.keep,
      feed: this.#feed,
      now: rightNow,
      ...(sweepEvery !== undefined && { sweepEvery }),
      ...(onProgress && { sync: { onProgress } }),
    })
  }

  /** What changes in the index from now on, as far as this process brings it about. */
  changes(signal?: AbortSignal): AsyncGenerator<Change> {
    return this.#feed.changes(signal)
  }

  /** Sessions of the index. */
  list(options: ListOptions = {}): Listing {
    return this.index.list(options)
  }

  session(id: SessionId): Entry | undefined {
    return this.index.get(id)
  }

  /** A stretch of a session, each message with its body where that is still there. */
  async messages(id: SessionId, options: WindowOptions = {}): Promise<readonly Body[]> {
    const found: Body[] = []
    for (const known of this.index.messages(id, options)) found.push(await this.#bodies.of(known))
    return found
  }

  search(query: string, options: SearchOptions = {}): Promise<SearchAnswer> {
    return this.#finder.search(query, options)
  }

  /** What `search` finds, then all that the index leaves out, as it is found. */
  deepSearch(query: string, options: DeepOptions = {}): AsyncGenerator<DeepEvent> {
    return deepSearch(query, { reader: this.index, finder: this.#finder, keep: () => this.keep }, options)
  }

  /** Days, hours and weekdays are those on the wall. Nothing while there is no index. */
  stats(filter: SessionFilter & { readonly most?: number } = {}): Stats | undefined {
    return this.index.stats({ ...filter, dayOf: localDay(), hourOf: wallHour })
  }

  /** Of the conversations that are told in entries: what `statisticsOf` adds up. */
  histories(filter: SessionFilter = {}): readonly HistorySummary[] {
    return this.index.histories(filter).map((text) => JSON.parse(text) as HistorySummary)
  }

  /** Every tool call that spoke of a file, newest first. */
  touches(path: string, limit?: number): readonly FileTouched[] {
    return this.index.touches(path, limit)
  }

  changesSince(revision: number, limit?: number): readonly Change[] {
    return this.index.changesSince(revision, limit)
  }

  #published(options: SyncOptions): SyncOptions {
    return {
      ...options,
      onChanges: (changes) => {
        options.onChanges?.(changes)
        this.#feed.publish(changes)
      },
    }
  }

  async #places(): Promise<readonly Place[]> {
    const agents = await allAgents()
    const own = agents.flatMap((agent) => agent.roots(this.environment).map((root) => ({ agent, root })))
    const more: Place[] = []
    for (const root of this.#options.roots ?? []) more.push(...(await placesAt(root)))
    return [...own, ...more]
  }

  /** What lies at the paths, or in the places where agents keep their logs. */
  async *live(paths: readonly string[]): AsyncGenerator<Log> {
    if (paths.length > 0) for (const path of paths) yield* this.#settled(logsAt(path))
    else yield* this.#settled(this.#logsOfMachine())
  }

  /** Conversations that are kept and no longer in their store. */
  async *keptAlone(live: ReadonlySet<string>): AsyncGenerator<Held> {
    const agents = await allAgents()
    for (const kept of this.keep.list()) {
      const agent = agents.find((one) => one.volatile && (one.id === kept.agent || one.serves?.includes(kept.agent)))
      if (!agent || live.has(kept.session)) continue
      yield { agent, source: keptSource(kept, this.keep), unknown: false, kept }
    }
  }

  /** The rows of the stores at the paths, or of all stores of this machine. */
  async *volatileStores(paths: readonly string[]): AsyncGenerator<{ agent: Agent; store: string; sources: Source[] }> {
    for (const agent of await allAgents()) {
      if (!agent.volatile) continue
      for (const path of paths.length > 0 ? paths : agent.volatile.stores(this.environment)) {
        if (!(await exists(path))) continue
        const byStore = new Map<string, Source[]>()
        for await (const source of agent.find(path)) {
          if (source.key === undefined && paths.length > 0) continue
          byStore.set(source.path, [...(byStore.get(source.path) ?? []), source])
        }
        for (const [store, sources] of byStore) yield { agent, store, sources }
      }
    }
  }

  keepStore(
    agent: Agent,
    store: string,
    sources: readonly Source[],
    onRow?: (source: Source) => void,
  ): Promise<StoreKept> {
    return keepSources(agent, store, sources, this.keep, { now: rightNow, ...(onRow && { onRow }) })
  }

  /** Stores that are worth watching, whether they exist already or not. */
  async watchable(paths: readonly string[]): Promise<readonly { readonly agent: Agent; readonly store: string }[]> {
    const agents = (await allAgents()).filter((agent) => agent.volatile)
    if (paths.length === 0)
      return agents.flatMap(
        (agent) => agent.volatile?.stores(this.environment).map((store) => ({ agent, store })) ?? [],
      )
    const found = []
    for await (const { agent, store } of this.volatileStores(paths)) found.push({ agent, store })
    return found
  }

  /** After a change. Nothing when the store is gone. */
  async keepAgain(agent: Agent, store: string): Promise<StoreKept | undefined> {
    return (await exists(store)) ? keepStore(agent, store, this.keep, { now: rightNow }) : undefined
  }

  async agentOf(kept: Kept): Promise<Agent> {
    const agent = (await allAgents()).find((one) => one.id === kept.agent || one.serves?.includes(kept.agent))
    if (!agent) throw new AppError('not_found', `no agent "${kept.agent}" is known to this version`)
    return agent
  }

  async install(kept: Kept, directory: string | undefined): Promise<Restored> {
    const options = { now: new Date(), backups: join(this.directory, 'backups') }
    const agent = await this.agentOf(kept)
    return installKept(agent, kept, this.keep, directory === undefined ? options : { ...options, directory })
  }

  async *#settled(logs: AsyncIterable<Log>): AsyncGenerator<Log> {
    for await (const log of logs) yield { ...log, source: await settled(log.agent, log.source, this.keep) }
  }

  async *#logsOfMachine(): AsyncGenerator<Log> {
    for (const agent of await allAgents()) {
      for (const root of agent.roots(this.environment)) {
        if (!(await exists(root))) continue
        for await (const source of agent.find(root)) yield { agent, source, unknown: false }
      }
    }
  }
}

const wallHour = (milliseconds: number): { readonly hour: number; readonly weekday: number } => {
  const date = new Date(milliseconds)
  return { hour: date.getHours(), weekday: date.getDay() }
}

export const rightNow = (): Instant => instantOf(Date.now()) as Instant

const exists = async (path: string): Promise<boolean> => (await stat(path).catch(() => undefined)) !== undefined
