/** Assigns a time to every record, even if the log has none. */
import { isInvalidTime } from '../../model/checked-numbers.ts'
import { type Instant, instantFromMs, toInstant } from '../../model/ids.ts'

export interface RecordTime {
  readonly at: Instant
  readonly inferred: boolean
  /** The source's own value, unchanged. */
  readonly stamp: unknown
  /** The source's own value is not a time. */
  readonly isBad?: true
}

/** Plain JSON, for cursors. */
export interface SavedClock {
  readonly first: number | null
  readonly last: Instant | null
  readonly fallback: number
}

export class RecordClock {
  /** The session's first time, in milliseconds. */
  #first: number | undefined
  #last: Instant | undefined
  /** Last resort: the modification time of the file at the first read. */
  readonly #fallback: number

  constructor(fallback: number, saved?: SavedClock) {
    this.#fallback = saved?.fallback ?? fallback
    this.#first = saved?.first ?? undefined
    this.#last = saved?.last ?? undefined
  }

  /**
   * @param inherits a record without a valid time takes that of the previous record; otherwise one second is added per
   * line
   */
  timeOf(stamp: unknown, line: number, inherits = true): RecordTime {
    const own = stamp === undefined ? undefined : toInstant(stamp)
    if (own !== undefined) {
      this.note(own)
      return { at: own, inferred: false, stamp }
    }
    const at = (inherits ? this.#last : undefined) ?? this.#countedTime(line)
    return isInvalidTime(stamp, own) ? { at, inferred: true, stamp, isBad: true } : { at, inferred: true, stamp }
  }

  /** Notes the time of a record that is not parsed. */
  note(own: Instant): void {
    this.#first ??= Date.parse(own)
    this.#last = own
  }

  #countedTime(line: number): Instant {
    const base = this.#first ?? this.#fallback
    return instantFromMs(base + Math.max(0, line - 1) * 1000) ?? EPOCH
  }

  save(): SavedClock {
    return { first: this.#first ?? null, last: this.#last ?? null, fallback: this.#fallback }
  }
}

export const EPOCH = '1970-01-01T00:00:00.000Z' as Instant
