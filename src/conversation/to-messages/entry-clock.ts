/** When things were said. Old conversations tell no times, and answers only what their request recorded. */
import { numberOf } from '../../lib/unknown-values.ts'
import { isInvalidTime } from '../../model/checked-numbers.ts'
import { type Instant, instantFromMs, toInstant } from '../../model/ids.ts'
import type { ParsedEntry } from './parse-entry.ts'

export interface EntryTime {
  readonly at: Instant
  readonly inferred: boolean
  /** The field that held no time. */
  readonly bad?: string
}

const STEP_MS = 1000

/** Times in the order of the entries. Each missing one comes from the request, else a second after the one before. */
export class EntryClock {
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

  input({ user, request }: Pick<ParsedEntry, 'user' | 'request'>): EntryTime {
    const own = toInstant(user['timestamp'])
    const bad = isInvalidTime(user['timestamp'], own) ? 'timestamp' : undefined
    return this.#take(own, own ?? instantIfSet(request?.['request_start_timestamp_ms']), bad)
  }

  answer({ request }: Pick<ParsedEntry, 'request'>): EntryTime {
    const given = request?.['stream_end_timestamp_ms']
    const own = instantIfSet(given)
    return this.#take(own, own, given !== 0 && isInvalidTime(given, own) ? 'stream_end_timestamp_ms' : undefined)
  }

  #take(own: Instant | undefined, known: Instant | undefined, bad: string | undefined): EntryTime {
    const at = known ?? (this.#last === undefined ? this.#firstSeen : oneStepLater(this.#last))
    this.#last = at
    return bad === undefined ? { at, inferred: own === undefined } : { at, inferred: true, bad }
  }
}

/** Zero stands for a time that was never set. */
export function instantIfSet(milliseconds: unknown): Instant | undefined {
  const known = numberOf(milliseconds)
  return known === undefined || known <= 0 ? undefined : instantFromMs(known)
}

/** A last time that was just made is not parsed again. */
function oneStepLater(at: Instant): Instant {
  const ms = (at === cachedInstant ? cachedMs : Date.parse(at)) + STEP_MS
  const next = instantFromMs(ms)
  if (next === undefined) return at
  cachedInstant = next
  cachedMs = ms
  return next
}

let cachedInstant: Instant | undefined
let cachedMs = 0
