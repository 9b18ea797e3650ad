/** Gives every record a time, also where the log has none. */
import type { Fields } from '../../../lib/unknown-values.ts'
import { isInvalidTime } from '../../../model/checked-numbers.ts'
import { type Instant, instantFromMs, toInstant } from '../../../model/ids.ts'
import { type CodexRecordShape, isLegacyShape } from '../record/shape.ts'

export interface RecordTime {
  readonly at: Instant
  readonly inferred: boolean
  /** The source's own value, as it stands there. */
  readonly stamp: unknown
  /** The source's own value is no time. */
  readonly isBad?: true
}

export interface SavedClock {
  readonly first: number | null
  readonly last: Instant | null
  readonly fallback: number
}

export class RecordClock {
  /** The session's first time, in milliseconds. */
  #first: number | undefined
  #last: Instant | undefined
  /** When the file was last written: the last resort, fixed at the first reading. */
  readonly #fallback: number

  constructor(fallback: number, saved?: SavedClock) {
    this.#fallback = saved?.fallback ?? fallback
    this.#first = saved?.first ?? undefined
    this.#last = saved?.last ?? undefined
  }

  timeOf(record: Fields, shape: CodexRecordShape, line: number): RecordTime {
    const stamp = recordTimestamp(record, shape)
    const own = stamp === undefined ? undefined : toInstant(stamp)
    if (own !== undefined) {
      this.note(own)
      return { at: own, inferred: false, stamp }
    }
    const at = (isLegacyShape(shape) ? undefined : this.#last) ?? this.#countedTime(line)
    return isInvalidTime(stamp, own) ? { at, inferred: true, stamp, isBad: true } : { at, inferred: true, stamp }
  }

  /** The time of a record that is not looked into. */
  note(own: Instant): void {
    this.#first ??= Date.parse(own)
    this.#last = own
  }

  /** The session's beginning and one second for each line since. */
  #countedTime(line: number): Instant {
    const base = this.#first ?? this.#fallback
    return instantFromMs(base + Math.max(0, line - 1) * 1000) ?? EPOCH
  }

  save(): SavedClock {
    return { first: this.#first ?? null, last: this.#last ?? null, fallback: this.#fallback }
  }
}

/** The source's own time, under whatever name. */
export const recordTimestamp = (record: Fields, shape: CodexRecordShape): unknown =>
  record['timestamp'] ?? (shape === 'prompt' ? record['ts'] : record['created_at'])

const EPOCH = '1970-01-01T00:00:00.000Z' as Instant
