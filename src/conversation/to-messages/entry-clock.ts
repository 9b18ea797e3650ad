/** Times of messages. Old conversations have none, and answers only those of their request. */
import { numberOf } from '../../lib/unknown-values.ts'
import { isInvalidTime } from '../../model/checked-numbers.ts'
import { type Instant, instantFromMs, toInstant } from '../../model/ids.ts'
import type { ParsedEntry } from './parse-entry.ts'

export interface EntryTime {
  readonly at: Instant
  readonly inferred: boolean
  /** The field that contained an invalid time. */
  readonly bad?: string
}

const STEP_MS = 1000

/** Assigns ascending times. A missing one is taken from the request, or is a second after the previous one. */
export class EntryClock {
  #last: Instant | undefined
  readonly #firstSeen: Instant

  /** @param last the last time of an earlier read */
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

/** Zero means that the time was never set. */
export function instantIfSet(milliseconds: unknown): Instant | undefined {
  const known = numberOf(milliseconds)
  return known === undefined || known <= 0 ? undefined : instantFromMs(known)
}

/** Avoids parsing a time that was just formatted. */
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
