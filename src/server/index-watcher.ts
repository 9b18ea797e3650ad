/** Keeps the index up to date for the server, or follows the process that does, and publishes what happens on the event bus. */
import { randomUUID } from 'node:crypto'
import { type App, currentInstant, type IndexSyncProgress, type SyncOutcome, type WatchOutcome } from '../app.ts'
import { debug, warn } from '../lib/logger.ts'
import type { SyncOutcomeItem, SyncState } from '../model/api/machine.ts'
import { AppError } from '../model/error.ts'
import type { Phrase } from '../model/phrase.ts'
import { SEE_LOG } from './api-problem.ts'

export interface IndexWatcherOptions {
  /** Milliseconds between checks of an index that another process writes. */
  readonly pollEvery?: number
  /** Milliseconds between attempts to take over from another process. */
  readonly retryEvery?: number
  /** Disables watching: syncs run only on request. */
  readonly idle?: boolean
}

const POLL_INTERVAL_MS = 250
const RETRY_INTERVAL_MS = 10_000
/** Milliseconds between progress events. */
const PROGRESS_INTERVAL_MS = 250
/** Milliseconds that a request waits for an index that is being rebuilt. */
const MAX_REPAIR_WAIT_MS = 10_000

export class IndexWatcher {
  readonly #app: App
  readonly #options: IndexWatcherOptions
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
  #lastPublished = 0
  #repairing: Promise<void> | undefined
  watching: 'here' | 'elsewhere' | 'starting' = 'starting'
  problem: Phrase | null = null

  constructor(app: App, options: IndexWatcherOptions = {}) {
    this.#app = app
    this.#options = options
  }

  get state(): SyncState {
    return this.#state
  }

  /** Resolves when the first sync has started. */
  async start(): Promise<void> {
    if (this.#options.idle) return
    await this.#startWatching()
  }

  async close(): Promise<void> {
    this.#stop.abort()
    clearInterval(this.#poll)
    clearTimeout(this.#retry)
    await this.#watch?.close()
  }

  /** Starts a sync. @returns false if one is running */
  sync(): boolean {
    if (this.#state.status === 'running') return false
    void this.#run(() => this.#syncOnce())
    return true
  }

  /** After the folders in the settings changed: watches them, and resolves when they are read. */
  async readSettingsAgain(): Promise<void> {
    if (this.#watch) {
      const before = this.#watch
      this.#watch = undefined
      await before.close()
      await this.#startWatching()
    }
    await this.syncNow()
  }

  /** Resolves when the index contains what is on disk now. */
  syncNow(): Promise<void> {
    return this.#run(() => this.#syncOnce())
  }

  /** Rebuilds a damaged index. @returns whether it finished within the wait of a request */
  async repair(): Promise<boolean> {
    if (!this.#repairing) {
      this.#repairing = this.#run(() => this.#syncOnce()).finally(() => {
        this.#repairing = undefined
      })
    }
    const done = this.#repairing.then(() => this.problem === null)
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<false>((resolve) => {
      timer = setTimeout(resolve, MAX_REPAIR_WAIT_MS, false)
    })
    return Promise.race([done, timeout]).finally(() => clearTimeout(timer))
  }

  async #startWatching(): Promise<void> {
    const outcome = await this.#app.watch({
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
    if (outcome.kind === 'held') return this.#pollIndex()
    this.#watch = outcome
    this.watching = 'here'
    clearInterval(this.#poll)
    void this.#run(async () => {
      return toSyncedItem(await outcome.ready)
    })
  }

  /** Another process writes the index: reads its changes until the lock is free. */
  #pollIndex(): void {
    this.watching = 'elsewhere'
    this.#retryLater()
    if (this.#poll) return
    let seen = this.#app.index.revision
    this.#poll = setInterval(() => {
      try {
        const revision = this.#app.index.revision
        if (revision === seen) return
        this.#app.events.publish(this.#app.changesSince(revision < seen ? 0 : seen))
        seen = revision
      } catch (error) {
        debug(`the index cannot be read now: ${String(error)}`)
      }
    }, this.#options.pollEvery ?? POLL_INTERVAL_MS)
  }

  /** Runs one attempt after another. */
  #retryLater(): void {
    const retry = async (): Promise<void> => {
      try {
        await this.#startWatching()
      } catch (error) {
        warnError(error)
        this.#retryLater()
      }
    }
    this.#retry = setTimeout(() => void retry(), this.#options.retryEvery ?? RETRY_INTERVAL_MS)
  }

  async #syncOnce(): Promise<SyncOutcomeItem> {
    if (this.#watch) {
      return toSyncedItem(await this.#watch.sync())
    }
    const outcome = await this.#app.sync({ onProgress: (progress) => this.#progress(progress) })
    if (outcome.kind === 'held')
      return { kind: 'held', by: outcome.by ? `${outcome.by.what} (${outcome.by.pid})` : null }
    return toSyncedItem(outcome.synced)
  }

  async #run(work: () => Promise<SyncOutcomeItem>): Promise<void> {
    this.#set({ status: 'running', id: randomUUID(), started_at: currentInstant(), ended_at: null, progress: null })
    let outcome: SyncOutcomeItem
    try {
      outcome = await work()
      this.problem = null
    } catch (error) {
      if (!(error instanceof AppError)) warnError(error)
      const [code, text] = error instanceof AppError ? [error.code, error.phrase] : [null, SEE_LOG]
      outcome = { kind: 'failed', code, reason: text.en, reason_ja: text.ja }
      this.problem = text
    }
    this.#set({ status: 'idle', ended_at: currentInstant(), outcome })
  }

  #progress(progress: IndexSyncProgress): void {
    const now = performance.now()
    this.#state = { ...this.#state, progress }
    if (now - this.#lastPublished < PROGRESS_INTERVAL_MS) return
    this.#lastPublished = now
    this.#app.events.publish([{ kind: 'sync', state: this.#state }])
  }

  #set(change: Partial<SyncState>): void {
    this.#state = { ...this.#state, ...change }
    this.#app.events.publish([{ kind: 'sync', state: this.#state }])
  }
}

type SyncCounts = Extract<SyncOutcome, { kind: 'synced' }>['synced']

const toSyncedItem = ({ sources, scanned, gone, read }: SyncCounts): SyncOutcomeItem => ({
  kind: 'synced',
  sources,
  scanned,
  gone,
  read,
})

const warnError = (error: unknown): void =>
  warn(error instanceof Error ? (error.stack ?? error.message) : String(error))
