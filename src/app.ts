/** Puts the rooms together: what commands and pages ask for. */
import { stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Agent, Environment, Source } from './agents/agent.ts'
import { allAgents } from './agents/all.ts'
import { idsOf, isWanted, type Root, rootsOf } from './agents/roots.ts'
import type { Kept } from './archive/keep/record.ts'
import { type Keep, openKeep } from './archive/keep.ts'
import { type Marks, openMarks } from './archive/marks.ts'
import { type Configuration, changeConfig, dataDirectory, type Prices, readConfig, readPrices } from './config.ts'
import { examine } from './doctor/examine.ts'
import type { Finding } from './doctor/finding.ts'
import { AppError } from './model/error.ts'
import { type AgentId, type Instant, instantOf } from './model/ids.ts'
import { type Log, logsAt } from './normalize.ts'
import { keepSources, keepStore, type StoreKept } from './sync/keep-rows.ts'
import { installKept, type Restored } from './sync/restore.ts'
import { keptSource, settled } from './sync/sources.ts'

export type { Root } from './agents/roots.ts'
export type { Kept, Put } from './archive/keep/record.ts'
export type { Mark, MarkChange, MarkFilter } from './archive/marks/record.ts'
export type { Finding } from './doctor/finding.ts'
export type { StoreKept } from './sync/keep-rows.ts'
export type { Restored } from './sync/restore.ts'

export const thisMachine = (): Environment => ({ platform: process.platform, home: homedir(), variables: process.env })

/** A conversation that can be read, and what the keep knows of it. */
export interface Held extends Log {
  /** Absent for what was never kept, and for what is read where it lies. */
  readonly kept?: Kept
}

export interface HouseOptions {
  /** Settings of this run, by key, as they were typed. */
  readonly flags?: ReadonlyMap<string, string>
}

export class House {
  readonly environment: Environment
  readonly directory: string
  readonly #options: HouseOptions
  #config: Promise<Configuration> | undefined
  #keep: Keep | undefined
  #marks: Marks | undefined

  constructor(environment: Environment = thisMachine(), options: HouseOptions = {}) {
    this.environment = environment
    this.directory = dataDirectory(environment)
    this.#options = options
  }

  /** As it was when it was first asked for. */
  config(): Promise<Configuration> {
    this.#config ??= agentIds().then((agents) => readConfig(this.environment, { agents, ...this.#options }))
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
    const seen = new Set<string>()
    for (const { agent, path } of await this.roots()) {
      if (!(await exists(path))) continue
      for await (const source of agent.find(path)) {
        const place = JSON.stringify([source.path, source.key])
        // A root that was added may lie inside another.
        if (!seen.has(place) && isWanted(source, wishes)) yield { agent, source, unknown: false }
        seen.add(place)
      }
    }
  }

  /** Conversations that are kept and no longer in their store: one of the paths, or any. */
  async *keptAlone(live: ReadonlySet<string>, paths: readonly string[]): AsyncGenerator<Held> {
    const agents = await allAgents()
    const { agents: wishes } = await this.config()
    for (const kept of this.keep.list()) {
      const agent = agents.find((one) => one.volatile && idsOf(one).includes(kept.agent))
      if (!agent || live.has(kept.session)) continue
      const isMeant = paths.length > 0 ? paths.includes(kept.store) : isWanted({ ...kept, path: kept.store }, wishes)
      if (!isMeant) continue
      yield { agent, source: keptSource(kept, this.keep), unknown: false, kept }
    }
  }

  /** The rows of the stores at the paths, or of all stores of this machine. */
  async *volatileStores(paths: readonly string[]): AsyncGenerator<{ agent: Agent; store: string; sources: Source[] }> {
    const { agents: wishes } = await this.config()
    for (const { agent, path, added } of await this.#placesOfStores(paths)) {
      if (!(await exists(path))) continue
      const byStore = new Map<string, Source[]>()
      for await (const source of agent.find(path)) {
        // Elsewhere than at a store's own path it is a file that holds no rows.
        if (source.key === undefined && added) continue
        if (paths.length === 0 && !isWanted(source, wishes)) continue
        byStore.set(source.path, [...(byStore.get(source.path) ?? []), source])
      }
      for (const [store, sources] of byStore) yield { agent, store, sources }
    }
  }

  async #placesOfStores(paths: readonly string[]): Promise<readonly Root[]> {
    const agents = (await allAgents()).filter((agent) => agent.volatile)
    if (paths.length > 0) return agents.flatMap((agent) => paths.map((path) => ({ agent, path, added: true })))
    const { agents: wishes } = await this.config()
    return rootsOf(agents, wishes, (agent) => agent.volatile?.stores(this.environment) ?? [])
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
    const found = []
    for await (const { agent, store } of this.volatileStores(paths)) found.push({ agent, store })
    if (paths.length > 0) return found
    for (const { agent, path, added } of await this.#placesOfStores([]))
      if (!added && !(await holdsAny(agent, path))) found.push({ agent, store: path })
    return found
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
    const agent = (await allAgents()).find((one) => idsOf(one).includes(kept.agent))
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
}

async function holdsAny(agent: Agent, path: string): Promise<boolean> {
  if (await exists(path)) for await (const _ of agent.find(path)) return true
  return false
}

const agentIds = async (): Promise<readonly AgentId[]> => (await allAgents()).flatMap(idsOf)

export const rightNow = (): Instant => instantOf(Date.now()) as Instant

const exists = async (path: string): Promise<boolean> => (await stat(path).catch(() => undefined)) !== undefined
