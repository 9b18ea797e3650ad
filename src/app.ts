/** Puts the rooms together: what commands and pages ask for. */
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Agent, Environment, Source } from './agents/agent.ts'
import { allAgents } from './agents/all.ts'
import { agentServing, idsOf, isWanted, type Root, rootsOf, wantedSources } from './agents/roots.ts'
import type { FileTouched } from './archive/files.ts'
import type { SessionFilter } from './archive/get/filter.ts'
import type { WindowOptions } from './archive/get/messages.ts'
import type { Listing, ListOptions } from './archive/get/sessions.ts'
import { IndexReader } from './archive/get.ts'
import type { Kept } from './archive/keep/record.ts'
import { type Keep, openKeep } from './archive/keep.ts'
import { type Marks, openMarks } from './archive/marks.ts'
import type { Change, Entry } from './archive/record.ts'
import type { Stats } from './archive/stats.ts'
import { type Configuration, changeConfig, dataDirectory, type Prices, readConfig, readPrices } from './config.ts'
import type { HistorySummary } from './conversation/history/summary.ts'
import { examine } from './doctor/examine.ts'
import type { Finding } from './doctor/finding.ts'
import { type AgentId, type Instant, instantOf, type SessionId } from './model/ids.ts'
import { localDay, wallHour } from './model/totals.ts'
import { type Log, logsAt, placesAt } from './normalize.ts'
import { forgetSession } from './sync/forget.ts'
import { allSources, keepingAs } from './sync/keep/policy.ts'
import { installKept, type Restored } from './sync/keep/restore.ts'
import { keepSources, keepStore, type StoreKept } from './sync/keep/rows.ts'
import { keptSource, settled } from './sync/keep/sources.ts'
import { exists, type StoreRows, type Surroundings, storesAt, type Watchable, watchableAt } from './sync/keep/stores.ts'
import type { Place } from './sync/list.ts'
import { Feed } from './sync/live/feed.ts'
import { Bodies, type Body } from './sync/search/bodies.ts'
import { type DeepEvent, type DeepOptions, deepSearch } from './sync/search/deep.ts'
import { Finder, type SearchAnswer, type SearchOptions } from './sync/search/find.ts'
import type { SyncOptions } from './sync/sync.ts'
import { published, type SyncOutcome, syncOnce, type WatchOptions, type WatchOutcome, watchOn } from './sync/turns.ts'

export type { Root } from './agents/roots.ts'
export type { Kept, Put } from './archive/keep/record.ts'
export type { Mark, MarkChange, MarkFilter } from './archive/marks/record.ts'
export type { Finding } from './doctor/finding.ts'
export type { Restored } from './sync/keep/restore.ts'
export type { StoreKept } from './sync/keep/rows.ts'
export type { SyncOutcome, WatchOptions, WatchOutcome } from './sync/turns.ts'

export const thisMachine = (): Environment => ({ platform: process.platform, home: homedir(), variables: process.env })

/** A conversation that can be read, and what the keep knows of it. */
export interface Held extends Log {
  /** Absent for what was never kept, and for what is read where it lies. */
  readonly kept?: Kept
}

export interface HouseOptions {
  /** Settings of this run, by key, as they were typed. */
  readonly flags?: ReadonlyMap<string, string>
  /** Further files and folders with logs, beside the places where agents keep theirs. */
  readonly roots?: readonly string[]
  /** Threads that read while another one writes. None: all is done in one. */
  readonly threads?: number
}

export class House {
  readonly environment: Environment
  readonly directory: string
  readonly index: IndexReader
  readonly #options: HouseOptions
  #config: Promise<Configuration> | undefined
  readonly #bodies: Bodies
  readonly #finder: Finder
  readonly #feed = new Feed()
  #keep: Keep | undefined
  #marks: Marks | undefined

  constructor(environment: Environment = thisMachine(), options: HouseOptions = {}) {
    this.environment = environment
    this.directory = dataDirectory(environment)
    this.index = new IndexReader(this.directory)
    this.#options = options
    this.#bodies = new Bodies(this.index, () => this.keep)
    this.#finder = new Finder(this.index, this.#bodies)
  }

  /** As it was when it was first asked for. */
  config(): Promise<Configuration> {
    this.#config ??= agentIds().then((agents) =>
      readConfig(this.environment, { agents, ...(this.#options.flags && { flags: this.#options.flags }) }),
    )
    return this.#config
  }

  /** Writes a setting to the file; no words take it out. */
  async configure(key: string, words: readonly string[] | undefined): Promise<void> {
    changeConfig(this.environment, { agents: await agentIds() }, key, words)
    this.#config = undefined
  }

  async prices(): Promise<Prices> {
    return readPrices((await this.config()).prices)
  }

  /** Opened when it is first asked for, made when something is first kept. */
  get keep(): Keep {
    this.#keep ??= openKeep(this.directory)
    return this.#keep
  }

  /** The user's own, made with the first mark. */
  get marks(): Marks {
    this.#marks ??= openMarks(this.directory)
    return this.#marks
  }

  close(): void {
    this.#keep?.close()
    this.#keep = undefined
    this.#marks?.close()
    this.#marks = undefined
    this.index.close()
  }

  /** Brings the index up to date. One process at a time: a second one is told who is at it. */
  async sync(options: SyncOptions = {}): Promise<SyncOutcome> {
    const agents = await allAgents()
    const places = await this.#places()
    const keeping = keepingAs((await this.config()).keep, this.keep)
    const found = () => allSources(agents, places, keeping)
    return syncOnce(this.directory, this.#options.threads, found, published(options, this.#feed))
  }

  /**
   * Keeps the index up to date from now on; `changes` tells what happens. Another process that does so already is told
   * of instead: its changes are in `changesSince`.
   */
  async watch(options: WatchOptions = {}): Promise<WatchOutcome> {
    return watchOn(this.directory, this.#options.threads, {
      agents: await allAgents(),
      places: await this.#places(),
      stores: await this.watchable([]),
      keeping: keepingAs((await this.config()).keep, this.keep),
      feed: this.#feed,
      ...options,
    })
  }

  /** Out of the index and the keep, until it is remembered; its source is not touched. Throws `not_found`. */
  forget(session: SessionId): void {
    forgetSession(this.directory, this.index, this.keep, session, rightNow())
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

  async #places(): Promise<readonly Place[]> {
    const own = (await this.roots()).map(({ agent, path }) => ({ agent, root: path }))
    const more: Place[] = []
    for (const root of this.#options.roots ?? []) more.push(...(await placesAt(root)))
    return [...own, ...more]
  }

  /** What lies at the paths, or in the places where agents keep their logs. */
  async *live(paths: readonly string[]): AsyncGenerator<Log> {
    if (paths.length > 0) for (const path of paths) yield* this.#settled(logsAt(path))
    else yield* this.#settled(this.logsOfMachine())
  }

  /** The places where agents keep their logs, and those that the user added. They need not exist. */
  async roots(): Promise<readonly Root[]> {
    return rootsOf(await allAgents(), (await this.config()).agents, (agent) => agent.roots(this.environment))
  }

  /** What lies there, as it lies there. */
  async *logsOfMachine(): AsyncGenerator<Log> {
    const { agents: wishes } = await this.config()
    for await (const found of wantedSources(await this.roots(), wishes)) yield { ...found, unknown: false }
  }

  /** Conversations that are kept and no longer in their store: one of the paths, or any. */
  async *keptAlone(live: ReadonlySet<string>, paths: readonly string[]): AsyncGenerator<Held> {
    const { agents: wishes } = await this.config()
    const isMeant = ({ agent, store }: Kept): boolean =>
      paths.length > 0 ? paths.includes(store) : isWanted({ agent, path: store }, wishes)
    for (const kept of this.keep.list()) {
      if (live.has(kept.session) || !isMeant(kept)) continue
      yield { agent: await this.agentOf(kept), source: keptSource(kept, this.keep), unknown: false, kept }
    }
  }

  /** The rows of the stores at the paths, or of all stores of this machine. */
  async *volatileStores(paths: readonly string[]): AsyncGenerator<StoreRows> {
    yield* storesAt(paths, await this.#surroundings())
  }

  async #surroundings(): Promise<Surroundings> {
    const { agents: wishes } = await this.config()
    return { agents: await allAgents(), environment: this.environment, wishes }
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
  async watchable(paths: readonly string[]): Promise<readonly Watchable[]> {
    return watchableAt(paths, await this.#surroundings())
  }

  /** After a change. Nothing when the store is gone. */
  async keepAgain(agent: Agent, store: string): Promise<StoreKept | undefined> {
    return (await exists(store)) ? keepStore(agent, store, this.keep, { now: rightNow }) : undefined
  }

  /** Is everything well? Tells what it finds as it goes. */
  async *examine(): AsyncGenerator<Finding> {
    const config = await this.config()
    yield* examine({
      environment: this.environment,
      directory: this.directory,
      config,
      priceProblems: (await this.prices()).problems,
      agents: await allAgents(),
      roots: await this.roots(),
      wishes: config.agents,
      stores: () => this.watchable([]),
    })
  }

  async agentOf(kept: Kept): Promise<Agent> {
    return agentServing(kept.agent, await allAgents())
  }

  async install(kept: Kept, directory: string | undefined): Promise<Restored> {
    const options = { now: new Date(), backups: join(this.directory, 'backups') }
    const agent = await this.agentOf(kept)
    return installKept(agent, kept, this.keep, directory === undefined ? options : { ...options, directory })
  }

  async *#settled(logs: AsyncIterable<Log>): AsyncGenerator<Log> {
    for await (const log of logs) yield { ...log, source: await settled(log.agent, log.source, this.keep) }
  }
}

const agentIds = async (): Promise<readonly AgentId[]> => (await allAgents()).flatMap(idsOf)

export const rightNow = (): Instant => instantOf(Date.now()) as Instant
