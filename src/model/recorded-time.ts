/** Which times of a message its log records. Only these are shown, counted and filtered by. */
import type { Instant } from './ids.ts'
import type { Metadata } from './metadata.ts'

/** Null if the log records no time of the message: `timestamp` is then inferred, and only orders messages. */
export const recordedTime = ({ timestamp, metadata }: TimedMessage): Instant | null =>
  metadata?.timestamp_inferred && metadata.timestamp_basis !== 'request' ? null : (timestamp as Instant)

interface TimedMessage {
  readonly timestamp: string
  readonly metadata?: Metadata
}

/** The least and the greatest recorded time of some records. Null if none has a time. */
export class TimeRange {
  first: Instant | null = null
  last: Instant | null = null

  add(at: Instant | null | undefined): void {
    if (at === null || at === undefined) return
    if (this.first === null || at < this.first) this.first = at
    if (this.last === null || at > this.last) this.last = at
  }
}
