/** Assigns a time to every record, even if the log has none. */
import { isInvalidTime } from '../../model/checked-numbers.ts'
import { EPOCH, type Instant, instantFromMs, toInstant } from '../../model/ids.ts'
import type { TimestampBasis } from '../../model/metadata.ts'

export interface RecordTime {
  readonly at: Instant
  /** Set if the record has no usable time of its own. */
  readonly basis?: TimestampBasis
  /** The source's own value, unchanged. */
  readonly stamp: unknown
  /** The source's own value is not a time. */
  readonly isBad?: true
}

/** Plain JSON, for cursors. */
export interface SavedClock {
  readonly first: number | null
  readonly last: Instant | null
}

export class RecordClock {
  /** The session's first time, in milliseconds. */
  #first: number | undefined
  #last: Instant | undefined

  constructor(saved?: SavedClock) {
    this.#first = saved?.first ?? undefined
    this.#last = saved?.last ?? undefined
  }

  /** A record without a valid time takes that of the previous record. */
  timeOf(stamp: unknown, line: number): RecordTime {
    const own = this.#ownTime(stamp)
    if (own !== undefined) return { at: own, stamp }
    const time: RecordTime =
      this.#last === undefined
        ? { at: countedTime(line), basis: 'none', stamp }
        : { at: this.#last, basis: 'previous', stamp }
    return isInvalidTime(stamp, own) ? { ...time, isBad: true } : time
  }

  /**
   * A record without a valid time takes the session's first time, or that of the file, plus one second per line: the
   * rule of the specification for old logs.
   */
  timeByLine(stamp: unknown, line: number, modifiedMs: number): RecordTime {
    const own = this.#ownTime(stamp)
    if (own !== undefined) return { at: own, stamp }
    const time: RecordTime =
      this.#first === undefined
        ? { at: countedTime(line, modifiedMs), basis: 'file', stamp }
        : { at: countedTime(line, this.#first), basis: 'session', stamp }
    return isInvalidTime(stamp, own) ? { ...time, isBad: true } : time
  }

  /** Notes the time of a record that is not parsed. */
  note(own: Instant): void {
    this.#first ??= Date.parse(own)
    this.#last = own
  }

  save(): SavedClock {
    return { first: this.#first ?? null, last: this.#last ?? null }
  }

  #ownTime(stamp: unknown): Instant | undefined {
    const own = stamp === undefined ? undefined : toInstant(stamp)
    if (own !== undefined) this.note(own)
    return own
  }
}

/** One second per record after the first. */
export const countedTime = (record: number, fromMs = 0): Instant =>
  instantFromMs(fromMs + Math.max(0, record - 1) * 1000) ?? EPOCH

/** The time in a message's id. The modification time of a file changes, so no id contains it. */
export const timeInId = (at: Instant, basis: TimestampBasis | undefined, line: number): Instant =>
  basis === 'file' ? countedTime(line) : at
