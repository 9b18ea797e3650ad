/** When things were said. Old conversations tell no times, and answers only what their request recorded. */
import { numberOf } from '../../lib/object.ts'
import { type Instant, instant, instantOf } from '../../model/ids.ts'
import { isRefused } from '../../model/numbers.ts'
import type { Entry } from './entry.ts'

export interface Time {
  readonly at: Instant
  readonly inferred: boolean
  /** The field that held no time. */
  readonly bad?: string
}

const STEP_MS = 1000

/** Times in the order of the entries. Each missing one comes from the request, else a second after the one before. */
export class Clock {
  #last: Instant | undefined
  readonly #firstSeen: Instant

  /** @param last the time at which an earlier reading stopped */
  constructor(firstSeen: Instant, last?: Instant) {
    this.#firstSeen = firstSeen
    this.#last = last
  }

  get last(): Instant | undefined {
    return this.#last
  }

  input({ user, request }: Pick<Entry, 'user' | 'request'>): Time {
    const own = instant(user['timestamp'])
    const bad = isRefused(user['timestamp'], own) ? 'timestamp' : undefined
    return this.#take(own, own ?? momentOf(request?.['request_start_timestamp_ms']), bad)
  }

  answer({ request }: Pick<Entry, 'request'>): Time {
    const given = request?.['stream_end_timestamp_ms']
    const own = momentOf(given)
    return this.#take(own, own, given !== 0 && isRefused(given, own) ? 'stream_end_timestamp_ms' : undefined)
  }

  #take(own: Instant | undefined, known: Instant | undefined, bad: string | undefined): Time {
    const at = known ?? (this.#last === undefined ? this.#firstSeen : later(this.#last))
    this.#last = at
    return bad === undefined ? { at, inferred: own === undefined } : { at, inferred: true, bad }
  }
}

/** Zero stands for a time that was never set. */
export function momentOf(milliseconds: unknown): Instant | undefined {
  const known = numberOf(milliseconds)
  return known === undefined || known <= 0 ? undefined : instantOf(known)
}

/** A last time that was just made is not parsed again. */
function later(at: Instant): Instant {
  const ms = (at === made ? madeMs : Date.parse(at)) + STEP_MS
  const next = instantOf(ms)
  if (next === undefined) return at
  made = next
  madeMs = ms
  return next
}

let made: Instant | undefined
let madeMs = 0
