/** Updates the index before an answer, for a bounded time, and says how fresh it is. */
import { join } from 'node:path'
import type { App } from '../app.ts'
import { statOf } from '../lib/files/safe-fs.ts'
import { AppError } from '../model/error.ts'

export interface Freshness {
  /** One sentence for the answer. */
  readonly text: string
}

/** An answer waits this long for an update, and takes what is there. */
const WAIT_MS = 120
/** With no index at all there is nothing to answer from. */
const FIRST_WAIT_MS = 20_000
/** An update is not repeated within this time. */
const PAUSE_MS = 3000

type State =
  | { readonly kind: 'none' }
  | { readonly kind: 'updated'; readonly at: number }
  /** Another process updates the index. */
  | { readonly kind: 'held'; readonly pid: number | undefined; readonly at: number }
  | { readonly kind: 'failed'; readonly reason: string; readonly at: number }

export class IndexFreshness {
  readonly #app: App
  readonly #stop = new AbortController()
  #running: Promise<void> | undefined
  #state: State = { kind: 'none' }
  readonly #waitMs: number

  constructor(app: App, waitMs = WAIT_MS) {
    this.#app = app
    this.#waitMs = waitMs
  }

  async refresh(): Promise<Freshness> {
    const state = this.#state
    if (
      !this.#running &&
      !this.#stop.signal.aborted &&
      (state.kind === 'none' || performance.now() - state.at > PAUSE_MS)
    )
      this.#running = this.#update().finally(() => {
        this.#running = undefined
      })
    const hasIndex = this.#app.index.epoch !== undefined
    if (this.#running) await Promise.race([this.#running, pause(hasIndex ? this.#waitMs : FIRST_WAIT_MS)])
    return { text: this.#describe() }
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #update(): Promise<void> {
    try {
      const outcome = await this.#app.sync({ passes: 'both', signal: this.#stop.signal })
      const at = performance.now()
      this.#state = outcome.kind === 'held' ? { kind: 'held', pid: outcome.by?.pid, at } : { kind: 'updated', at }
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      this.#state = { kind: 'failed', reason: error.message, at: performance.now() }
    }
  }

  #describe(): string {
    if (this.#app.index.epoch === undefined)
      return 'There is no index yet. It is being built; ask again in a minute, or run: fumi sync'
    const { unread } = this.#app.index.extent()
    const missing = unread === 0 ? '' : ` ${unread} sessions are not searchable yet; ask again later.`
    if (this.#running) return `Index of ${this.#changedAt()}, being updated now.${missing}`
    const state = this.#state
    switch (state.kind) {
      case 'held':
        if (state.pid === process.pid) return `Index kept up to date; last change ${this.#changedAt()}.${missing}`
        return `Index kept up to date by another fumi process${state.pid === undefined ? '' : ` (${state.pid})`}; last change ${this.#changedAt()}.${missing}`
      case 'failed':
        return `Index of ${this.#changedAt()}; it could not be updated, so newer messages may be missing.${missing}`
      default:
        return `Index up to date as of ${isoTime(Date.now() - (state.kind === 'updated' ? performance.now() - state.at : 0))}.${missing}`
    }
  }

  #changedAt(): string {
    const times = ['index.sqlite3', 'index.sqlite3-wal'].map(
      (name) => statOf(join(this.#app.directory, name))?.mtimeMs ?? 0,
    )
    return isoTime(Math.max(...times))
  }
}

const isoTime = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`

const pause = (milliseconds: number): Promise<void> =>
  new Promise((done) => {
    setTimeout(done, milliseconds).unref()
  })
