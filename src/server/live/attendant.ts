/** Keeps the index up to date for the whole server, or follows the process that does, and tells the hub. */
import { randomUUID } from 'node:crypto'
import type { House, Progress, SyncOutcome, WatchOutcome } from '../../app.ts'
import { rightNow } from '../../app.ts'
import { debug, warn } from '../../lib/log.ts'
import type { SyncOutcomeItem, SyncState } from '../../model/api/machine.ts'
import { AppError } from '../../model/error.ts'
import type { Phrase } from '../../model/phrase.ts'
import { SEE_LOG } from '../problem.ts'
import type { Hub } from './hub.ts'

export interface AttendantOptions {
  /** Milliseconds between looks at an index that another process writes. */
  readonly pollEvery?: number
  /** Milliseconds between attempts to take over from another process. */
  readonly retryEvery?: number
  /** No watch at all: only what is asked for is done. */
  readonly idle?: boolean
}

const POLL_EVERY = 250
const RETRY_EVERY = 10_000
/** Progress is told so often, in milliseconds. */
const TELL_EVERY = 250
/** A request waits so long, in milliseconds, for an index that is made again. */
const LONGEST_WAIT = 10_000

export class Attendant {
  readonly #house: House
  readonly #hub: Hub
  readonly #options: AttendantOptions
  readonly #stop = new AbortController()
  #watch: Extract<WatchOutcome, { kind: 'watching' }> | undefined
  #poll: NodeJS.Timeout | undefined
  #retry: NodeJS.Timeout | undefined
  #state: SyncState = {
    status: 'idle',
    id: null,
    started_at: null,
    ended_at: null,
    progress: null,
    outcome: null,
  }
  #told = 0
  #healing: Promise<void> | undefined
  #following: Promise<void> = Promise.resolve()
  watching: 'here' | 'elsewhere' | 'starting' = 'starting'
  problem: Phrase | null = null

  constructor(house: House, hub: Hub, options: AttendantOptions = {}) {
    this.#house = house
    this.#hub = hub
    this.#options = options
  }

  get state(): SyncState {
    return this.#state
  }

  /** The first look at everything is under way when it returns. */
  async start(): Promise<void> {
    if (this.#options.idle) return
    this.#following = this.#follow()
    await this.#take()
  }

  async close(): Promise<void> {
    this.#stop.abort()
    clearInterval(this.#poll)
    clearTimeout(this.#retry)
    await this.#watch?.close()
    await this.#following
  }

  /** Looks at everything now. @returns false while that is being done */
  sync(): boolean {
    if (this.#state.status === 'running') return false
    void this.#run(() => this.#syncOnce())
    return true
  }

  /** Makes a damaged index again. @returns whether that was done soon enough for whoever waits for it */
  async heal(): Promise<boolean> {
    if (!this.#healing) {
      this.#healing = this.#run(() => this.#syncOnce()).finally(() => {
        this.#healing = undefined
      })
    }
    const done = this.#healing.then(() => this.problem === null)
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(resolve, LONGEST_WAIT, false)
    })
    return Promise.race([done, late]).finally(() => clearTimeout(timer))
  }

  async #take(): Promise<void> {
    const outcome = await this.#house.watch({
      onProgress: (progress) => this.#progress(progress),
      onProblem: ({ phrase, message }) => {
        this.problem = phrase
        warn(message)
      },
    })
    if (this.#stop.signal.aborted) {
      if (outcome.kind === 'watching') await outcome.close()
      return
    }
    if (outcome.kind === 'held') return this.#lookOn()
    this.#watch = outcome
    this.watching = 'here'
    clearInterval(this.#poll)
    void this.#run(async () => {
      return syncedItem(await outcome.ready)
    })
  }

  /** Another process writes the index: what it changes is read there, until its place is free. */
  #lookOn(): void {
    this.watching = 'elsewhere'
    this.#retryLater()
    if (this.#poll) return
    let seen = this.#house.index.revision
    this.#poll = setInterval(() => {
      try {
        const revision = this.#house.index.revision
        if (revision === seen) return
        this.#hub.changed(this.#house.changesSince(revision < seen ? 0 : seen))
        seen = revision
      } catch (error) {
        debug(`the index cannot be read now: ${String(error)}`)
      }
    }, this.#options.pollEvery ?? POLL_EVERY)
  }

  /** One attempt after the other. */
  #retryLater(): void {
    const retry = async (): Promise<void> => {
      try {
        await this.#take()
      } catch (error) {
        warnOf(error)
        this.#retryLater()
      }
    }
    this.#retry = setTimeout(() => void retry(), this.#options.retryEvery ?? RETRY_EVERY)
  }

  async #follow(): Promise<void> {
    for await (const change of this.#house.changes(this.#stop.signal)) this.#hub.changed([change])
  }

  async #syncOnce(): Promise<SyncOutcomeItem> {
    if (this.#watch) {
      return syncedItem(await this.#watch.sync())
    }
    const outcome = await this.#house.sync({ onProgress: (progress) => this.#progress(progress) })
    if (outcome.kind === 'held')
      return { kind: 'held', by: outcome.by ? `${outcome.by.what} (${outcome.by.pid})` : null }
    return syncedItem(outcome.synced)
  }

  async #run(work: () => Promise<SyncOutcomeItem>): Promise<void> {
    this.#set({ status: 'running', id: randomUUID(), started_at: rightNow(), ended_at: null, progress: null })
    let outcome: SyncOutcomeItem
    try {
      outcome = await work()
      this.problem = null
    } catch (error) {
      if (!(error instanceof AppError)) warnOf(error)
      const [code, said] = error instanceof AppError ? [error.code, error.phrase] : [null, SEE_LOG]
      outcome = { kind: 'failed', code, reason: said.en, reason_ja: said.ja }
      this.problem = said
    }
    this.#set({ status: 'idle', ended_at: rightNow(), outcome })
  }

  #progress(progress: Progress): void {
    const now = performance.now()
    this.#state = { ...this.#state, progress }
    if (now - this.#told < TELL_EVERY) return
    this.#told = now
    this.#hub.synced(this.#state)
  }

  #set(change: Partial<SyncState>): void {
    this.#state = { ...this.#state, ...change }
    this.#hub.synced(this.#state)
  }
}

type Synced = Extract<SyncOutcome, { kind: 'synced' }>['synced']

const syncedItem = ({ sources, scanned, gone, read }: Synced): SyncOutcomeItem => ({
  kind: 'synced',
  sources,
  scanned,
  gone,
  read,
})

const warnOf = (error: unknown): void => warn(error instanceof Error ? (error.stack ?? error.message) : String(error))
