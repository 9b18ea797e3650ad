/**
 * Publish/subscribe for changes of sessions, annotations and sync progress. Sync publishes; pages and commands
 * subscribe.
 */
import type { LiveEvent } from '../model/api/machine.ts'

/** Sent to a subscriber that was too slow. Its events were dropped, and it must reload everything. */
export const MISSED_EVENTS = 'missed'

export interface SubscribeOptions {
  readonly signal?: AbortSignal
  /** Yields `undefined` after this many milliseconds without an event. */
  readonly pause?: number
  /** Maximum number of waiting events before the subscriber gets `MISSED_EVENTS` instead. */
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

  /**
   * Yields events from this call, not from the first `next()`, until the signal aborts. Of several waiting events for
   * one session, only the last is kept.
   */
  subscribe(options: SubscribeOptions = {}): AsyncGenerator<LiveEvent | typeof MISSED_EVENTS | undefined> {
    const subscriber = new Subscriber(options.limit ?? Number.POSITIVE_INFINITY)
    this.#subscribers.add(subscriber)
    options.signal?.addEventListener('abort', () => this.#subscribers.delete(subscriber), { once: true })
    return this.#eventsOf(subscriber, options)
  }

  async *#eventsOf(
    subscriber: Subscriber,
    { signal, pause }: SubscribeOptions,
  ): AsyncGenerator<LiveEvent | typeof MISSED_EVENTS | undefined> {
    signal?.addEventListener('abort', subscriber.wake)
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

  /** Resolves to false on timeout. */
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
