/** Publish/subscribe of what happens: changes of sessions, annotations, progress of a sync. Sync publishes, pages and commands subscribe. */
import type { LiveEvent } from '../model/api/machine.ts'

/** The subscriber was too slow: its events are dropped, and it must load everything again. */
export const MISSED_EVENTS = 'missed'

export interface SubscribeOptions {
  readonly signal?: AbortSignal
  /** After so many milliseconds without an event `undefined` comes. */
  readonly pause?: number
  /** A subscriber with more waiting events gets `MISSED_EVENTS` instead. */
  readonly limit?: number
}

export class EventBus {
  readonly #subscribers = new Set<Subscriber>()

  get subscribers(): number {
    return this.#subscribers.size
  }

  publish(events: readonly LiveEvent[]): void {
    if (events.length > 0) for (const subscriber of this.#subscribers) subscriber.enqueue(events)
  }

  /** From now on, until the signal. Of several waiting events of one session only the last comes. */
  async *subscribe(options: SubscribeOptions = {}): AsyncGenerator<LiveEvent | typeof MISSED_EVENTS | undefined> {
    const { signal, pause, limit = Number.POSITIVE_INFINITY } = options
    const subscriber = new Subscriber(limit)
    signal?.addEventListener('abort', subscriber.wake)
    this.#subscribers.add(subscriber)
    try {
      while (!signal?.aborted) {
        const next = subscriber.dequeue()
        if (next) yield next
        else if (!(await subscriber.wait(pause)) && !signal?.aborted) yield undefined
      }
    } finally {
      this.#subscribers.delete(subscriber)
      signal?.removeEventListener('abort', subscriber.wake)
    }
  }
}

class Subscriber {
  readonly #waiting = new Map<string, LiveEvent>()
  readonly #limit: number
  #hasMissed = false
  #wake: (() => void) | undefined

  constructor(limit: number) {
    this.#limit = limit
  }

  readonly wake = (): void => this.#wake?.()

  enqueue(events: readonly LiveEvent[]): void {
    for (const event of events) {
      const key = eventKey(event)
      this.#waiting.delete(key)
      this.#waiting.set(key, event)
    }
    if (this.#waiting.size > this.#limit) {
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

  /** False when nothing came. */
  async wait(milliseconds: number | undefined): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const woken = await new Promise<boolean>((done) => {
      this.#wake = () => done(true)
      if (milliseconds !== undefined) timer = setTimeout(() => done(false), milliseconds)
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
