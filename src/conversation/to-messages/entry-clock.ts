/** Times of messages. Old conversations have none, and answers only those of their request. */
import { numberOf } from '../../lib/unknown-values.ts'
import { isInvalidTime } from '../../model/checked-numbers.ts'
import { EPOCH, type Instant, instantFromMs, toInstant } from '../../model/ids.ts'
import type { TimestampBasis } from '../../model/metadata.ts'
import type { ParsedEntry } from './parse-entry.ts'

export interface EntryTime {
  readonly at: Instant
  /** Set if the entry has no time of its own. */
  readonly basis?: TimestampBasis
  /** The field that contained an invalid time. */
  readonly bad?: string
}

const STEP_MS = 1000

/** Plain JSON, for cursors. */
export interface SavedEntryClock {
  readonly last: Instant | null
  /** `last` counts from 1970, because no entry had a time. */
  readonly counted: boolean
}

/** Assigns times. A missing one is taken from the request, or is a second after the previous one. */
export class EntryClock {
  #last: Instant | undefined
  #isCounted: boolean
  /** Number of exchanges before the first one of this source, which dropped them. */
  readonly #before: number

  /** @param saved the state after an earlier read */
  constructor(saved?: SavedEntryClock, before = 0) {
    this.#before = before
    this.#last = saved?.last ?? undefined
    this.#isCounted = saved?.counted ?? true
  }

  save(): SavedEntryClock {
    return { last: this.#last ?? null, counted: this.#isCounted }
  }

  input({ user, request }: Pick<ParsedEntry, 'user' | 'request'>): EntryTime {
    const own = toInstant(user['timestamp'])
    const bad = isInvalidTime(user['timestamp'], own) ? 'timestamp' : undefined
    return this.#take(own, instantIfSet(request?.['request_start_timestamp_ms']), bad)
  }

  answer({ request }: Pick<ParsedEntry, 'request'>): EntryTime {
    const given = request?.['stream_end_timestamp_ms']
    const own = instantIfSet(given)
    return this.#take(own, undefined, given !== 0 && isInvalidTime(given, own) ? 'stream_end_timestamp_ms' : undefined)
  }

  #start(): Instant {
    return instantFromMs(this.#before * 2 * STEP_MS) ?? EPOCH
  }

  #take(own: Instant | undefined, requested: Instant | undefined, bad: string | undefined): EntryTime {
    const recorded = own ?? requested
    const at = recorded ?? (this.#last === undefined ? this.#start() : oneStepLater(this.#last))
    if (recorded !== undefined) this.#isCounted = false
    this.#last = at
    if (own !== undefined) return { at }
    const basis = requested !== undefined ? 'request' : this.#isCounted ? 'none' : 'previous'
    return bad === undefined ? { at, basis } : { at, basis, bad }
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
