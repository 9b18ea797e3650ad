/** Tells every client of the live stream what happens. A slow one holds one event for each session, and never more than a thousand. */
import type { Change } from '../../app.ts'
import type { LiveEvent, SyncState } from '../../model/api/machine.ts'

/** The client was too slow: what it was to be told is gone, and it must load everything again. */
export const MISSED = 'missed'

const MAX_WAITING = 1000

export class Hub {
  readonly #clients = new Set<Client>()

  get clients(): number {
    return this.#clients.size
  }

  publish(events: readonly LiveEvent[]): void {
    for (const client of this.#clients) client.give(events)
  }

  changed(changes: readonly Change[]): void {
    if (changes.length > 0) this.publish(changes.map(eventOf))
  }

  synced(state: SyncState): void {
    this.publish([{ kind: 'sync', state }])
  }

  /** From now on, until the signal. `undefined` after each pause in which nothing happened. */
  async *events(signal: AbortSignal, pause: number): AsyncGenerator<LiveEvent | typeof MISSED | undefined> {
    const client = new Client()
    const stop = (): void => client.wake()
    signal.addEventListener('abort', stop)
    this.#clients.add(client)
    try {
      while (!signal.aborted) {
        const next = client.take()
        if (next) yield next
        else if (!(await client.wait(pause)) && !signal.aborted) yield undefined
      }
    } finally {
      this.#clients.delete(client)
      signal.removeEventListener('abort', stop)
    }
  }
}

export const eventOf = ({ session, revision, removed }: Change): LiveEvent => ({
  kind: removed ? 'removed' : 'change',
  session,
  revision,
})

class Client {
  readonly #waiting = new Map<string, LiveEvent>()
  #hasMissed = false
  #wake: (() => void) | undefined

  give(events: readonly LiveEvent[]): void {
    for (const event of events) {
      const key = keyOf(event)
      this.#waiting.delete(key)
      this.#waiting.set(key, event)
    }
    if (this.#waiting.size > MAX_WAITING) {
      this.#waiting.clear()
      this.#hasMissed = true
    }
    this.wake()
  }

  take(): LiveEvent | typeof MISSED | undefined {
    if (this.#hasMissed) {
      this.#hasMissed = false
      return MISSED
    }
    const [next] = this.#waiting
    if (!next) return undefined
    this.#waiting.delete(next[0])
    return next[1]
  }

  wake(): void {
    this.#wake?.()
  }

  /** False when nothing came. */
  async wait(milliseconds: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const woken = await new Promise<boolean>((done) => {
      this.#wake = () => done(true)
      timer = setTimeout(() => done(false), milliseconds)
    })
    clearTimeout(timer)
    this.#wake = undefined
    return woken
  }
}

const keyOf = (event: LiveEvent): string =>
  event.kind === 'hello' || event.kind === 'sync'
    ? event.kind
    : `${event.kind === 'mark' ? 'mark' : 'change'} ${event.session}`
