/** Times as text. */
import { type Instant, instantFromMs } from '../../model/ids.ts'
import type { MessageTime } from './place.ts'

const MAX_CACHED_TIMES = 4096
const EPOCH = '1970-01-01T00:00:00.000Z' as Instant

/** Files that tell no times need the same few again and again, and making one costs as much as a message. */
export class TimeCache {
  readonly #known = new Map<number, MessageTime>()

  at(milliseconds: number): Instant {
    return this.inferred(milliseconds).at
  }

  /** A time that the file does not tell. */
  inferred(milliseconds: number): MessageTime {
    const known = this.#known.get(milliseconds)
    if (known) return known
    const messageTime = { at: instantFromMs(milliseconds) ?? EPOCH, inferred: true }
    if (this.#known.size < MAX_CACHED_TIMES) this.#known.set(milliseconds, messageTime)
    return messageTime
  }
}
