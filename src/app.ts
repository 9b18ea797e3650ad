/** Puts the rooms together: what commands and pages ask for. */
import type { Environment } from './agents/agent.ts'
import { allAgents } from './agents/all.ts'
import { agentServing, idsOf, isWanted, type Root, rootsOf, wantedSources } from './agents/roots.ts'
import type { FilesTouched } from './archive/files.ts'
import type { SessionFilter } from './archive/get/filter.ts'
import type { WindowOptions } from './archive/get/messages.ts'
import type { Listing, ListOptions } from './archive/get/sessions.ts'
import type { Standing } from './archive/get/standing.ts'
import { IndexReader } from './archive/get.ts'
import { type Keep, openKeep } from './archive/keep.ts'
import { type Marks, openMarks } from './archive/marks.ts'
import type { Change, Entry } from './archive/record.ts'
import type { Stats } from './archive/stats.ts'
import { type Configuration, changeConfig, dataDirectory, type Prices, readConfig, readPrices } from './config.ts'
import type { HistorySummary } from './conversation/history/summary.ts'
import type { Finding } from './doctor/finding.ts'
import { thisMachine } from './lib/files/data-directory.ts'
import { isFile } from './lib/files/look.ts'
import { type AgentId, type Instant, instantOf, type SessionId } from './model/ids.ts'
import { type DayOf, localDay, type Totals, utcHour, wallHour } from './model/totals.ts'
import { type Log, logsAt, placesAt } from './normalize.ts'
import { Keeper } from './sync/keep/keeper.ts'
import { settled, sourceAt } from './sync/keep/sources.ts'
import type { Surroundings } from './sync/keep/stores.ts'
import type { Place, Scene } from './sync/list.ts'
import { Feed } from './sync/live/feed.ts'
import type { Body } from './sync/search/bodies.ts'
import type { DeepEvent, DeepOptions } from './sync/search/deep.ts'
import type { SearchAnswer, SearchOptions } from './sync/search/find.ts'
import type { Reading } from './sync/search/reading.ts'
import type { SyncOptions } from './sync/sync.ts'
import type { SyncOutcome, WatchOptions, WatchOutcome } from './sync/turns.ts'

export type { Root } from './agents/roots.ts'
export type { FileTouched } from './archive/files.ts'
export type { SessionFilter } from './archive/get/filter.ts'
export type { ListOptions, Sort } from './archive/get/sessions.ts'
export { doubtDamagedIndex, IndexDamagedError } from './archive/index-file.ts'
export type { Kept, Put } from './archive/keep/record.ts'
export type { Mark, MarkChange } from './archive/marks/record.ts'
export type { Change, Entry, Known } from './archive/record.ts'
export type { Stats } from './archive/stats.ts'
export type { Snippet } from './archive/text/snippet.ts'
export { type Period, periodOf } from './archive/text/typed/period.ts'
export { ABOUT, type Finding } from './doctor/finding.ts'
export type { StoreKept } from './sync/keep/rows.ts'
export type { Body } from './sync/search/bodies.ts'
export type { DeepEvent } from './sync/search/deep.ts'
export type { SearchAnswer, SearchOptions } from './sync/search/find.ts'
export type { Hit } from './sync/search/hit.ts'
export type { Progress } from './sync/sync.ts'
export type { SyncOutcome, WatchOptions, WatchOutcome } from './sync/turns.ts'

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
  readonly keeper: Keeper
  #reading: Promise<Reading> | undefined
  readonly #feed = new Feed()
  #keep: Keep | undefined
  #marks: Marks | undefined

  constructor(environment: Environment = thisMachine(), options: HouseOptions = {}) {
    this.environment = environment
    this.directory = dataDirectory(environment)
    this.index = new IndexReader(this.directory)
    this.#options = options
    this.keeper = new Keeper({
      directory: this.directory,
      around: () => this.#surroundings(),
      keep: () => this.keep,
      now: rightNow,
    })
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

  /** Brings the index up to date, or makes it anew. One process at a time: a second one is told who is at it. */
  async sync(options: SyncOptions & { readonly anew?: boolean } = {}): Promise<SyncOutcome> {
    const { published, syncOnce } = await import('./sync/turns.ts')
    return syncOnce(this.directory, this.#options.threads, await this.#scene(), published(options, this.#feed))
  }

  /**
   * Keeps the index up to date from now on; `changes` tells what happens. Another process that does so already is told
   * of instead: its changes are in `changesSince`.
   */
  async watch(options: WatchOptions = {}): Promise<WatchOutcome> {
    const { watchOn } = await import('./sync/turns.ts')
    return watchOn(this.directory, this.#options.threads, {
      ...(await this.#scene()),
      stores: await this.keeper.watchable([]),
      feed: this.#feed,
      ...options,
    })
  }

  /** Out of the index and the keep, until it is remembered; its source is not touched. Throws `not_found`. */
  async forget(session: SessionId): Promise<void> {
    const { forgetSession } = await import('./sync/forget.ts')
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

  /** By its id, by the agent's own, or by the beginning of either: a few of those that it may mean. */
  named(name: string): readonly Entry[] {
    return this.index.named(name)
  }

  /** Where a session of the index is read. Nothing when its source is gone, and no copy was kept. */
  async logOf(id: SessionId): Promise<Log | undefined> {
    const where = this.index.sourceOf(id)
    if (!where || (where.gone && !where.kept && !isLeft(where))) return undefined
    const source = sourceAt(where, () => this.keep, id)
    return { agent: agentServing(source.agent, await allAgents()), source, unknown: false }
  }

  /** A stretch of a session, each message with its body where that is still there. */
  async messages(id: SessionId, options: WindowOptions = {}): Promise<readonly Body[]> {
    return (await this.reading()).messages(id, options)
  }

  /** One message again. Nothing when the session does not have it. */
  async message(session: SessionId, id: string): Promise<Body | undefined> {
    const [body] = await this.messages(session, { around: id, limit: 1 })
    return body?.known.id === id ? body : undefined
  }

  async search(query: string, options: SearchOptions = {}): Promise<SearchAnswer> {
    return (await this.reading()).search(query, options)
  }

  /** What `search` finds, then all that the index leaves out, as it is found. */
  async *deepSearch(query: string, options: DeepOptions = {}): AsyncGenerator<DeepEvent> {
    yield* (await this.reading()).deepSearch(query, options)
  }

  /** Hours and weekdays are those on the wall, or in UTC. Nothing while there is no index. */
  stats({ utc, ...filter }: SessionFilter & { readonly most?: number; readonly utc?: true } = {}): Stats | undefined {
    return this.index.stats({ ...filter, hourOf: utc ? utcHour : wallHour })
  }

  /** The same sums as straight from the logs. Nothing while there is no index. */
  async totals(filter: SessionFilter = {}, dayOf: DayOf = localDay()): Promise<Totals | undefined> {
    return this.index.totals(filter, { dayOf, prices: (await this.prices()).list })
  }

  /** Every prompt of every session, with its body where that is still there. */
  async *prompts(): AsyncGenerator<Body> {
    yield* (await this.reading()).prompts()
  }

  /** Of the conversations that are told in entries: what `statisticsOf` adds up. */
  histories(filter: SessionFilter = {}): readonly HistorySummary[] {
    return this.index.histories(filter) as readonly HistorySummary[]
  }

  /** Every tool call that spoke of a file, newest first. */
  touches(path: string, limit?: number): FilesTouched {
    return this.index.touches(path, limit)
  }

  changesSince(revision: number, limit?: number): readonly Change[] {
    return this.index.changesSince(revision, limit)
  }

  /** All that needs bodies. Loaded when it is first needed: lists and reports do without, and are there at once. */
  reading(): Promise<Reading> {
    this.#reading ??= import('./sync/search/reading.ts').then(
      ({ Reading }) => new Reading(this.index, { keep: () => this.keep, marks: () => this.marks.list() }),
    )
    return this.#reading
  }

  async #scene(): Promise<Scene> {
    const { agents: wishes, keep: policy } = await this.config()
    const places: Place[] = (await this.roots()).map(({ agent, path }) => ({ agent, root: path }))
    for (const root of this.#options.roots ?? []) places.push(...(await placesAt(root)))
    const wanted: Scene['isWanted'] = (source) => isWanted(source, wishes)
    return { agents: await allAgents(), places, policy, keep: this.keep, now: rightNow, isWanted: wanted }
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

  /** Is everything well? Tells what it finds as it goes. */
  async *examine(): AsyncGenerator<Finding> {
    const { examine } = await import('./doctor/examine.ts')
    const config = await this.config()
    yield* examine({
      environment: this.environment,
      directory: this.directory,
      config,
      priceProblems: (await this.prices()).problems,
      agents: await allAgents(),
      roots: await this.roots(),
      wishes: config.agents,
      stores: () => this.keeper.watchable([]),
    })
  }

  async #surroundings(): Promise<Surroundings> {
    const { agents: wishes } = await this.config()
    return { agents: await allAgents(), environment: this.environment, wishes }
  }

  async *#settled(logs: AsyncIterable<Log>): AsyncGenerator<Log> {
    for await (const log of logs) yield { ...log, source: await settled(log.agent, log.source, this.keep) }
  }
}

const agentIds = async (): Promise<readonly AgentId[]> => (await allAgents()).flatMap(idsOf)

export const rightNow = (): Instant => instantOf(Date.now()) as Instant

/** No sweep met it, but its file is there: in a place that is no longer looked at. Of rows and parts nobody knows. */
const isLeft = ({ path, key, claim }: Standing): boolean => key === undefined && claim === undefined && isFile(path)
