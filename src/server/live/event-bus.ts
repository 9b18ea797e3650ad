/** Tells every client of the live stream what happens. A slow one holds one event for each session, and never more than a thousand. */
import type { SessionChange } from '../../app.ts'
import type { LiveEvent, SyncState } from '../../model/api/machine.ts'

/** The client was too slow: what it was to be told is gone, and it must load everything again. */
export const MISSED_EVENTS = 'missed'

const MAX_QUEUED_EVENTS = 1000

export class LiveEventBus {
  readonly #clients = new Set<Client>()

  get clients(): number {
    return this.#clients.size
  }

  publish(events: readonly LiveEvent[]): void {
    for (const client of this.#clients) client.enqueue(events)
  }

  publishChanges(changes: readonly SessionChange[]): void {
    if (changes.length > 0) this.publish(changes.map(toLiveEvent))
  }

  publishSync(state: SyncState): void {
    this.publish([{ kind: 'sync', state }])
  }

  /** From now on, until the signal. `undefined` after each pause in which nothing happened. */
  async *events(signal: AbortSignal, pause: number): AsyncGenerator<LiveEvent | typeof MISSED_EVENTS | undefined> {
    const client = new Client()
    const stop = (): void => client.wake()
    signal.addEventListener('abort', stop)
    this.#clients.add(client)
    try {
      while (!signal.aborted) {
        const next = client.dequeue()
        if (next) yield next
        else if (!(await client.wait(pause)) && !signal.aborted) yield undefined
      }
    } finally {
      this.#clients.delete(client)
      signal.removeEventListener('abort', stop)
    }
  }
}

export const toLiveEvent = ({ session, revision, removed }: SessionChange): LiveEvent => ({
  kind: removed ? 'removed' : 'change',
  session,
  revision,
})

class Client {
  readonly #waiting = new Map<string, LiveEvent>()
  #hasMissed = false
  #wake: (() => void) | undefined

  enqueue(events: readonly LiveEvent[]): void {
    for (const event of events) {
      const key = eventKey(event)
      this.#waiting.delete(key)
      this.#waiting.set(key, event)
    }
    if (this.#waiting.size > MAX_QUEUED_EVENTS) {
      this.#waiting.clear()
      this.#hasMissed = true
    }
    this.wake()
  }

  dequeue(): LiveEvent | typeof MISSED_EVENTS | undefined {
    if (this.#hasMissed) {
      this.#hasMissed = false
      return MISSED_EVENTS
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

const eventKey = (event: LiveEvent): string =>
  event.kind === 'hello' || event.kind === 'sync'
    ? event.kind
    : `${event.kind === 'mark' ? 'mark' : 'change'} ${event.session}`
