/** The dependency container of the program: everything that commands and pages use. */
import type { HostEnvironment } from './agents/agent.ts'
import {
  agentIdsOf,
  agentServing,
  type ConfiguredRoot,
  enabledSources,
  isSourceEnabled,
  rootsOf,
} from './agents/agent-roots.ts'
import { allAgents } from './agents/load-agents.ts'
import { openAnnotations, type SessionAnnotations } from './annotations/annotations.ts'
import { type BackupDatabase, openBackupDatabase } from './backup/backup-database.ts'
import { BackupPolicy } from './backup/backup-policy.ts'
import { BackupService, type StoreContext } from './backup/backup-service.ts'
import { readableSource, withBackupIdentity } from './backup/readable-source.ts'
import {
  type Configuration,
  changeConfig,
  dataDirectory,
  type PriceSettings,
  readConfig,
  readPrices,
} from './config/config.ts'
import type { DoctorFinding } from './doctor/finding.ts'
import { SMALL_CACHE } from './index/index-file.ts'
import type { FilesTouched, WindowOptions } from './index/message-window.ts'
import { IndexReader } from './index/reader.ts'
import type { SessionChange, SessionEntry } from './index/records.ts'
import type { SessionFilter } from './index/session-filter.ts'
import type { SessionListOptions, SessionPage, SessionSource } from './index/session-list.ts'
import type { IndexStatistics } from './index/statistics.ts'
import { thisMachine } from './lib/files/data-directory.ts'
import { isFile } from './lib/files/safe-fs.ts'
import { type LoadedMessage, MessageStore } from './messages/message-store.ts'
import type { HistorySummary } from './model/history-summary.ts'
import { type AgentId, type Instant, instantFromMs, type SessionId } from './model/ids.ts'
import type { Spent } from './model/prices.ts'
import { createLocalDay, type DayFormatter, localHourOf, type Totals, utcHourOf } from './model/totals.ts'
import { type Log, logsAt, placesAt } from './normalize.ts'
import type { RankedAnswer, RankedSearchOptions } from './search/ranked-search.ts'
import type { Search, SearchAnswer, SearchOptions, SessionCountsAnswer } from './search/search.ts'
import type { FilterNames, UnknownName } from './search/unknown-names.ts'
import { BackupOperations } from './sync/backup-operations.ts'
import { EventBus } from './sync/event-bus.ts'
import type { SyncContext, SyncRoot } from './sync/list-sources.ts'
import type { SyncOutcome, WatchIndexOptions, WatchOutcome } from './sync/live-sync.ts'
import type { SyncOptions } from './sync/syncer.ts'

export type { ConfiguredRoot } from './agents/agent-roots.ts'
export type { AnnotationChange, SessionAnnotation } from './annotations/annotations.ts'
export type { StoreBackup } from './backup/backup-service.ts'
export type { AgentBackupStatus } from './backup/backup-status.ts'
export type { FileBackup } from './backup/file-backups.ts'
export type { BackedUpFile } from './backup/file-table.ts'
export type { BackedUpSession, BackupResult } from './backup/records.ts'
export { type DoctorFinding, SUBJECT_LABELS } from './doctor/finding.ts'
export { IndexDamagedError, markIndexIfDamaged } from './index/index-file.ts'
export type { FileTouched } from './index/message-window.ts'
export type { IndexedMessage, SessionChange, SessionEntry } from './index/records.ts'
export type { SessionFilter } from './index/session-filter.ts'
export type { SessionListOptions, SessionOrder, SessionPage } from './index/session-list.ts'
export type { IndexStatistics } from './index/statistics.ts'
export type { LoadedMessage } from './messages/message-store.ts'
export type { MessageHit, Snippet } from './search/hit.ts'
export { describeQuery, explainQuery, type QueryDescription } from './search/query/describe-query.ts'
export { type Period, parsePeriod } from './search/query/filters.ts'
export type { RankedAnswer, RankedHit, RankedSearchOptions } from './search/ranked-search.ts'
export type { SearchAnswer, SearchOptions, SessionCountsAnswer } from './search/search.ts'
export type { UnknownName } from './search/unknown-names.ts'
export type { Unreached } from './sync/backup-operations.ts'
export { MISSED_EVENTS } from './sync/event-bus.ts'
export type { SyncOutcome, WatchIndexOptions, WatchOutcome } from './sync/live-sync.ts'
export { listMovedProjects, relinkProject } from './sync/relink-project.ts'
export type { IndexSyncProgress } from './sync/syncer.ts'

export interface AppOptions {
  /** Settings of this run by key, as typed. */
  readonly flags?: ReadonlyMap<string, string>
  /** Further files and folders with logs, in addition to those of the agents. */
  readonly roots?: readonly string[]
  /** Number of reading threads. 0: everything runs in this thread. */
  readonly threads?: number
  /** Keeps little of the index in memory. */
  readonly isSmall?: boolean
}

export class App {
  readonly environment: HostEnvironment
  readonly directory: string
  readonly index: IndexReader
  readonly #options: AppOptions
  #config: Promise<Configuration> | undefined
  readonly backupService: BackupService
  readonly backups: BackupOperations
  readonly messageStore: MessageStore
  #search: Promise<Search> | undefined
  readonly events = new EventBus()
  #backup: BackupDatabase | undefined
  #annotations: SessionAnnotations | undefined
  readonly #withoutBackup = new Set<string>()

  constructor(environment: HostEnvironment = thisMachine(), options: AppOptions = {}) {
    this.environment = environment
    this.directory = dataDirectory(environment)
    this.index = new IndexReader(this.directory, options.isSmall ? SMALL_CACHE : undefined)
    this.messageStore = new MessageStore(this.index, () => this.backup)
    this.#options = options
    this.backupService = new BackupService({
      directory: this.directory,
      context: () => this.#backupContext(),
      database: () => this.backup,
      now: currentInstant,
    })
    this.backups = new BackupOperations({
      directory: this.directory,
      context: () => this.#syncContext(),
      index: this.index,
      logs: logsAt,
    })
  }

  /** Cached after the first call. */
  config(): Promise<Configuration> {
    this.#config ??= agentIds().then((agents) =>
      readConfig(this.environment, { agents, ...(this.#options.flags && { flags: this.#options.flags }) }),
    )
    return this.#config
  }

  /** Writes a setting to the file; undefined removes it. */
  async configure(key: string, values: readonly string[] | undefined): Promise<void> {
    changeConfig(this.environment, { agents: await agentIds() }, key, values)
    this.#config = undefined
  }

  async prices(): Promise<PriceSettings> {
    const { prices, pricePlan } = await this.config()
    return readPrices(prices, pricePlan)
  }

  /** Opened on first use, created with the first backup. */
  get backup(): BackupDatabase {
    this.#backup ??= openBackupDatabase(this.directory)
    return this.#backup
  }

  /** Created with the first annotation. */
  get annotations(): SessionAnnotations {
    this.#annotations ??= openAnnotations(this.directory)
    return this.#annotations
  }

  close(): void {
    this.#backup?.close()
    this.#backup = undefined
    this.#annotations?.close()
    this.#annotations = undefined
    this.index.close()
  }

  /** Updates or rebuilds the index. Only one process can: another one gets the holder of the lock. */
  async sync(options: SyncOptions & { readonly full?: boolean } = {}): Promise<SyncOutcome> {
    const { syncWithLock } = await import('./sync/live-sync.ts')
    return syncWithLock(this.directory, this.#options.threads, await this.#syncContext(), this.events, options)
  }

  /**
   * Keeps the index up to date; `changes` yields what happens. If another process already does so, returns that process
   * instead: use `changesSince` to follow it.
   */
  async watch(options: WatchIndexOptions = {}): Promise<WatchOutcome> {
    const { watchWithLock } = await import('./sync/live-sync.ts')
    return watchWithLock(this.directory, this.#options.threads, {
      ...(await this.#syncContext()),
      stores: await this.backupService.watchable([]),
      events: this.events,
      ...options,
    })
  }

  /** Removes a session from index and backup until it is restored; its source is not touched. Throws `not_found`. */
  async forget(session: SessionId): Promise<void> {
    const { forgetSession } = await import('./sync/forget-session.ts')
    forgetSession(this.directory, this.index, this.backup, session, currentInstant())
  }

  /** Sessions of the index. */
  list(options: SessionListOptions = {}): SessionPage {
    return this.index.list(options)
  }

  session(id: SessionId): SessionEntry | undefined {
    return this.index.get(id)
  }

  /** Ids of every agent that this version knows, and of those in the index. */
  async agentIds(): Promise<readonly AgentId[]> {
    const indexed = this.index.choices().agents.map(({ value }) => value)
    return [...new Set([...(await agentIds()), ...indexed])].sort()
  }

  /** Names in filters that match nothing. @param query text of a search */
  async unknownNames(filter: FilterNames, query?: string): Promise<readonly UnknownName[]> {
    const { findUnknownNames } = await import('./search/unknown-names.ts')
    const tags = (): readonly string[] => this.annotations.list().flatMap((annotation) => annotation.tags)
    return findUnknownNames({ index: this.index, agents: await this.agentIds(), tags }, filter, query)
  }

  /** Finds sessions by id, by the agent's own id, or by a prefix of either. Returns a few candidates. */
  findSessions(name: string): readonly SessionEntry[] {
    return this.index.findByName(name)
  }

  /** The log of an indexed session. Undefined if its source is gone and not backed up. */
  async logOf(id: SessionId): Promise<Log | undefined> {
    const sessionSource = this.index.sourceOf(id)
    if (!sessionSource || (sessionSource.gone && !sessionSource.kept && !isOutsideRoots(sessionSource)))
      return undefined
    const source = readableSource(sessionSource, () => this.backup, id)
    return { agent: agentServing(source.agent, await allAgents()), source, unknown: false }
  }

  /** A window of a session, with bodies as far as they can be read. */
  messages(id: SessionId, options: WindowOptions = {}): Promise<readonly LoadedMessage[]> {
    return this.messageStore.readWindow(id, options)
  }

  /** Undefined if the session does not contain the message. */
  async message(session: SessionId, id: string): Promise<LoadedMessage | undefined> {
    const [body] = await this.messages(session, { around: id, limit: 1 })
    return body?.known.id === id ? body : undefined
  }

  async search(query: string, options: SearchOptions = {}): Promise<SearchAnswer> {
    return (await this.searchService()).search(query, options)
  }

  /** The messages that say most about a question, of which none needs to contain every word. */
  async searchRanked(options: RankedSearchOptions): Promise<RankedAnswer> {
    return (await this.searchService()).searchRanked(options)
  }

  /** What each session cost at the prices of today, in US dollars. */
  async costs(): Promise<{ readonly [session: string]: Spent }> {
    return (await this.totals({ kind: 'any' }))?.cost.by_session ?? {}
  }

  async listByCost({ limit = -1, offset = 0, after, ascending, ...filter }: SessionListOptions): Promise<SessionPage> {
    const { total, sessions } = this.list({ ...filter, limit: -1 })
    const costs = await this.costs()
    const sign = ascending ? 1 : -1
    const sorted = sessions.toSorted((a, b) => sign * ((costs[a.id]?.usd ?? 0) - (costs[b.id]?.usd ?? 0)))
    const from = after === undefined ? offset : sorted.findIndex(({ id }) => id === after) + 1
    return { total, sessions: sorted.slice(from, limit < 0 ? undefined : from + limit) }
  }

  /** Number of matching messages of each session that has any, newest session first. */
  async countMatches(query: string): Promise<SessionCountsAnswer> {
    return (await this.searchService()).countBySession(query)
  }

  /** Loaded on first use: lists and reports start faster without it. */
  searchService(): Promise<Search> {
    this.#search ??= import('./search/search.ts').then(
      ({ Search }) => new Search(this.index, this.messageStore, () => this.annotations.list()),
    )
    return this.#search
  }

  /** In local time or UTC. Undefined while there is no index. */
  stats({
    utc,
    ...filter
  }: SessionFilter & { readonly most?: number; readonly utc?: true } = {}): IndexStatistics | undefined {
    return this.index.stats({ ...filter, hourOf: utc ? utcHourOf : localHourOf })
  }

  /** The same sums as computed directly from the logs. Undefined while there is no index. */
  async totals(filter: SessionFilter = {}, dayOf: DayFormatter = createLocalDay()): Promise<Totals | undefined> {
    return this.index.totals(filter, { dayOf, prices: (await this.prices()).list })
  }

  /** Summaries of conversations stored as entries, for `statisticsOf`. */
  histories(filter: SessionFilter = {}): readonly HistorySummary[] {
    return this.index.histories(filter) as readonly HistorySummary[]
  }

  /** Tool calls that touched a file, newest first. */
  fileTouches(path: string, limit?: number): FilesTouched {
    return this.index.touches(path, limit)
  }

  changesSince(revision: number, limit?: number): readonly SessionChange[] {
    return this.index.changesSince(revision, limit)
  }

  /** What is backed up, by agent and settings. */
  async backupPolicy(): Promise<BackupPolicy> {
    const { keep, agents, backup } = await this.config()
    const { projects, skip, limit } = backup
    const settings = { keep, agents, projects, skip, ...(limit !== undefined && { limit }) }
    return new BackupPolicy(settings, this.environment)
  }

  /** Paths of files that were not backed up because the backup has reached its limit. */
  get filesWithoutBackup(): readonly string[] {
    return [...this.#withoutBackup]
  }

  async #syncContext(): Promise<SyncContext> {
    const { agents: agentSettings } = await this.config()
    const places: SyncRoot[] = (await this.roots()).map(({ agent, path }) => ({ agent, root: path }))
    for (const root of this.#options.roots ?? []) places.push(...(await placesAt(root)))
    const wanted: SyncContext['isWanted'] = (source) => isSourceEnabled(source, agentSettings)
    // Opened only when it is needed: a report must not create or upgrade it.
    const backup = (): BackupDatabase => this.backup
    return {
      agents: await allAgents(),
      places,
      policy: await this.backupPolicy(),
      get backup() {
        return backup()
      },
      environment: this.environment,
      now: currentInstant,
      isWanted: wanted,
      onFile: (source, { change }) => {
        if (change === 'full') this.#withoutBackup.add(source.path)
        else this.#withoutBackup.delete(source.path)
      },
    }
  }

  /** Logs at the paths, or in the folders of all agents. */
  async *findLogs(paths: readonly string[]): AsyncGenerator<Log> {
    if (paths.length > 0) for (const path of paths) yield* this.#settleLogs(logsAt(path))
    else yield* this.#settleLogs(this.machineLogs())
  }

  /** Folders of the agents, and those that the user added. They need not exist. */
  async roots(): Promise<readonly ConfiguredRoot[]> {
    return rootsOf(await allAgents(), (await this.config()).agents, (agent) => agent.roots(this.environment))
  }

  /** Logs in these folders, read directly. */
  async *machineLogs(): AsyncGenerator<Log> {
    const { agents: agentSettings } = await this.config()
    for await (const found of enabledSources(await this.roots(), agentSettings)) yield { ...found, unknown: false }
  }

  /** Yields findings of the health check as they are made. */
  async *examine(): AsyncGenerator<DoctorFinding> {
    const { runChecks } = await import('./doctor/run-checks.ts')
    const config = await this.config()
    yield* runChecks({
      environment: this.environment,
      directory: this.directory,
      config,
      priceProblems: (await this.prices()).problems,
      agents: await allAgents(),
      roots: await this.roots(),
      wishes: config.agents,
      stores: () => this.backupService.watchable([]),
      backup: () => this.backups.status(),
    })
  }

  async #backupContext(): Promise<StoreContext> {
    const { agents: agentSettings } = await this.config()
    return { agents: await allAgents(), environment: this.environment, wishes: agentSettings }
  }

  async *#settleLogs(logs: AsyncIterable<Log>): AsyncGenerator<Log> {
    for await (const log of logs) yield { ...log, source: await withBackupIdentity(log.agent, log.source, this.backup) }
  }
}

const agentIds = async (): Promise<readonly AgentId[]> => (await allAgents()).flatMap(agentIdsOf)

export const currentInstant = (): Instant => instantFromMs(Date.now()) as Instant

/**
 * The file still exists, but no configured root contains it any more. Rows and parts of a source cannot be checked this
 * way.
 */
const isOutsideRoots = ({ path, key, claim }: SessionSource): boolean =>
  key === undefined && claim === undefined && isFile(path)
